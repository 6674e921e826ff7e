// Records -> document, for the file (CBOR) and for people (JSON), by one visitor. Entry: RecordWriter.
// Invariant: both forms hold the same fields under the same names; they differ in expressions (an index into
// the table, or text) and in tuples (an array, or an object).
#pragma once
#include <array>
#include <string>
#include <vector>

#include "contract/plan_fields.h"
#include "contract/plan_names.h"
#include "document/writer.h"

namespace ge {

enum class PlanForm : uint8_t { kFile, kJson };

template <PlanForm kForm>
class RecordWriter {
 public:
  explicit RecordWriter(DocumentBuilder& out) : out_(out) {}

  template <class T>
  void operator()(std::string_view name, const T& field, const char*) {
    key(name);
    put(field);
  }
  void index(std::string_view name, uint32_t field, const char*) {
    key(name);
    if (field == kNoIndex)
      out_.null();
    else
      out_.value(int64_t{field});
  }
  void expr(std::string_view name, ExprId field, const char*) {
    key(name);
    put_expr(field);
  }
  template <class List>
  void exprs(std::string_view name, const List& fields, const char*) {
    key(name);
    out_.begin_array();
    for (const ExprId id : fields) put_expr(id);
    out_.end_array();
  }
  void expr_table(std::string_view name, const ExprTable& table, const char*) {
    key(name);
    table_ = &table;
    out_.begin_array();
    for (ExprId id = 0; id < table.size(); ++id) put_table_entry(table, id);
    out_.end_array();
  }
  template <class T>
  void alternative(std::string_view name, StepKind own, StepKind kind, const std::vector<T>& field,
                   const char*) {
    if (own != kind || field.empty()) return;
    key(name);
    put(field[0]);
  }

  template <class T>
  void put(const T& x) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, double> || std::is_same_v<T, std::string>) {
      out_.value(x);
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      out_.value(x);
    } else if constexpr (std::is_integral_v<T>) {
      out_.value(static_cast<int64_t>(x));
    } else if constexpr (std::is_enum_v<T>) {
      out_.value(name_in_plan(x));
    } else {
      put_record(x);
    }
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put_list(list);
  }
  template <class T, size_t N>
  void put(const std::array<T, N>& list) {
    put_list(list);
  }
  void put(const DTypeSet& set) {
    out_.begin_array();
    for (int i = 0; i < kDTypeCount; ++i) {
      if (set.contains(static_cast<DType>(i))) out_.value(name_in_plan(static_cast<DType>(i)));
    }
    out_.end_array();
  }
  // Lists say which type they have, so that an empty one keeps it.
  void put(const Attrs& attrs) {
    out_.begin_object();
    for (const auto& [name, value] : attrs) {
      out_.key(name);
      if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
        out_.begin_object().key("ints").integers(*ints).end_object();
      } else if (const auto* floats = std::get_if<std::vector<double>>(&value)) {
        out_.begin_object().key("floats").begin_array();
        for (const double f : *floats) out_.value(f);
        out_.end_array().end_object();
      } else if (const auto* integer = std::get_if<int64_t>(&value)) {
        out_.value(*integer);
      } else if (const auto* number = std::get_if<double>(&value)) {
        out_.value(*number);
      } else {
        out_.value(std::get<std::string>(value));
      }
    }
    out_.end_object();
  }

 private:
  void key(std::string_view name) {
    if (!in_tuple_) out_.key(name);
  }
  template <class List>
  void put_list(const List& list) {
    out_.begin_array();
    for (const auto& item : list) put(item);
    out_.end_array();
  }
  template <class R>
  void put_record(const R& record) {
    if constexpr (std::is_same_v<R, Program>) {
      names_.clear();
      for (const Symbol& s : record.symbols) names_.push_back(s.name);
    }
    const bool outer = in_tuple_;
    in_tuple_ = kForm == PlanForm::kFile && kIsTuple<R>;
    if (in_tuple_)
      out_.begin_array();
    else
      out_.begin_object();
    visit_fields(*this, record);
    if (in_tuple_)
      out_.end_array();
    else
      out_.end_object();
    in_tuple_ = outer;
  }
  void put_expr(ExprId id) {
    if (id == kNoExpr) {
      out_.null();
    } else if constexpr (kForm == PlanForm::kFile) {
      out_.value(int64_t{id});
    } else {
      put_text(id);
    }
  }
  // A constant is a number, anything else is text.
  void put_text(ExprId id) {
    if (table_ && id < table_->size() && table_->is_constant(id)) {
      out_.value(table_->tokens(id)[0].value);
    } else {
      out_.value(table_ ? table_->to_string(id, names_) : std::string("?"));
    }
  }
  void put_table_entry(const ExprTable& table, ExprId id) {
    if constexpr (kForm == PlanForm::kJson) {
      put_text(id);
    } else {
      out_.begin_array();
      for (const ExprToken& token : table.tokens(id)) {
        out_.value(static_cast<int64_t>(token.op));
        if (token.op <= ExprOp::kSymbol) out_.value(token.value);
      }
      out_.end_array();
    }
  }

  DocumentBuilder& out_;
  const ExprTable* table_ = nullptr;
  std::vector<std::string> names_;
  bool in_tuple_ = false;
};

}  // namespace ge

// Program section -> records, by the field visitor over the document tree. Keys stand in the order of
// plan_fields.h, each exactly once; anything else is refused with the path of the record.
#include <concepts>
#include <limits>
#include <utility>

#include "contract/plan_fields.h"
#include "contract/plan_names.h"
#include "contract/plan_read.h"
#include "document/tree.h"

namespace ge {
namespace {

constexpr DocumentLimits kProgramLimits{
    .max_depth = 24, .max_nodes = 100 << 20, .max_bytes = static_cast<int64_t>(kMaxProgramBytes)};

// With `keeps` false nothing is kept of lists, so that it only says whether every record has its shape: a
// record takes far more memory than its bytes.
class RecordReader {
 public:
  explicit RecordReader(bool keeps) : keeps_(keeps) {}
  bool ok() const { return status_.ok(); }
  Status take() { return std::move(status_); }

  template <class T>
  void operator()(std::string_view name, T& field, const char*) {
    if (const auto value = next(name)) get(*value, field);
  }
  void index(std::string_view name, uint32_t& field, const char*) {
    if (const auto value = next(name)) get_index(*value, field, kNoIndex);
  }
  void expr(std::string_view name, ExprId& field, const char*) {
    if (const auto value = next(name)) get_expr(*value, field);
  }
  void exprs(std::string_view name, std::vector<ExprId>& fields, const char*) {
    const auto value = next(name);
    if (!value || !is_array(*value)) return;
    if (keeps_) fields.reserve(static_cast<size_t>(value->size()));
    for (const Value item : *value) {
      ExprId field{};
      get_expr(item, field);
      if (keeps_) fields.push_back(field);
    }
  }
  template <size_t N>
  void exprs(std::string_view name, std::array<ExprId, N>& fields, const char*) {
    const auto value = next(name);
    if (!value || !is_array(*value) || !has_size(*value, N)) return;
    size_t i = 0;
    for (const Value item : *value) get_expr(item, fields[i++]);
  }
  void expr_table(std::string_view name, ExprTable& table, const char*) {
    const auto value = next(name);
    if (!value || !is_array(*value)) return;
    for (const Value item : *value) {
      get_table_entry(item, table);
      if (!ok()) return;
    }
  }
  template <class T>
  void alternative(std::string_view name, StepKind own, StepKind& kind, std::vector<T>& field, const char*) {
    if (!ok() || at_->next == at_->end || !(*at_->next).key_is(name)) return;
    kind = own;
    const Value value = *at_->next;
    ++at_->next;
    get_one(value, field);
  }

  template <class T>
  void get(Value value, T& field) {
    if constexpr (std::is_same_v<T, bool>) {
      store(value, value.as_bool(), field, "a boolean");
    } else if constexpr (std::is_same_v<T, double>) {
      store(value, value.as_double(), field, "a number");
    } else if constexpr (std::is_same_v<T, std::string>) {
      store(value, value.as_string(), field, "a string");
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      store(value, value.as_uint64(), field, "an integer from 0 up");
    } else if constexpr (std::is_integral_v<T>) {
      const auto number = value.as_int64();
      if (!number || !std::in_range<T>(*number)) return refuse(value, "it is no integer of the right size");
      field = static_cast<T>(*number);
    } else if constexpr (std::is_enum_v<T>) {
      const auto name = value.as_string();
      const auto found = name ? value_from_name<T>(*name) : std::nullopt;
      if (!found) return refuse(value, "unknown name " + value.describe());
      field = *found;
    } else {
      get_record(value, field);
    }
  }
  template <class T>
  void get(Value value, std::vector<T>& list) {
    if (!is_array(value)) return;
    if (keeps_) list.reserve(static_cast<size_t>(value.size()));
    for (const Value item : value) {
      get_one(item, list);
      if (!ok()) return;
    }
  }
  template <class T, size_t N>
  void get(Value value, std::array<T, N>& list) {
    if (!is_array(value) || !has_size(value, N)) return;
    size_t i = 0;
    for (const Value item : value) get(item, list[i++]);
  }
  void get(Value value, DTypeSet& set) {
    if (!is_array(value)) return;
    int last = -1;
    for (const Value item : value) {
      DType dtype{};
      get(item, dtype);
      if (!ok()) return;
      if (static_cast<int>(dtype) <= last) return refuse(item, "dtypes are not in order");
      last = static_cast<int>(dtype);
      set = set | DTypeSet{dtype};
    }
  }
  void get(Value value, Attrs& attrs) {
    if (!value.is_object()) return refuse(value, "an object is needed");
    if (keeps_) attrs.reserve(static_cast<size_t>(value.size()));
    for (const Value item : value) {
      AttrValue attr;
      get_attr(item, attr);
      if (!ok()) return;
      if (keeps_) attrs.emplace_back(item.key(), std::move(attr));
    }
  }

 private:
  struct Cursor {  // in the record being read
    Value record;
    Value::Iterator next, end;
    bool tuple;
  };

  void refuse(Value value, std::string why) {
    if (ok()) status_ = fail(Code::plan_malformed).in("/program" + value.pointer()).because(std::move(why));
  }
  template <class Found, class T>
  void store(Value value, const Found& found, T& field, const char* needed) {
    if (!found) return refuse(value, std::string(needed) + " is needed, found " + value.describe());
    field = T(*found);
  }
  bool is_array(Value value) {
    if (!value.is_array()) refuse(value, "an array is needed, found " + value.describe());
    return ok();
  }
  bool has_size(Value value, size_t size) {
    if (static_cast<size_t>(value.size()) != size)
      refuse(value, "an array of " + std::to_string(size) + " is needed");
    return ok();
  }

  template <class T>
  void get_one(Value item, std::vector<T>& list) {
    if (keeps_) return get(item, list.emplace_back());
    T dropped{};
    get(item, dropped);
  }

  // The next member of the record being read; it must be `name`.
  std::optional<Value> next(std::string_view name) {
    if (!ok()) return std::nullopt;
    if (at_->next == at_->end || (!at_->tuple && !(*at_->next).key_is(name))) {
      const bool later = !at_->tuple && at_->record.find(name).has_value();
      refuse(at_->record, (later ? "key out of order, or an unknown one before it: \"" : "missing: \"") +
                              std::string(name) + "\"");
      return std::nullopt;
    }
    const Value value = *at_->next;
    ++at_->next;
    return value;
  }
  template <class R>
  void get_record(Value value, R& record) {
    const bool tuple = kIsTuple<R>;
    if (tuple ? !value.is_array() : !value.is_object()) {
      return refuse(value,
                    std::string(tuple ? "an array" : "an object") + " is needed, found " + value.describe());
    }
    Cursor cursor{value, value.begin(), value.end(), tuple};
    Cursor* const outer = std::exchange(at_, &cursor);
    if constexpr (std::is_same_v<R, Program>) expr_count_ = symbol_count_ = 0;
    visit_fields(*this, record);
    at_ = outer;
    if (!ok()) return;
    if (kIsAlternative<R> && !(cursor.next != value.begin()))
      return refuse(value, "it is none of the known kinds");
    if (cursor.next == cursor.end) return;
    const Value rest = *cursor.next;
    refuse(rest,
           tuple ? std::string("one value too many") : "unknown key \"" + std::string(rest.key()) + "\"");
  }
  void get_index(Value value, uint32_t& field, uint32_t none) {
    if (value.is_null()) {
      field = none;
      return;
    }
    get(value, field);
    if (ok() && field == none) refuse(value, "it is no integer of the right size");
  }
  void get_expr(Value value, ExprId& field) {
    get_index(value, field, kNoExpr);
    if (ok() && field != kNoExpr && field >= expr_count_) refuse(value, "no such expression");
  }
  // A flat list: an operator's number, followed by a value for constants and symbols.
  void get_table_entry(Value value, ExprTable& table) {
    if (!is_array(value)) return;
    tokens_.clear();
    bool wants_value = false;
    for (const Value item : value) {
      const auto number = item.as_int64();
      if (!number) return refuse(item, "an integer is needed");
      if (wants_value) {
        tokens_.back().value = *number;
        wants_value = false;
        continue;
      }
      if (*number < 0 || *number > static_cast<int64_t>(ExprOp::kMax))
        return refuse(item, "unknown operator");
      if (tokens_.size() > kMaxExprTokens) break;  // check() refuses so many
      tokens_.push_back({static_cast<ExprOp>(*number), 0});
      wants_value = tokens_.back().op <= ExprOp::kSymbol;
    }
    if (wants_value) return refuse(value, "a constant or symbol lacks its value");
    const Status well_formed = ExprTable::check(tokens_, symbol_count_);
    if (!well_formed.ok()) return refuse(value, well_formed.error().first().found);
    if (keeps_ && table.add(tokens_) != expr_count_) refuse(value, "the same expression stands twice");
    ++expr_count_;
  }
  void get_attr(Value value, AttrValue& attr) {
    if (value.is_integer()) {
      get(value, attr.emplace<int64_t>());
    } else if (value.is_number()) {
      get(value, attr.emplace<double>());
    } else if (value.is_string()) {
      get(value, attr.emplace<std::string>());
    } else if (value.is_object() && value.size() == 1 && (*value.begin()).key_is("ints")) {
      get(*value.begin(), attr.emplace<std::vector<int64_t>>());
    } else if (value.is_object() && value.size() == 1 && (*value.begin()).key_is("floats")) {
      get(*value.begin(), attr.emplace<std::vector<double>>());
    } else {
      refuse(value, "no attribute has such a value");
    }
  }
  // Symbols stand before the expression table: it needs their number.
  void get(Value value, std::vector<Symbol>& symbols) {
    if (!is_array(value)) return;
    symbol_count_ = static_cast<size_t>(value.size());
    for (const Value item : value) {
      get_one(item, symbols);
      if (!ok()) return;
    }
  }

  bool keeps_;
  Status status_;
  Cursor* at_ = nullptr;
  size_t symbol_count_ = 0, expr_count_ = 0;
  std::vector<ExprToken> tokens_;
};

}  // namespace

Result<Plan> decode_program(ByteSpan cbor) {
  auto document = parse_cbor(cbor, "program section", kProgramLimits);
  if (!document.ok()) {
    if (document.error().kind() == ErrorKind::kEnvironment) return std::move(document).take_error();
    const Diagnostic& why = document.error().first();
    return fail(Code::plan_malformed)
        .in(why.path.empty() ? "/program" : why.path)
        .because(why.message + (why.found.empty() ? "" : ": " + why.found));
  }
  Plan plan;
  for (const bool keeps : {false, true}) {
    plan = Plan();
    RecordReader reader(keeps);
    reader.get(document->root(), plan);
    if (!reader.ok()) return std::move(reader.take()).take_error();
  }
  return plan;
}

}  // namespace ge

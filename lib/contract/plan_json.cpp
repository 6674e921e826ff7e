// JSON form and its schema. The schema visitor walks default records: types decide, contents do not matter.
#include "contract/plan_json.h"

#include <functional>
#include <set>

#include "contract/plan_document.h"

namespace ge {
namespace {

template <class T>
struct RecordName;
#define GE_RECORD(Type, name)                  \
  template <>                                  \
  struct RecordName<Type> {                    \
    static constexpr const char* kName = name; \
  }
GE_RECORD(Predicate, "predicate");
GE_RECORD(Blob, "blob");
GE_RECORD(TensorRef, "tensor_ref");
GE_RECORD(Buffer, "buffer");
GE_RECORD(Slot, "slot");
GE_RECORD(Image, "image");
GE_RECORD(OperandDesc, "operand_desc");
GE_RECORD(AttrDesc, "attr_desc");
GE_RECORD(ArgDesc, "arg_desc");
GE_RECORD(Requirement, "requirement");
GE_RECORD(KernelLimits, "kernel_limits");
GE_RECORD(KernelDesc, "kernel_desc");
GE_RECORD(KernelRef, "kernel_ref");
GE_RECORD(Choice, "choice");
GE_RECORD(Shadow, "shadow");
GE_RECORD(Launch, "launch");
GE_RECORD(Copy, "copy");
GE_RECORD(Fill, "fill");
GE_RECORD(ReadDims, "read_dims");
GE_RECORD(If, "if");
GE_RECORD(Loop, "loop");
GE_RECORD(Step, "step");
GE_RECORD(Block, "block");
GE_RECORD(Symbol, "symbol");
GE_RECORD(Assertion, "assertion");
GE_RECORD(PortHint, "port_hint");
GE_RECORD(Port, "port");
GE_RECORD(Signature, "signature");
GE_RECORD(Program, "program");
GE_RECORD(Plan, "plan");
#undef GE_RECORD

class SchemaWriter {
 public:
  explicit SchemaWriter(DocumentBuilder& out) : out_(out) {}

  // ---- visitor ----
  template <class T>
  void operator()(std::string_view name, const T& field, const char* text) {
    property(name, text, [&] { type(field); });
  }
  void index(std::string_view name, uint32_t, const char* text) {
    property(name, text, [&] {
      types({"integer", "null"});
      out_.member("minimum", 0);
    });
  }
  void expr(std::string_view name, ExprId, const char* text) {
    property(name, text, [&] { expression(); });
  }
  template <class List>
  void exprs(std::string_view name, const List& list, const char* text) {
    property(name, text, [&] { array(list, [&] { expression(); }); });
  }
  void expr_table(std::string_view name, const ExprTable&, const char* text) {
    property(name, text, [&] { array(std::vector<ExprId>(), [&] { expression(); }); });
  }
  template <class T>
  void alternative(std::string_view name, StepKind, StepKind, const std::vector<T>&, const char* text) {
    out_.begin_object().member("type", "object").key("properties").begin_object();
    property(name, text, [&] { type(T()); });
    out_.end_object()
        .key("required")
        .begin_array()
        .value(name)
        .end_array()
        .member("additionalProperties", false)
        .end_object();
  }

  // ---- definitions ----
  // Writes "$defs" of `root` and of all that it refers to.
  template <class R>
  void definitions(const R& root) {
    out_.key("$defs").begin_object();
    refer(root);
    for (size_t i = 0; i < pending_.size(); ++i) pending_[i]();
    out_.end_object();
  }
  template <class R>
  const char* refer(const R&) {
    const char* name = RecordName<R>::kName;
    if (seen_.insert(name).second) pending_.push_back([this, name] { define<R>(name); });
    return name;
  }

 private:
  template <class R>
  void define(const char* name) {
    const R record{};
    out_.key(name).begin_object();
    if constexpr (kIsAlternative<R>) {
      out_.key("oneOf").begin_array();
      visit_fields(*this, record);
      out_.end_array();
    } else {
      required_.clear();
      out_.member("type", "object").key("properties").begin_object();
      visit_fields(*this, record);
      out_.end_object().key("required").begin_array();
      for (const std::string& key : required_) out_.value(key);
      out_.end_array().member("additionalProperties", false);
    }
    out_.end_object();
  }
  template <class F>
  void property(std::string_view name, const char* text, F&& body) {
    out_.key(name).begin_object().member("description", text);
    body();
    out_.end_object();
    required_.emplace_back(name);
  }
  void types(std::initializer_list<const char*> names) {
    out_.key("type").begin_array();
    for (const char* name : names) out_.value(name);
    out_.end_array();
  }
  void expression() { types({"integer", "string", "null"}); }
  template <class T, class F>
  void array(const std::vector<T>&, F&& item) {
    out_.member("type", "array").key("items").begin_object();
    item();
    out_.end_object();
  }
  template <class T, size_t N, class F>
  void array(const std::array<T, N>&, F&& item) {
    array(std::vector<T>(), item);
    out_.member("minItems", static_cast<int>(N)).member("maxItems", static_cast<int>(N));
  }
  template <class E>
  void names() {
    out_.key("enum").begin_array();
    for (const std::string_view name : enum_names<E>()) out_.value(name);
    out_.end_array();
  }

  template <class T>
  void type(const T& field) {
    if constexpr (std::is_same_v<T, bool>) {
      out_.member("type", "boolean");
    } else if constexpr (std::is_same_v<T, double>) {
      out_.member("type", "number");
    } else if constexpr (std::is_same_v<T, std::string>) {
      out_.member("type", "string");
    } else if constexpr (std::is_integral_v<T>) {
      out_.member("type", "integer");
      if (std::is_unsigned_v<T>) out_.member("minimum", 0);
    } else if constexpr (std::is_enum_v<T>) {
      names<T>();
    } else {
      out_.member("$ref", std::string("#/$defs/") + refer(field));
    }
  }
  template <class T>
  void type(const std::vector<T>& list) {
    array(list, [&] { type(T()); });
  }
  template <class T, size_t N>
  void type(const std::array<T, N>& list) {
    array(list, [&] { type(T()); });
  }
  void type(const DTypeSet&) {
    array(std::vector<DType>(), [&] { names<DType>(); });
  }
  void type(const Attrs&) {
    const auto list = [&](const char* key, std::initializer_list<const char*> item) {
      out_.begin_object().member("type", "object").key("properties").begin_object().key(key).begin_object();
      array(std::vector<int>(), [&] { types(item); });
      out_.end_object().end_object().key("required").begin_array().value(key).end_array();
      out_.member("additionalProperties", false).end_object();
    };
    out_.member("type", "object").key("additionalProperties").begin_object().key("anyOf").begin_array();
    out_.begin_object();
    types({"number", "string"});
    out_.end_object();
    list("ints", {"integer"});
    list("floats", {"number", "string"});
    out_.end_array().end_object();
  }

  DocumentBuilder& out_;
  std::vector<std::function<void()>> pending_;
  std::set<std::string> seen_;
  std::vector<std::string> required_;
};

void simple(DocumentBuilder& b, const char* name, const char* type, const char* text) {
  b.key(name).begin_object().member("description", text).member("type", type).end_object();
}
void required(DocumentBuilder& b, std::initializer_list<const char*> names) {
  b.key("required").begin_array();
  for (const char* name : names) b.value(name);
  b.end_array().member("additionalProperties", false);
}

void sections_schema(DocumentBuilder& b) {
  b.key("sections")
      .begin_object()
      .member("description", "the file's parts in order; they tile it")
      .member("type", "array");
  b.key("items").begin_object().member("type", "object").key("properties").begin_object();
  b.key("name").begin_object().key("enum").begin_array();
  for (size_t i = 0; i < kSectionCount; ++i) b.value(name_of(static_cast<SectionKind>(i)));
  b.end_array().end_object();
  simple(b, "offset", "integer", "from the start of the file");
  simple(b, "size_bytes", "integer", "length");
  simple(b, "alignment", "integer", "its offset is a multiple of this");
  b.end_object();
  required(b, {"name", "offset", "size_bytes", "alignment"});
  b.end_object().end_object();
}

std::string hex(uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(value >> shift) & 15];
  return text;
}

}  // namespace

std::string plan_json(const PlanFile& file) {
  DocumentBuilder b;
  b.begin_object()
      .member("format", static_cast<int64_t>(file.header.format))
      .member("hash", hex(file.header.hash));
  b.member("size_bytes", file.header.file_size_bytes).key("sections").begin_array();
  for (const Section& s : file.header.sections) {
    b.begin_object()
        .member("name", name_of(s.kind))
        .member("offset", s.offset)
        .member("size_bytes", s.size_bytes);
    b.member("alignment", static_cast<int64_t>(s.alignment)).end_object();
  }
  b.end_array().key("plan");
  RecordWriter<PlanForm::kJson>(b).put(file.plan);
  b.end_object();
  return to_json(std::move(b).finish("plan"), 2) + "\n";
}

std::string plan_schema() {
  DocumentBuilder b;
  b.begin_object().member("$schema", "https://json-schema.org/draft/2020-12/schema");
  b.member("title", "ge plan")
      .member("description",
              "What ge-inspect --json prints: a plan's sections and records. Expressions over dims are "
              "numbers or text.");
  b.member("type", "object").key("properties").begin_object();
  b.key("format")
      .begin_object()
      .member("description", "number of the file format")
      .member("const", static_cast<int64_t>(kPlanFormat))
      .end_object();
  simple(b, "hash", "string", "checksum of the header, which holds those of the sections: names the plan");
  simple(b, "size_bytes", "integer", "length of the file");
  sections_schema(b);
  SchemaWriter schema(b);
  b.key("plan")
      .begin_object()
      .member("$ref", std::string("#/$defs/") + schema.refer(Plan()))
      .end_object()
      .end_object();
  required(b, {"format", "hash", "size_bytes", "sections", "plan"});
  schema.definitions(Plan());
  b.end_object();
  return to_json(std::move(b).finish("schema"), 2) + "\n";
}

}  // namespace ge

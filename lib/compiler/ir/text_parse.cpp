// IR text to graphs. Entry: parse_ir. The grammar stands in text.h. The first fault ends the parse; it has
// line and column. Values may be used before the line that defines them; then the user's line must state its
// types.
#include <algorithm>
#include <cctype>
#include <map>

#include "compiler/ir/infer.h"
#include "compiler/ir/op_info.h"
#include "compiler/ir/text.h"
#include "compiler/ir/text_cursor.h"
#include "compiler/ir/text_literals.h"
#include "numeric/convert.h"

namespace ge {

namespace {
constexpr int kMaxNestedGraphs = 16;
constexpr int64_t kMaxParsedElements = int64_t{1} << 24;

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : cursor_(text, file) {}

  Result<Graph> parse() {
    Graph g = graph();
    if (cursor_.ok() && !cursor_.at_end()) cursor_.expected("the end of the text");
    if (!cursor_.ok()) return cursor_.error();
    return g;
  }

 private:
  struct Waiting {  // an operand whose definition comes later
    NodeId node;
    uint32_t operand;
    std::string name;
    size_t place;
  };
  struct Scope {
    std::map<std::string, ValueId> values;
    std::vector<Waiting> waiting;
    std::vector<std::pair<std::string, size_t>> outputs;  // name and place, in order
  };

  Graph graph() {
    Graph g;
    cursor_.expect_word("graph");
    if (cursor_.take("@")) g.name = name();
    Scope scope;
    parameters(g, scope);
    if (cursor_.take_word("symbols")) symbols(g);
    block(g, scope);
    return g;
  }

  std::string name() {
    if (cursor_.peek() == '"') return cursor_.string();
    return std::string(cursor_.word(starts_ir_name, continues_ir_name, "a name"));
  }

  // After "%": "name", or the key "#3" of a nameless value, whose number no model name can collide with.
  std::string value_key() {
    cursor_.expect("%");
    if (std::isdigit(static_cast<unsigned char>(cursor_.peek()))) {
      return "#" + std::string(cursor_.word([](char c) { return c >= '0' && c <= '9'; },
                                            [](char c) { return c >= '0' && c <= '9'; }, "a number"));
    }
    return "%" + name();
  }
  static std::string name_of_key(const std::string& key) { return key[0] == '%' ? key.substr(1) : ""; }

  void define(Graph& g, Scope& scope, const std::string& key, ValueId v, size_t place) {
    if (!cursor_.ok()) return;
    if (!scope.values.emplace(key, v).second) {
      return cursor_.fault(place, "value %" + key.substr(1) + " is defined twice");
    }
    g.value(v).name = name_of_key(key);
  }

  void parameters(Graph& g, Scope& scope) {
    cursor_.expect("(");
    while (cursor_.ok() && cursor_.peek() != ')') {
      const size_t place = cursor_.place();
      const std::string key = value_key();
      cursor_.expect(":");
      Type t = type();
      if (!cursor_.ok()) return;
      define(g, scope, key, g.add_input("", std::move(t)), place);
      if (!cursor_.take(",")) break;
    }
    cursor_.expect(")");
  }

  void symbols(Graph& g) {
    cursor_.expect("(");
    while (cursor_.ok() && cursor_.peek() != ')') {
      const size_t place = cursor_.place();
      const Dim d = dim(" ,)");
      const auto names = d.symbols();
      if (cursor_.ok() && (names.size() != 1 || !(Dim::symbol(names[0]) == d)))
        return cursor_.fault(place, "a symbol's name is expected");
      if (!cursor_.ok()) return;
      SymbolRange range;
      if (cursor_.peek() != ',' && cursor_.peek() != ')' && !cursor_.looking_at("opt")) {
        range.min = cursor_.integer();
        cursor_.expect("..");
        if (std::isdigit(static_cast<unsigned char>(cursor_.peek()))) range.max = cursor_.integer();
      }
      if (cursor_.take_word("opt")) range.opt = cursor_.integer();
      if (cursor_.ok() && (range.min < 0 || range.max < range.min))
        return cursor_.fault(place, "the range is empty or below 0");
      g.symbols[names[0]] = range;
      if (!cursor_.take(",")) break;
    }
    cursor_.expect(")");
  }

  // A dim expression ends at one of `ends` outside parentheses and quotes.
  Dim dim(std::string_view ends) {
    const size_t place = cursor_.skip_space();
    const auto parsed = Dim::parse(cursor_.until(ends));
    if (!cursor_.ok()) return 0;
    if (!parsed.ok()) {
      cursor_.fault(place, parsed.error().first().found);
      return 0;
    }
    return *parsed;
  }

  Dims dim_list() {
    Dims dims;
    cursor_.expect("[");
    while (cursor_.ok() && cursor_.peek() != ']') {
      dims.push_back(dim(",]"));
      if (!cursor_.take(",")) break;
    }
    cursor_.expect("]");
    return dims;
  }

  DType dtype() {
    const size_t place = cursor_.skip_space();
    const std::string_view word = cursor_.word(isalpha_, isalnum_, "an element type");
    if (!cursor_.ok()) return DType::float32;
    const auto t = dtype_from_name(word);
    if (!t) cursor_.fault(place, "\"" + std::string(word) + "\" is no element type");
    return t.value_or(DType::float32);
  }
  static bool isalpha_(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
  static bool isalnum_(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

  Type type() {
    const DType t = dtype();
    return {t, dim_list()};
  }

  void block(Graph& g, Scope& scope) {
    cursor_.expect("{");
    while (cursor_.ok() && !cursor_.looking_at("return")) {
      if (cursor_.looking_at("assert")) {
        assertion(g);
      } else {
        node(g, scope);
      }
    }
    cursor_.expect_word("return");
    if (cursor_.ok() && cursor_.peek() == '%') {
      do {
        const size_t place = cursor_.skip_space();
        const std::string key = value_key();
        const std::string label = cursor_.take_word("as") ? cursor_.string() : "";
        const ValueId v = resolve(scope, key, place);
        if (!cursor_.ok()) return;
        g.add_output(v, label);
      } while (cursor_.take(","));
    }
    cursor_.expect("}");
    for (const Waiting& w : scope.waiting) {
      const ValueId v = resolve(scope, w.name, w.place);
      if (!cursor_.ok()) return;
      g.set_operand(w.node, w.operand, v);
    }
    for (const NodeId id : g.order()) set_contents(g, g.node(id));
  }

  // Types that the text states may be wrong (verify says so later): contents are only for nodes whose types
  // are right.
  static void set_contents(Graph& g, const Node& n) {
    if (n.op == Op::onnx || n.results.size() != 1) return;
    std::vector<Graph::Assertion> ignored;
    const auto types = infer_node(g, n, &ignored);
    if (types.ok() && types->size() == 1 && (*types)[0] == g.type(n.results[0])) {
      g.value(n.results[0]).contents = infer_contents(g, n);
    }
  }

  ValueId resolve(Scope& scope, const std::string& key, size_t place) {
    if (!cursor_.ok()) return kNone;
    const auto it = scope.values.find(key);
    if (it != scope.values.end()) return it->second;
    std::vector<std::string> names;
    for (const auto& [known, v] : scope.values) names.push_back("%" + known.substr(1));
    const std::string close = nearest("%" + key.substr(1), names);
    cursor_.fault(place, "value %" + key.substr(1) + " is not defined" +
                             (close.empty() ? "" : "; the nearest is " + close));
    return kNone;
  }

  void assertion(Graph& g) {
    cursor_.expect_word("assert");
    Graph::Assertion a;
    a.lhs = dim("=");
    cursor_.expect("==");
    a.rhs = dim("\"");
    a.message = cursor_.string();
    const auto sources = cursor_.trailing_sources();
    if (!sources.empty()) a.source.path = sources[0];
    if (cursor_.ok()) g.assertions.push_back(std::move(a));
  }

  struct Head {
    std::vector<std::pair<std::string, size_t>> results;
    Op op = Op::onnx;
    std::unique_ptr<OnnxName> onnx;
    size_t place = 0;
  };

  Head head() {
    Head h;
    do {
      const size_t place = cursor_.skip_space();
      h.results.emplace_back(value_key(), place);
    } while (cursor_.take(","));
    cursor_.expect("=");
    h.place = cursor_.skip_space();
    const std::string word(cursor_.word(isalpha_, isalnum_, "an op"));
    if (!cursor_.ok()) return h;
    const auto op = op_from_name(word);
    if (!op) {
      std::vector<std::string> names;
      for (const Op o : core_ops()) names.emplace_back(name_of(o));
      const std::string close = nearest(word, names);
      cursor_.fault(h.place,
                    "\"" + word + "\" is no op" + (close.empty() ? "" : "; the nearest is " + close));
      return h;
    }
    h.op = *op;
    if (h.op == Op::onnx) h.onnx = onnx_name();
    return h;
  }

  std::unique_ptr<OnnxName> onnx_name() {
    auto onnx = std::make_unique<OnnxName>();
    const auto part = [&] {
      return cursor_.peek() == '"' ? cursor_.string()
                                   : std::string(cursor_.word(isalpha_, isalnum_, "an operator"));
    };
    cursor_.expect(".");
    onnx->type = part();
    if (cursor_.take(".")) onnx->domain = std::exchange(onnx->type, part());
    cursor_.expect("@");
    onnx->version = static_cast<int32_t>(cursor_.integer());
    return onnx;
  }

  void node(Graph& g, Scope& scope) {
    const size_t line_place = cursor_.skip_space();
    if (cursor_.peek() != '%') return cursor_.expected("a node, assert or return");
    Head h = head();
    if (!cursor_.ok()) return;
    Node parts;
    if (h.op == Op::constant) {
      parts.data = std::make_unique<TensorData>(tensor());
    } else {
      operands(scope, parts);
      if (cursor_.peek() == '{') attributes(h.op, parts.attrs);
    }
    std::vector<Type> types = result_types(g, h, parts);
    if (cursor_.take_word("body")) parts.body = std::make_unique<Graph>(body());
    const auto paths = cursor_.trailing_sources();
    if (!cursor_.ok()) return;
    if (types.empty() && !infer(g, h, parts, types)) return;
    if (types.size() != h.results.size()) {
      return cursor_.fault(line_place, "found " + std::to_string(h.results.size()) + " results and " +
                                           std::to_string(types.size()) + " types");
    }
    finish(g, scope, h, parts, std::move(types), paths);
  }

  void finish(Graph& g, Scope& scope, Head& h, Node& parts, std::vector<Type> types,
              const std::vector<std::string>& paths) {
    std::vector<Source> sources;
    for (const std::string& path : paths) sources.push_back({path, "", ""});
    const NodeId id = g.add_node(h.op, std::move(parts.operands), std::move(types), std::move(parts.attrs),
                                 std::move(sources));
    Node& n = g.node(id);
    n.onnx = std::move(h.onnx);
    n.data = std::move(parts.data);
    n.body = std::move(parts.body);
    for (size_t i = 0; i < h.results.size(); ++i)
      define(g, scope, h.results[i].first, n.results[i], h.results[i].second);
    for (Waiting& w : pending_) {
      w.node = id;
      scope.waiting.push_back(std::move(w));
    }
    pending_.clear();
  }

  void operands(const Scope& scope, Node& parts) {
    cursor_.expect("(");
    while (cursor_.ok() && cursor_.peek() != ')') {
      const size_t place = cursor_.skip_space();
      if (cursor_.take("_")) {
        parts.operands.push_back(kNone);
      } else {
        const std::string key = value_key();
        const auto it = scope.values.find(key);
        if (it == scope.values.end())
          pending_.push_back({0, static_cast<uint32_t>(parts.operands.size()), key, place});
        parts.operands.push_back(it == scope.values.end() ? kNone : it->second);
      }
      if (!cursor_.take(",")) break;
    }
    cursor_.expect(")");
  }

  std::vector<Type> result_types(const Graph&, const Head& h, const Node& parts) {
    std::vector<Type> types;
    if (h.op == Op::constant && parts.data && cursor_.ok()) {
      types.push_back({parts.data->dtype, Dims(parts.data->dims.begin(), parts.data->dims.end())});
    } else if (cursor_.take(":")) {
      do {
        types.push_back(type());
      } while (cursor_.ok() && cursor_.take(","));
    }
    return types;
  }

  bool infer(Graph& g, const Head& h, const Node& parts, std::vector<Type>& types) {
    if (h.op == Op::onnx) {
      cursor_.fault(h.place, "an onnx node must state its types");
      return false;
    }
    if (!pending_.empty()) {
      cursor_.fault(pending_[0].place,
                    "value %" + pending_[0].name.substr(1) +
                        " is not defined before this line, which must then state its types");
      return false;
    }
    std::vector<const Type*> operand_types;
    for (const ValueId v : parts.operands) operand_types.push_back(v == kNone ? nullptr : &g.type(v));
    std::vector<Graph::Assertion> assertions;
    auto inferred =
        infer_types(h.op, operand_types, parts.attrs, parts.data.get(), parts.body.get(), &assertions);
    if (!inferred.ok()) {
      Diagnostic d = inferred.error().first();
      cursor_.fail_with(std::move(d), h.place);
      return false;
    }
    for (Graph::Assertion& a : assertions) g.add_assertion(std::move(a));
    types = std::move(inferred).value();
    return true;
  }

  Graph body() {
    Graph g;
    if (++nesting_ > kMaxNestedGraphs) cursor_.fault(cursor_.place(), "graphs are nested more than 16 deep");
    Scope scope;
    auto outer = std::exchange(pending_, {});
    parameters(g, scope);
    block(g, scope);
    pending_ = std::move(outer);
    --nesting_;
    return g;
  }

  void attributes(Op op, AttrMap& attrs) {
    cursor_.expect("{");
    while (cursor_.ok() && cursor_.peek() != '}') {
      const size_t place = cursor_.skip_space();
      const std::string key = name();
      cursor_.expect("=");
      Attr value = attribute(attr_spec(op, key));
      if (cursor_.ok() && !attrs.emplace(key, std::move(value)).second) {
        return cursor_.fault(place, "attribute " + key + " appears twice");
      }
      if (!cursor_.take(",")) break;
    }
    cursor_.expect("}");
  }

  Attr attribute(const AttrSpec* spec) {
    const char c = cursor_.peek();
    if (c == '"') return cursor_.string();
    if (c == '[') return spec != nullptr && spec->kind == AttrKind::kDims ? Attr(dim_list()) : list(spec);
    if (cursor_.take_word("tensor")) return TensorAttr{tensor()};
    if (cursor_.looking_at("graph")) return std::make_shared<Graph>(nested_graph());
    const size_t place = cursor_.skip_space();
    const std::string_view word = cursor_.word(literal_char, literal_char, "an attribute value");
    if (word == "dims" && cursor_.peek() == '[') return dim_list();
    if (word == "doubles" && cursor_.peek() == '[')
      return cursor_.expect("["), cursor_.expect("]"), std::vector<double>();
    if (word == "strings" && cursor_.peek() == '[')
      return cursor_.expect("["), cursor_.expect("]"), std::vector<std::string>();
    if (const auto i = parse_int(word)) return *i;
    if (const auto d = parse_double(word)) return *d;
    if (const auto t = dtype_from_name(word)) return *t;
    cursor_.fault(place, "\"" + std::string(word) + "\" is no attribute value");
    return int64_t{0};
  }
  static bool literal_char(char c) { return isalnum_(c) || c == '-' || c == '.' || c == '+'; }

  Graph nested_graph() {
    if (++nesting_ > kMaxNestedGraphs) cursor_.fault(cursor_.place(), "graphs are nested more than 16 deep");
    auto outer = std::exchange(pending_, {});
    Graph g = graph();
    pending_ = std::move(outer);
    --nesting_;
    return g;
  }

  Attr list(const AttrSpec* spec) {
    std::vector<int64_t> ints;
    std::vector<double> doubles;
    std::vector<std::string> strings;
    bool all_ints = true;
    cursor_.expect("[");
    while (cursor_.ok() && cursor_.peek() != ']') {
      if (cursor_.peek() == '"') {
        strings.push_back(cursor_.string());
      } else {
        const size_t place = cursor_.skip_space();
        const std::string_view word = cursor_.word(literal_char, literal_char, "a number or string");
        const auto i = parse_int(word);
        const auto d = parse_double(word);
        if (cursor_.ok() && !d) cursor_.fault(place, "\"" + std::string(word) + "\" is no number");
        all_ints = all_ints && i.has_value();
        ints.push_back(i.value_or(0));
        doubles.push_back(d.value_or(0));
      }
      if (!cursor_.take(",")) break;
    }
    if (!strings.empty() && !doubles.empty()) cursor_.expected("elements of one kind");
    cursor_.expect("]");
    if (!strings.empty() || (spec != nullptr && spec->kind == AttrKind::kStrings)) return strings;
    if (!all_ints || (spec != nullptr && spec->kind == AttrKind::kDoubles)) return doubles;
    return ints;
  }

  TensorData tensor() {
    TensorData data;
    const size_t place = cursor_.skip_space();
    data.dtype = dtype();
    const Dims dims = dim_list();
    const auto shape = static_values(dims);
    if (!cursor_.ok()) return data;
    if (!shape || std::any_of(shape->begin(), shape->end(), [](int64_t d) { return d < 0; })) {
      cursor_.fault(place, "the shape of a constant must be known and not negative");
      return data;
    }
    data.dims = *shape;
    if (cursor_.take_word("splat")) {
      data.splat = true;
      elements(data, 1, false);
    } else if (cursor_.looking_at("bytes")) {
      cursor_.fault(cursor_.place(), "the text holds this constant's hash, not its elements");
    } else if (data.count() > kMaxParsedElements) {
      cursor_.fault(place, "a constant in text has at most 2^24 elements, or is a splat");
    } else {
      cursor_.expect("[");
      elements(data, data.count(), true);
      cursor_.expect("]");
    }
    return data;
  }

  void elements(TensorData& data, int64_t count, bool commas) {
    if (!cursor_.ok()) return;
    ByteBuffer bytes = ByteBuffer::allocate(static_cast<size_t>(bytes_of(data.dtype, count)), true);
    for (int64_t i = 0; i < count && cursor_.ok(); ++i) {
      if (i > 0 && commas) cursor_.expect(",");
      const size_t place = cursor_.skip_space();
      const std::string_view word = cursor_.word(
          literal_char, literal_char, "element " + std::to_string(i) + " of " + std::to_string(count));
      if (cursor_.ok() && !parse_element(data.dtype, word, bytes.data(), i)) {
        cursor_.fault(place, "\"" + std::string(word) + "\" is no " + std::string(name_of(data.dtype)));
      }
    }
    data.bytes = std::make_shared<const ByteBuffer>(std::move(bytes));
  }

  TextCursor cursor_;
  std::vector<Waiting> pending_;  // of the node being parsed
  int nesting_ = 0;
};
}  // namespace

Result<Graph> parse_ir(std::string_view text, std::string_view file_name) {
  return Parser(text, file_name).parse();
}

}  // namespace ge

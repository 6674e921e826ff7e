// schemas/graph.schema.json and the reader say the same: keys, dtypes, limits; examples and goldens fit the
// schema. The checker here knows exactly the words that the schema uses, and fails on any other.
#include <deque>
#include <filesystem>
#include <set>

#include "catch.h"
#include "compiler/ir/opset.h"
#include "compiler/source/graph_json.h"
#include "compiler/source/keys.h"
#include "document/tree.h"
#include "golden_file.h"
#include "numeric/dtype.h"

using namespace ge;

namespace {

Document parse(const std::string& path) {
  static std::deque<std::string> texts;  // they outlive their documents
  auto document = parse_json(as_bytes(texts.emplace_back(test::read_text(path))), path);
  REQUIRE_OK(document);
  return std::move(document).value();
}

class Schema {
 public:
  explicit Schema(const Document& document) : root_(document.root()) {}

  Value definition(std::string_view name) const {
    return name.empty() ? root_ : *root_.find("$defs")->find(name);
  }

  // "" where the value fits, else where it does not.
  std::string check(const Value& v, const Value& schema) const {
    for (const Value word : schema) {
      const std::string fault = check_word(v, schema, word);
      if (!fault.empty()) return fault;
    }
    return "";
  }

 private:
  static std::string at(const Value& v, const std::string& what) {
    return v.place() + " " + v.pointer() + ": " + what;
  }

  static bool has_type(const Value& v, std::string_view type) {
    if (type == "object") return v.is_object();
    if (type == "array") return v.is_array();
    if (type == "string") return v.is_string();
    if (type == "integer") return v.is_integer();
    if (type == "number") return v.is_number();
    return type == "boolean" && v.is_bool();
  }
  static bool equal(const Value& a, const Value& b) { return a.describe() == b.describe(); }

  std::string check_word(const Value& v, const Value& schema, const Value& word) const {
    const std::string key(word.key());
    if (key == "$ref") return check(v, definition(word.as_string()->substr(8)));
    if (key == "type")
      return has_type(v, *word.as_string()) ? "" : at(v, "is no " + std::string(*word.as_string()));
    if (key == "const") return equal(v, word) ? "" : at(v, "is not the constant");
    if (key == "enum") return check_enum(v, word);
    if (key == "anyOf" || key == "oneOf") return check_some(v, word, key == "oneOf");
    if (key == "required") return check_required(v, word);
    if (key == "properties") return check_properties(v, word);
    if (key == "additionalProperties") return check_additional(v, schema, word);
    if (key == "items") return check_items(v, word);
    if (key == "minimum")
      return !v.is_number() || *v.as_double() >= *word.as_double() ? "" : at(v, "is too small");
    if (key == "maximum")
      return !v.is_number() || *v.as_double() <= *word.as_double() ? "" : at(v, "is too large");
    if (key == "minLength")
      return !v.is_string() || static_cast<int64_t>(v.as_string()->size()) >= *word.as_int64()
                 ? ""
                 : at(v, "is too short");
    if (key == "minItems")
      return !v.is_array() || v.size() >= *word.as_int64() ? "" : at(v, "has too few items");
    if (key == "maxItems")
      return !v.is_array() || v.size() <= *word.as_int64() ? "" : at(v, "has too many items");
    const std::set<std::string> silent{"$schema",     "$id",         "$defs",        "title",
                                       "description", "uniqueItems", "propertyNames"};
    return silent.contains(key) ? "" : at(word, "is a word this checker does not know");
  }
  std::string check_enum(const Value& v, const Value& allowed) const {
    for (const Value a : allowed) {
      if (equal(v, a)) return "";
    }
    return at(v, "is none of the allowed values");
  }
  std::string check_some(const Value& v, const Value& list, bool exactly_one) const {
    int fits = 0;
    for (const Value s : list) fits += check(v, s).empty() ? 1 : 0;
    return fits == 1 || (fits > 1 && !exactly_one) ? ""
                                                   : at(v, "fits " + std::to_string(fits) + " alternatives");
  }
  std::string check_required(const Value& v, const Value& keys) const {
    for (const Value k : keys) {
      if (v.is_object() && !v.find(*k.as_string())) return at(v, "has no " + std::string(*k.as_string()));
    }
    return "";
  }
  std::string check_properties(const Value& v, const Value& properties) const {
    if (!v.is_object()) return "";
    for (const Value member : v) {
      const auto schema = properties.find(member.key());
      const std::string fault = schema ? check(member, *schema) : "";
      if (!fault.empty()) return fault;
    }
    return "";
  }
  std::string check_additional(const Value& v, const Value& schema, const Value& word) const {
    if (!v.is_object()) return "";
    const auto properties = schema.find("properties");
    for (const Value member : v) {
      if (properties && properties->find(member.key())) continue;
      const std::string fault = word.is_bool() ? at(member, "is an unknown key") : check(member, word);
      if (!fault.empty()) return fault;
    }
    return "";
  }
  std::string check_items(const Value& v, const Value& schema) const {
    if (!v.is_array()) return "";
    for (const Value item : v) {
      const std::string fault = check(item, schema);
      if (!fault.empty()) return fault;
    }
    return "";
  }

  Value root_;
};

const std::string kRoot = GE_SOURCE_DIR;

}  // namespace

TEST_CASE("the schema's keys are the reader's, required ones too") {
  const Document document = parse(kRoot + "/schemas/graph.schema.json");
  const Schema schema(document);
  for (const KeyTable& table : kKeyTables) {
    const Value object = schema.definition(table.definition);
    INFO("definition '" << table.definition << "'");
    std::set<std::string> in_schema, in_reader, required_in_schema, required_in_reader;
    for (const Value member : object.find("properties")->children()) in_schema.emplace(member.key());
    if (const auto required = object.find("required")) {
      for (const Value key : required->children()) required_in_schema.emplace(*key.as_string());
    }
    for (const KeyInfo& key : table.keys) {
      in_reader.emplace(key.name);
      if (key.required) required_in_reader.emplace(key.name);
    }
    CHECK(in_schema == in_reader);
    CHECK(required_in_schema == required_in_reader);
    CHECK(object.find("additionalProperties")->as_bool() == false);
    for (const Value member : object.find("properties")->children())
      CHECK((member.find("description") || member.find("$ref") || table.definition != ""));
  }
}

TEST_CASE("the schema's dtypes and limits are the reader's") {
  const Document document = parse(kRoot + "/schemas/graph.schema.json");
  const Schema schema(document);
  std::vector<std::string> names, expected;
  for (const Value v : schema.definition("dtype").find("enum")->children())
    names.emplace_back(*v.as_string());
  for (int i = 0; i < kDTypeCount; ++i) expected.emplace_back(name_of(static_cast<DType>(i)));
  CHECK(names == expected);
  const Value properties = *document.root().find("properties");
  CHECK(properties.find("opset")->find("minimum")->as_int64() == kOldestOpset);
  CHECK(properties.find("opset")->find("maximum")->as_int64() == kNewestOpset);
  CHECK(properties.find("nodes")->find("maxItems")->as_int64() == kMaxGraphNodes);
  CHECK(schema.definition("shape").find("maxItems")->as_int64() == static_cast<int64_t>(kMaxTensorRank));
}

TEST_CASE("examples and goldens fit the schema") {
  const Document document = parse(kRoot + "/schemas/graph.schema.json");
  const Schema schema(document);
  for (const std::string path : {"/examples/mlp/mlp.json", "/examples/digits/digits.json",
                                 "/examples/layer/layer.json", "/test/golden/canonical_graph.json"}) {
    const Document graph = parse(kRoot + path);
    CHECK(schema.check(graph.root(), document.root()) == "");
  }
  for (const std::string& path : test::golden_sources("test/golden/onnx_ops", ".test")) {
    std::string text = test::read_text(path);
    text.resize(text.find("----\n"));
    const auto graph = parse_json(as_bytes(text), path);
    REQUIRE_OK(graph);
    CHECK(schema.check(graph->root(), document.root()) == "");
  }
}

TEST_CASE("what the reader refuses for its form, the schema refuses too") {
  const Document document = parse(kRoot + "/schemas/graph.schema.json");
  const Schema schema(document);
  for (const std::string name :
       {"format-tag", "not-object", "missing-keys", "unknown-keys", "wrong-types", "no-outputs", "opset",
        "empty-name", "attribute-json", "dtype", "negative-dim", "dim-range", "rank", "initializer-shape"}) {
    const Document graph = parse(kRoot + "/test/golden/faults/bad-" + name + ".json");
    INFO(name);
    CHECK(schema.check(graph.root(), document.root()) != "");
  }
}

// JSON against its schema, the committed schema against the visitor, the text form and diff.
#include <cstdlib>
#include <deque>

#include "catch.h"
#include "contract/plan_json.h"
#include "contract/plan_print.h"
#include "contract_sample.h"
#include "document/tree.h"
#include "platform/file.h"

using namespace ge;
using namespace ge::test;

namespace {

// The part of JSON Schema 2020-12 that plan.schema.json uses. "" or where the value breaks the schema.
class Validator {
 public:
  explicit Validator(Value schema) : root_(schema) {}
  std::string check(Value schema, Value value) {
    if (const auto ref = schema.find("$ref")) {
      const std::string name(ref->as_string()->substr(8));  // "#/$defs/"
      if (std::string wrong = check(*root_.find("$defs")->find(name), value); !wrong.empty()) return wrong;
    }
    const auto fault = [&](const char* rule) { return value.pointer() + " breaks " + rule; };
    for (const Value rule : schema) {
      const std::string key = rule.key();
      if (key == "type" && !has_type(rule, value)) return fault("type");
      if (key == "enum" && count(rule, [&](Value v) { return v.as_string() == value.as_string(); }) == 0)
        return fault("enum");
      if (key == "const" && rule.as_int64() != value.as_int64()) return fault("const");
      if (key == "minimum" && value.is_number() && *value.as_double() < *rule.as_double())
        return fault("minimum");
      if (key == "minItems" && value.size() < *rule.as_int64()) return fault("minItems");
      if (key == "maxItems" && value.size() > *rule.as_int64()) return fault("maxItems");
      if (key == "required") {
        for (const Value name : rule) {
          if (!value.find(*name.as_string())) return fault("required");
        }
      }
      if (key == "items") {
        for (const Value item : value) {
          if (std::string wrong = check(rule, item); !wrong.empty()) return wrong;
        }
      }
      if (key == "properties" || key == "additionalProperties") {
        if (std::string wrong = members(schema, value); !wrong.empty()) return wrong;
      }
      if (key == "oneOf" && matches(rule, value) != 1) return fault("oneOf");
      if (key == "anyOf" && matches(rule, value) < 1) return fault("anyOf");
    }
    return "";
  }

 private:
  template <class F>
  static int64_t count(Value list, F&& holds) {
    int64_t n = 0;
    for (const Value item : list) n += holds(item) ? 1 : 0;
    return n;
  }
  std::string members(Value schema, Value value) {
    const auto known = schema.find("properties");
    const auto others = schema.find("additionalProperties");
    for (const Value member : value) {
      const auto rule = known ? known->find(member.key()) : std::nullopt;
      if (!rule && others && others->is_bool() && !*others->as_bool())
        return member.pointer() + " is unknown";
      const auto use = rule ? rule : others;
      if (!use || !use->is_object()) continue;
      if (std::string wrong = check(*use, member); !wrong.empty()) return wrong;
    }
    return "";
  }
  int64_t matches(Value rules, Value value) {
    return count(rules, [&](Value rule) { return check(rule, value).empty(); });
  }
  static bool has_type(Value rule, Value value) {
    if (rule.is_array()) return count(rule, [&](Value r) { return has_type(r, value); }) > 0;
    const std::string name = *rule.as_string();
    return (name == "object" && value.is_object()) || (name == "array" && value.is_array()) ||
           (name == "string" && value.is_string()) || (name == "integer" && value.is_integer()) ||
           (name == "number" && value.is_number()) || (name == "boolean" && value.is_bool()) ||
           (name == "null" && value.is_null());
  }
  Value root_;
};

Document parsed(const std::string& json) {
  static std::deque<std::string> texts;  // they outlive their documents
  auto document = parse_json(as_bytes(texts.emplace_back(json)), "json");
  REQUIRE_OK(document);
  return std::move(*document);
}
PlanFile file_of(Sample sample) {
  auto file = read_plan_bytes(sample.file());
  REQUIRE_OK(file);
  return std::move(*file);
}

}  // namespace

TEST_CASE("schemas/plan.schema.json is what the visitor says (GE_UPDATE=1 rewrites it)") {
  const std::string path = std::string(GE_SOURCE_DIR) + "/schemas/plan.schema.json";
  if (std::getenv("GE_UPDATE") != nullptr) REQUIRE_OK(write_file(path, as_bytes(plan_schema())));
  const auto committed = read_file(path);
  REQUIRE_OK(committed);
  CHECK(as_text(committed->span()) == plan_schema());
}

TEST_CASE("a plan's JSON fits its schema") {
  const Document schema = parsed(plan_schema()), json = parsed(plan_json(file_of(sample_plan())));
  Validator validator(schema.root());
  CHECK(validator.check(schema.root(), json.root()) == "");
  // and the schema can refuse
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = plan_json(file_of(sample_plan()));
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    const Document changed = parsed(text.replace(at, from.size(), to));
    return validator.check(schema.root(), changed.root());
  };
  CHECK(broken("\"made_by\"", "\"maker\"") == "/plan/maker is unknown");
  CHECK(broken("\"builtin\"", "\"built-in\"") == "/plan/kernels/1/kind breaks enum");
  CHECK(broken("\"revision\": 1", "\"revision\": -1") == "/plan/kernels/0/revision breaks minimum");
}

TEST_CASE("JSON holds expressions as numbers or text") {
  const Document json = parsed(plan_json(file_of(sample_plan())));
  const Value x = json.root().find("plan")->find("programs")->at(0).find("signature")->find("inputs")->at(0);
  CHECK(x.find("dims")->at(0).as_string() == "batch");
  CHECK(x.find("dims")->at(1).as_int64() == 16);
  const Value steps = *json.root().find("plan")->find("programs")->at(0).find("run")->find("steps");
  CHECK(steps.at(0).find("launch")->find("flops")->as_string() == "batch*48");
  CHECK(steps.at(5).find("copy").has_value());
}

TEST_CASE("the text form shows sections, signature, steps, memory and needs") {
  const std::string text = print_plan(file_of(sample_plan()));
  const auto has = [&](const char* line) {
    INFO(text);
    CHECK(text.find(line) != std::string::npos);
  };
  has("plan format 1  targets cpu sm_90  made by ge 0.1.0  model sample\n");
  has(" dim       batch  0 .. 64, best 8\n");
  has(" input     x  float32[batch,16]\n");
  has("  [0] loop_relu_cpu  x[batch,16] w.packed[16] b[16] -> h[batch,16]  /nodes/0 + /nodes/1   "
      "384 FLOP  1.0 KiB\n");
  has("  [0] copy  w[16] -> w.packed[16]  /nodes/0\n");
  has(" memory at batch = 8, extra = 2\n");
  has("  slot 1         1.0 KiB  scratch\n");
  has(" needs     an NVIDIA driver for sm_90; holds generated device code\n");
}

TEST_CASE("names with control characters do not reach the terminal") {
  Sample s = sample_plan();
  s.plan.model_name = "evil\033[2J";
  CHECK(print_plan(file_of(s)).find("model evil\\x1b[2J\n") != std::string::npos);
}

TEST_CASE("diff tells by source node what changed") {
  Sample changed = sample_plan();
  changed.plan.programs[0].run.steps[5].copy[0].source_nodes = {"/nodes/9"};
  changed.plan.programs.pop_back();
  const PlanDiff diff = diff_plans(file_of(sample_plan()), "a", file_of(changed), "b");
  CHECK_FALSE(diff.same);
  CHECK(diff.text ==
        "--- a\n+++ b\nprogram cpu\n"
        " - /nodes/4  copy  h[batch,16] -> y[batch,16]\n"
        " + /nodes/9  copy  h[batch,16] -> y[batch,16]\n"
        "- program sm_90\n");
  const PlanDiff none = diff_plans(file_of(sample_plan()), "a", file_of(sample_plan()), "b");
  CHECK(none.same);
  CHECK(none.text == "");
}

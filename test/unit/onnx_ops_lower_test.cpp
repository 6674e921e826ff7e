// Every .test file of test/golden/onnx_ops: a graph.json and, below a line of dashes, what it lowers to. And
// the table itself.
#include <set>

#include "catch.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/onnx_ops/lower.h"
#include "compiler/onnx_ops/registry.h"
#include "compiler/source/graph_json.h"
#include "compiler/source/locate.h"
#include "golden_file.h"

using namespace ge;

namespace {

constexpr const char* kSeparator = "----\n";

std::string lowered(const std::string& json, const std::string& name) {
  auto graph = read_graph_json(as_bytes(json), name, "");
  if (!graph.ok()) return graph.error().to_string() + "\n";
  if (Status status = lower_onnx(*graph); !status.ok()) {
    return locate(std::move(status).take_error(), as_bytes(json), name).to_string() + "\n";
  }
  const Status verified = verify(*graph, true);
  INFO((verified.ok() ? std::string() : verified.error().to_string()));
  CHECK(verified.ok());
  PrintOptions options;
  options.sources = false;
  return print(*graph, options);
}

Graph read(const std::string& json) {
  auto graph = read_graph_json(as_bytes(json), "test.json", "");
  REQUIRE_OK(graph);
  return std::move(graph).value();
}

}  // namespace

TEST_CASE("operators lower to the core ops that their goldens show") {
  const auto paths = test::golden_sources("test/golden/onnx_ops", ".test");
  REQUIRE(paths.size() >= 20);
  for (const std::string& path : paths) {
    const std::string text = test::read_text(path);
    INFO(path);
    CHECK(text.starts_with("// "));
    const size_t cut = text.find(kSeparator);
    const std::string json = text.substr(0, cut);
    test::check_golden(path, json + kSeparator + lowered(json, path.substr(path.rfind('/') + 1)));
  }
}

TEST_CASE("every operator stands in a golden") {
  std::set<std::string> shown;  // "domain.name", as nodes of goldens say
  for (const std::string& path : test::golden_sources("test/golden/onnx_ops", ".test")) {
    const std::string text = test::read_text(path);
    const Graph graph = read(text.substr(0, text.find(kSeparator)));
    for (const NodeId id : graph.order())
      if (const auto& name = graph.node(id).onnx) shown.insert(name->domain + "." + name->type);
  }
  for (const Operator& op : onnx_operators()) {
    const std::string name = std::string(op.row->domain) + "." + op.row->name;
    if (shown.count(name) == 0) FAIL_CHECK(name << " stands in no file of test/golden/onnx_ops");
  }
}

TEST_CASE("the operator table is well formed") {
  CHECK(registry_faults().empty());
  for (const Operator& op : onnx_operators()) {
    INFO(op.row->name << " since " << op.row->since);
    CHECK(op.lower != nullptr);
    CHECK(op.row->since <= kNewestOpset);
    CHECK(std::string(op.row->summary) != "");
    for (size_t i = 0; i + 1 < op.inputs.size(); ++i) {
      CHECK_FALSE(op.inputs[i].variadic);
      CHECK((!op.inputs[i].optional || op.inputs[i + 1].optional));
    }
  }
}

TEST_CASE("the row that holds is the latest at or before the opset") {
  CHECK(find_operator("", "ReduceMean", 17)->attribute("axes") != nullptr);
  CHECK(find_operator("", "ReduceMean", 18)->attribute("axes") == nullptr);
  CHECK(find_operator("", "ReduceMean", 18)->max_inputs == 2);
  CHECK(find_operator("", "Gelu", 19) == nullptr);
  CHECK(find_operator("", "gelu", 20) == nullptr);
  CHECK(find_operator("com.microsoft", "Gelu", 1)->attribute("approximate") == nullptr);
  CHECK(find_operator("com.nobody", "Gelu", 20) == nullptr);
  CHECK(first_version("", "Gelu") == 20);
}

TEST_CASE("dtype classes and ONNX numbers") {
  CHECK(to_string(dtype_class("float|bool")) == "float64, float32, float16, bfloat16, bool");
  CHECK(dtype_class("flaot").bits() == 0);
  CHECK(dtype_from_onnx(1) == DType::float32);
  CHECK(dtype_from_onnx(16) == DType::bfloat16);
  CHECK_FALSE(dtype_from_onnx(8).has_value());
  for (int i = 0; i < kDTypeCount; ++i)
    CHECK(dtype_from_onnx(onnx_number(static_cast<DType>(i))) == static_cast<DType>(i));
}

TEST_CASE("a shape chain under symbolic dims folds to known contents") {
  Graph g = read(
      R"({"format": "ge-graph/1", "inputs": [{"name": "x", "dtype": "float32", "shape": ["batch", "seq", 64]}], "outputs": ["y"],
    "initializers": [{"name": "i", "dtype": "int64", "shape": [2], "data": [0, 1]}, {"name": "h", "dtype": "int64", "shape": [2], "data": [4, -1]}],
    "nodes": [{"op": "Shape", "inputs": ["x"], "outputs": ["s"]}, {"op": "Gather", "inputs": ["s", "i"], "outputs": ["d"]},
              {"op": "Concat", "inputs": ["d", "h"], "outputs": ["t"], "attributes": {"axis": 0}}, {"op": "Reshape", "inputs": ["x", "t"], "outputs": ["y"]}]})");
  REQUIRE_OK(lower_onnx(g));
  CHECK(to_string(g.type(g.outputs[0])) == "float32[batch, seq, 4, 16]");
  CHECK(g.assertions.empty());
}

TEST_CASE("dims that must be equal but are not known to be become assertions") {
  Graph g = read(
      R"({"format": "ge-graph/1", "inputs": [{"name": "x", "dtype": "float32", "shape": ["n", 2]}, {"name": "z", "dtype": "float32", "shape": ["m", 2]}],
    "outputs": ["y"], "nodes": [{"name": "sum", "op": "Add", "inputs": ["x", "z"], "outputs": ["y"]}]})");
  REQUIRE_OK(lower_onnx(g));
  REQUIRE(g.assertions.size() == 1);
  CHECK(g.assertions[0].source.path == "/nodes/0");
  CHECK(g.assertions[0].source.name == "sum");
}

TEST_CASE("names and sources survive lowering") {
  Graph g = read(
      R"({"format": "ge-graph/1", "inputs": [{"name": "x", "dtype": "float32", "shape": [2]}], "outputs": ["y", "same"],
    "nodes": [{"name": "act", "op": "Relu", "inputs": ["x"], "outputs": ["y"]}, {"op": "Identity", "inputs": ["x"], "outputs": ["same"]}]})");
  REQUIRE_OK(lower_onnx(g));
  CHECK(g.value(g.outputs[0]).name == "y");
  CHECK(g.outputs[1] == g.inputs[0]);
  CHECK(g.value(g.inputs[0]).name == "x");
  CHECK(g.output_names == std::vector<std::string>{"y", "same"});
  CHECK(g.producer(g.outputs[0])->sources[0].name == "act");
}

// Writing graph.json: reading it back gives the same graph, the same graph gives the same text, weights keep
// every bit.
#include <unistd.h>

#include <filesystem>

#include "catch.h"
#include "compiler/ir/text.h"
#include "compiler/source/graph_json.h"
#include "compiler/source/graph_json_write.h"
#include "golden_file.h"

using namespace ge;

namespace {

Graph read(const std::string& json, const std::string& folder = "") {
  auto graph = read_graph_json(as_bytes(json), "g.json", folder);
  REQUIRE_OK(graph);
  return std::move(graph).value();
}

const std::string kAll =
    R"({"format": "ge-graph/1", "name": "all", "opset": 17, "dims": {"n": {"min": 1, "max": 8, "opt": 2}, "open": {}},
  "inputs": [{"name": "x", "dtype": "float32", "shape": ["n", 3, "2*n + open"]}, {"name": "c", "dtype": "bool", "shape": []}], "outputs": ["y", "x"],
  "initializers": [
    {"name": "f", "dtype": "float32", "shape": [3], "data": [0.1, "NaN", -0.0]}, {"name": "h", "dtype": "float16", "shape": [2], "data": [0.1, "-Infinity"]},
    {"name": "i", "dtype": "int64", "shape": [2], "data": [9223372036854775807, -1]}, {"name": "u", "dtype": "uint64", "shape": [1], "data": [18446744073709551615]},
    {"name": "b", "dtype": "bool", "shape": [2], "data": [true, false]}, {"name": "q", "dtype": "int4", "shape": [3], "data": [-8, 7, 0]},
    {"name": "fill", "dtype": "int32", "shape": [1000, 1000], "data": {"fill": 7}}, {"name": "nan", "dtype": "float32", "shape": [1], "data": {"base64": "AQDAfw=="}},
    {"name": "q20", "dtype": "uint4", "shape": [20], "data": [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,0,1,2,3]},
    {"name": "big", "dtype": "float32", "shape": [17], "data": [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16.5]}],
  "nodes": [
    {"name": "last", "op": "Special", "domain": "org.example", "inputs": ["h2", "", "f"], "outputs": ["y", ""], "attributes":
      {"i": 1, "f": 1.0, "s": "t", "is": [1, 2], "fs": [1.5, 2.0], "ss": ["a"], "inf": "Infinity", "none": [], "t": {"tensor": {"dtype": "int8", "shape": [2], "data": [1, 2]}}}},
    {"op": "If", "inputs": ["c"], "outputs": ["h2"], "attributes": {
      "then_branch": {"graph": {"name": "then", "outputs": ["a"], "initializers": [{"name": "k", "dtype": "float32", "shape": [1], "data": [2.0]}], "nodes": [{"op": "Mul", "inputs": ["x", "k"], "outputs": ["a"]}]}},
      "else_branch": {"graph": {"outputs": ["e"], "nodes": [{"op": "Abs", "inputs": ["f"], "outputs": ["e"]}]}}}}]})";

}  // namespace

TEST_CASE("a graph written and read back prints the same, and writes the same") {
  const Graph first = read(kAll);
  const auto text = graph_to_json(first, "");
  REQUIRE_OK(text);
  CHECK(text->weights.size() == 0);
  const Graph second = read(text->json);
  const PrintOptions options{.sources = false, .max_elements = 64};
  CHECK(print(second, options) == print(first, options));
  const auto again = graph_to_json(second, "");
  REQUIRE_OK(again);
  CHECK(again->json == text->json);
}

TEST_CASE("node order and pointers stay as they were written") {
  const Graph first = read(kAll);
  const Graph second = read(graph_to_json(first, "").value().json);
  const auto a = first.order(), b = second.order();
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(first.node(a[i]).sources[0].path == second.node(b[i]).sources[0].path);
    CHECK(first.node(a[i]).sources[0].name == second.node(b[i]).sources[0].name);
  }
}

TEST_CASE("the canonical text") {
  test::check_golden(std::string(GE_SOURCE_DIR) + "/test/golden/canonical_graph.json",
                     graph_to_json(read(kAll), "all.safetensors").value().json);
}

TEST_CASE("weights go beside the graph, and bits survive") {
  const auto folder = std::filesystem::temp_directory_path() / ("ge_write_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  REQUIRE_OK(write_graph_json(read(kAll), (folder / "all.json").string()));
  CHECK(std::filesystem::exists(folder / "all.safetensors"));
  const Graph back = read(test::read_text((folder / "all.json").string()), folder.string());
  const PrintOptions options{.sources = false, .max_elements = 64};
  CHECK(print(back, options) == print(read(kAll), options));
  bool found_nan = false;
  for (const NodeId id : back.order()) {
    if (back.node(id).op != Op::constant || back.value(back.node(id).results[0]).name != "nan") continue;
    found_nan = true;
    CHECK(load_as<uint32_t>(back.node(id).data->bytes->data()) ==
          0x7fc00001u);  // a NaN that no number stands for
  }
  CHECK(found_nan);
  std::filesystem::remove_all(folder);
}

TEST_CASE("the examples survive being written") {
  for (const std::string name : {"mlp", "digits", "layer"}) {
    const std::string folder = std::string(GE_SOURCE_DIR) + "/examples/" + name;
    const Graph first = read(test::read_text(folder + "/" + name + ".json"), folder);
    const auto text = graph_to_json(first, "");
    REQUIRE_OK(text);
    const Graph second = read(text->json);
    for (const NodeId id : first.order()) {
      if (first.node(id).op != Op::constant) continue;
      const auto a = full_bytes(*first.node(id).data), b = full_bytes(*second.node(id).data);
      REQUIRE_OK(a);
      REQUIRE_OK(b);
      CHECK(std::equal((*a)->span().begin(), (*a)->span().end(), (*b)->span().begin(), (*b)->span().end()));
    }
    CHECK(second.live_nodes() == first.live_nodes());
  }
}

TEST_CASE("what graph.json has no words for is refused") {
  Graph g = read(
      R"({"format": "ge-graph/1", "inputs": [{"name": "x", "dtype": "float32", "shape": ["n"]}], "outputs": ["x"], "nodes": []})");
  g.add_assertion({Dim::symbol("n"), Dim(4), "n must be 4", {}});
  REQUIRE_CODE(graph_to_json(g, ""), Code::unsupported_feature);
  Graph core = read(
      R"({"format": "ge-graph/1", "inputs": [{"name": "x", "dtype": "float32", "shape": [2]}], "outputs": ["x"], "nodes": []})");
  core.add_node(Op::relu, {core.inputs[0]}, {core.type(core.inputs[0])});
  REQUIRE_CODE(graph_to_json(core, ""), Code::unsupported_feature);
}

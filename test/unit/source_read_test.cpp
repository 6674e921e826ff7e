// Reading graph.json: every form of data and every dtype with exact values, dims, subgraphs, limits; what the
// command line pins and freezes; where faults are located.
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "catch.h"
#include "compiler/ir/opset.h"
#include "compiler/source/bindings.h"
#include "compiler/source/body_reader.h"
#include "compiler/source/graph_json.h"
#include "compiler/source/locate.h"
#include "numeric/convert.h"
#include "tensor_file/npy.h"

using namespace ge;

namespace {

const std::string kData = std::string(GE_SOURCE_DIR) + "/test/golden/faults";

Result<Graph> read(const std::string& json, const ReadOptions& options = {}) {
  return read_graph_json(as_bytes(json), "g.json", kData, options);
}

// A graph whose one initializer is the tensor.
std::string with_tensor(const std::string& dtype, const std::string& shape, const std::string& data) {
  return R"({"format": "ge-graph/1", "inputs": [], "outputs": ["w"], "nodes": [], "initializers": [{"name": "w", "dtype": ")" +
         dtype + R"(", "shape": )" + shape + R"(, "data": )" + data + "}]}";
}

struct Tensor {
  TensorData data;
  std::shared_ptr<const ByteBuffer> bytes;
};
Tensor tensor(const std::string& dtype, const std::string& shape, const std::string& data) {
  const auto graph = read(with_tensor(dtype, shape, data));
  REQUIRE_OK(graph);
  const TensorData* found = graph->constant(graph->outputs[0]);
  REQUIRE(found != nullptr);
  const auto bytes = full_bytes(*found);
  REQUIRE_OK(bytes);
  return {*found, *bytes};
}

std::vector<double> doubles(const Tensor& t) {
  std::vector<double> values;
  for (int64_t i = 0; i < t.data.count(); ++i)
    values.push_back(load_as_double(t.data.dtype, t.bytes->data(), i));
  return values;
}
std::vector<int64_t> integers(const Tensor& t) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < t.data.count(); ++i)
    values.push_back(load_as_int64(t.data.dtype, t.bytes->data(), i));
  return values;
}

Graph relu(const std::string& shape, const std::string& dims = "{}") {
  auto graph = read(R"({"format": "ge-graph/1", "dims": )" + dims +
                    R"(, "inputs": [{"name": "x", "dtype": "float32", "shape": )" + shape +
                    R"(}], "outputs": ["y"], "nodes": [{"op": "Relu", "inputs": ["x"], "outputs": ["y"]}]})");
  REQUIRE_OK(graph);
  return std::move(graph).value();
}

std::string input_type(const Graph& g) {
  return to_string(g.type(g.inputs[0]));
}

}  // namespace

TEST_CASE("inline numbers are exact in every dtype") {
  CHECK(integers(tensor("int64", "[2]", "[9223372036854775807, -9223372036854775808]")) ==
        std::vector<int64_t>{INT64_MAX, INT64_MIN});
  CHECK(integers(tensor("uint64", "[1]", "[18446744073709551615]")) == std::vector<int64_t>{-1});
  CHECK(integers(tensor("int32", "[2]", "[2147483647, -2147483648]")) ==
        std::vector<int64_t>{INT32_MAX, INT32_MIN});
  CHECK(integers(tensor("uint32", "[1]", "[4294967295]")) == std::vector<int64_t>{4294967295});
  CHECK(integers(tensor("int16", "[2]", "[32767, -32768]")) == std::vector<int64_t>{32767, -32768});
  CHECK(integers(tensor("uint16", "[1]", "[65535]")) == std::vector<int64_t>{65535});
  CHECK(integers(tensor("int8", "[2]", "[127, -128]")) == std::vector<int64_t>{127, -128});
  CHECK(integers(tensor("uint8", "[1]", "[255]")) == std::vector<int64_t>{255});
  CHECK(integers(tensor("int4", "[3]", "[7, -8, 1]")) == std::vector<int64_t>{7, -8, 1});
  CHECK(integers(tensor("uint4", "[3]", "[15, 0, 9]")) == std::vector<int64_t>{15, 0, 9});
  CHECK(integers(tensor("bool", "[4]", "[true, false, 1, 0]")) == std::vector<int64_t>{1, 0, 1, 0});
  CHECK(doubles(tensor("float64", "[2]", "[0.1, 1e308]")) == std::vector<double>{0.1, 1e308});
  CHECK(doubles(tensor("float32", "[2]", "[0.1, 16777217]")) == std::vector<double>{0.1f, 16777216});
  CHECK(doubles(tensor("float16", "[2]", "[65504, 0.1]")) == std::vector<double>{65504, 0.0999755859375});
  CHECK(doubles(tensor("bfloat16", "[1]", "[3.140625]")) == std::vector<double>{3.140625});
  CHECK(doubles(tensor("float8e4m3fn", "[2]", "[448, -0.5]")) == std::vector<double>{448, -0.5});
  CHECK(doubles(tensor("float8e5m2", "[1]", "[57344]")) == std::vector<double>{57344});
}

TEST_CASE("special floats are strings") {
  const auto values = doubles(tensor("float32", "[4]", R"(["NaN", "Infinity", "-Infinity", -0.0])"));
  CHECK(std::isnan(values[0]));
  CHECK(values[1] == std::numeric_limits<double>::infinity());
  CHECK(values[2] == -std::numeric_limits<double>::infinity());
  CHECK(std::signbit(values[3]));
}

TEST_CASE("a float8 that does not fit is refused; infinity where the dtype has one") {
  const auto said = [](const std::string& dtype, const std::string& value) -> std::string {
    const auto graph = read(with_tensor(dtype, "[1]", "[" + value + "]"));
    if (graph.ok()) return "";
    return code_string(graph.error().first().code) + " " + graph.error().first().found;
  };
  CHECK(doubles(tensor("float8e4m3fn", "[3]", "[464, -464, 449]")) == std::vector<double>{448, -448, 448});
  for (const char* value : {"464.1", "480", "1000", "-1000", "1e300", "\"Infinity\"", "\"-Infinity\""}) {
    INFO(value);
    CHECK(said("float8e4m3fn", value).ends_with("this dtype ends at 448 and has no infinity"));
  }
  CHECK(std::isnan(doubles(tensor("float8e4m3fn", "[1]", "[\"NaN\"]"))[0]));
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(doubles(tensor("float8e5m2", "[3]", R"([61439, "Infinity", "-Infinity"])")) ==
        std::vector<double>{57344, infinity, -infinity});
  CHECK(said("float8e5m2", "61440").find("too large for this dtype") != std::string::npos);
  CHECK(said("float16", "65520").find("too large for this dtype") != std::string::npos);
  CHECK(said("float32", "1e39").starts_with("E0213"));
}

TEST_CASE("numbers of attributes are float32's") {
  const auto said = [](const std::string& value) -> std::string {
    const auto graph = read(
        R"({"format": "ge-graph/1", "inputs": [{"name": "x", "dtype": "float32", "shape": [2]}], "outputs": ["y"],)"
        R"("nodes": [{"op": "LeakyRelu", "inputs": ["x"], "outputs": ["y"], "attributes": {"alpha": )" +
        value + "}}]}");
    if (graph.ok()) return "";
    const Diagnostic& d = graph.error().first();
    return code_string(d.code) + " " + d.message + " " + d.path;
  };
  CHECK(said("3.4028235e38") == "");
  CHECK(said("\"Infinity\"") == "");
  CHECK(said("[0.5, \"-Infinity\"]") == "");
  CHECK(said("1e39") == "E0305 an attribute's number is too large for float32 /nodes/0/attributes/alpha");
  CHECK(said("[0.5, -1e39]") ==
        "E0305 an attribute's number is too large for float32 /nodes/0/attributes/alpha/1");
}

TEST_CASE("sizes whose dims that are not 0 overflow are refused, in whatever order") {
  for (const char* shape : {"[4611686018427387904, 0, 4611686018427387904]", "[0, 4611686018427387904, 2]",
                            "[4611686018427387904, 2, 0]"}) {
    const auto initializer = read(with_tensor("int64", shape, "[]"));
    REQUIRE_FALSE(initializer.ok());
    CHECK(initializer.error().first().code == Code::size_overflow);
    const auto fill = read(with_tensor("int64", shape, R"({"fill": 1})"));
    REQUIRE_FALSE(fill.ok());
    const auto input =
        read(R"({"format": "ge-graph/1", "inputs": [{"name": "x", "dtype": "float32", "shape": )" +
             std::string(shape) + R"(}], "outputs": ["x"], "nodes": []})");
    REQUIRE_FALSE(input.ok());
    CHECK(input.error().first().code == Code::size_overflow);
  }
  REQUIRE_OK(read(with_tensor("int64", "[1125899906842624, 0, 2]", "[]")));
}

TEST_CASE("nested and flat arrays give the same tensor, scalars and empty ones included") {
  const std::vector<double> expected{1, 2, 3, 4, 5, 6};
  CHECK(doubles(tensor("float32", "[2, 3]", "[[1, 2, 3], [4, 5, 6]]")) == expected);
  CHECK(doubles(tensor("float32", "[2, 3]", "[1, 2, 3, 4, 5, 6]")) == expected);
  CHECK(doubles(tensor("float32", "[]", "[2.5]")) == std::vector<double>{2.5});
  CHECK(doubles(tensor("float32", "[0]", "[]")).empty());
  CHECK(doubles(tensor("float32", "[2, 0]", "[[], []]")).empty());
  CHECK(doubles(tensor("float32", "[0, 5]", "[]")).empty());
}

TEST_CASE("a fill costs one element however large it is") {
  const auto graph = read(with_tensor("int64", "[1048576, 1048576]", R"({"fill": 9007199254740993})"));
  REQUIRE_OK(graph);
  const TensorData* data = graph->constant(graph->outputs[0]);
  CHECK(data->splat);
  CHECK(data->bytes->size() == 8);
  CHECK(load_as<int64_t>(data->bytes->data()) == 9007199254740993);
  CHECK(integers(tensor("int4", "[3]", R"({"fill": -3})")) == std::vector<int64_t>{-3, -3, -3});
}

TEST_CASE("weights come from safetensors, npy in either order, raw bytes and base64") {
  const std::vector<double> expected{0, 1, 2, 3, 4, 5};
  CHECK(doubles(tensor("float32", "[2, 3]", R"({"file": "data/good.safetensors", "tensor": "weight"})")) ==
        expected);
  CHECK(doubles(tensor("float32", "[2, 3]", R"({"file": "data/good.npy"})")) == expected);
  CHECK(doubles(tensor("float32", "[2, 3]", R"({"file": "data/fortran.npy"})")) == expected);
  CHECK(doubles(tensor("float32", "[4]", R"({"file": "data/six.bin", "offset": 8})")) ==
        std::vector<double>{2, 3, 4, 5});
  CHECK(doubles(tensor("float32", "[0]", R"({"file": "data/six.bin", "offset": 24})")).empty());
  CHECK(doubles(tensor("float32", "[2]", R"({"base64": "AACAPwAAAEA="})")) == std::vector<double>{1, 2});
}

TEST_CASE("large tensors in files are read when they are needed, and a file that is gone by then is told") {
  const auto folder = std::filesystem::temp_directory_path() / ("ge_source_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::vector<float> values(5000, 1.5f);
  const std::vector<int64_t> dims{5000};
  REQUIRE_OK(write_npy_file((folder / "big.npy").string(),
                            {DType::float32, dims, std::as_bytes(std::span(values))}));
  const std::string json = with_tensor("float32", "[5000]", R"({"file": "big.npy"})");
  const auto graph = read_graph_json(as_bytes(json), "g.json", folder.string());
  REQUIRE_OK(graph);
  const TensorData data = *graph->constant(graph->outputs[0]);
  CHECK(data.load != nullptr);
  CHECK(data.bytes == nullptr);
  const auto bytes = full_bytes(data);
  REQUIRE_OK(bytes);
  CHECK(load_as_double(DType::float32, (*bytes)->data(), 4999) == 1.5);
  std::filesystem::remove_all(folder);
  CHECK_FALSE(full_bytes(data).ok());
}

TEST_CASE("dims are numbers, names and expressions") {
  CHECK(input_type(relu(R"_([0, "n", "2*n + 1", "(n + 3) // 4", "min(n, m)"])_")) ==
        "float32[0, n, 2*n + 1, ((n + 3) // 4), min(m, n)]");
  const Graph g = relu(R"(["n", "free"])", R"({"n": {"min": 2, "max": 9, "opt": 4}, "unused": {}})");
  REQUIRE(g.symbols.contains("n"));
  CHECK(g.symbols.at("n").min == 2);
  CHECK(g.symbols.at("n").max == 9);
  CHECK(g.symbols.at("n").opt == 4);
  CHECK(g.symbols.at("unused").max == INT64_MAX);
  CHECK_FALSE(g.symbols.contains("free"));
}

TEST_CASE("comments, any order of nodes, absent inputs and outputs") {
  const auto graph = read(R"(// a graph
    {"format": "ge-graph/1", /* newest opset */ "inputs": [{"name": "x", "dtype": "float32", "shape": [2]}], "outputs": ["y"],
     "nodes": [{"name": "second", "op": "Clip", "inputs": ["h", "", "h"], "outputs": ["y", ""]},
               {"name": "first", "op": "Relu", "domain": "ai.onnx", "inputs": ["x"], "outputs": ["h"]}]})");
  REQUIRE_OK(graph);
  const auto order = graph->order();
  REQUIRE(order.size() == 2);
  CHECK(graph->node(order[0]).sources[0].name == "first");
  CHECK(graph->node(order[0]).sources[0].path == "/nodes/1");
  CHECK(graph->node(order[0]).onnx->domain == "");
  CHECK(graph->node(order[0]).onnx->version == kNewestOpset);
  const Node& clip = graph->node(order[1]);
  CHECK(clip.sources[0].place == "g.json:3:16");
  REQUIRE(clip.operands.size() == 3);
  CHECK(clip.operands[1] == kNone);
  CHECK(clip.results.size() == 2);
}

TEST_CASE("attributes keep their kinds") {
  const auto graph = read(
      R"({"format": "ge-graph/1", "inputs": [], "outputs": ["y"], "nodes": [{"op": "Any", "outputs": ["y"], "attributes": {
    "i": 9223372036854775807, "f": 1.0, "s": "text", "is": [1, -2], "fs": [1, 2.5, "NaN"], "ss": ["a", "b"], "empty": [], "inf": "-Infinity",
    "t": {"tensor": {"dtype": "int8", "shape": [2], "data": [1, -1]}}}}]})");
  REQUIRE_OK(graph);
  const AttrMap& attrs = graph->node(graph->order()[0]).attrs;
  CHECK(std::get<int64_t>(attrs.at("i")) == INT64_MAX);
  CHECK(std::get<double>(attrs.at("f")) == 1.0);
  CHECK(std::get<std::string>(attrs.at("s")) == "text");
  CHECK(std::get<std::vector<int64_t>>(attrs.at("is")) == std::vector<int64_t>{1, -2});
  CHECK(std::get<std::vector<double>>(attrs.at("fs"))[1] == 2.5);
  CHECK(std::isnan(std::get<std::vector<double>>(attrs.at("fs"))[2]));
  CHECK(std::get<std::vector<std::string>>(attrs.at("ss")) == std::vector<std::string>{"a", "b"});
  CHECK(std::get<std::vector<int64_t>>(attrs.at("empty")).empty());
  CHECK(std::get<double>(attrs.at("inf")) == -std::numeric_limits<double>::infinity());
  CHECK(std::get<TensorAttr>(attrs.at("t")).data.dtype == DType::int8);
}

TEST_CASE("subgraphs take what they use from around as operands, all in one order") {
  const auto graph = read(
      R"({"format": "ge-graph/1", "inputs": [{"name": "c", "dtype": "bool", "shape": []}, {"name": "x", "dtype": "float32", "shape": [2]}],
    "outputs": ["y"], "nodes": [{"op": "Relu", "inputs": ["x"], "outputs": ["h"]}, {"op": "If", "inputs": ["c"], "outputs": ["y"], "attributes": {
      "then_branch": {"graph": {"outputs": ["a"], "nodes": [{"op": "Abs", "inputs": ["x"], "outputs": ["a"]}]}},
      "else_branch": {"graph": {"outputs": ["b"], "nodes": [{"op": "Add", "inputs": ["h", "x"], "outputs": ["b"]}]}}}}]})");
  REQUIRE_OK(graph);
  const Node& node = graph->node(graph->order()[1]);
  const auto captures = std::get<std::vector<std::string>>(node.attrs.at(kCapturesAttr));
  REQUIRE(captures.size() == 2);
  REQUIRE(node.operands.size() == 3);
  for (size_t i = 0; i < 2; ++i) CHECK(graph->value(node.operands[i + 1]).name == captures[i]);
  for (const char* branch : {"then_branch", "else_branch"}) {
    const Graph& body = *std::get<std::shared_ptr<Graph>>(node.attrs.at(branch));
    REQUIRE(body.inputs.size() == 2);
    for (size_t i = 0; i < 2; ++i) CHECK(body.value(body.inputs[i]).name == captures[i]);
  }
}

TEST_CASE("limits are told") {
  const std::string two =
      R"({"format": "ge-graph/1", "inputs": [], "outputs": ["a"], "nodes": [{"op": "X", "outputs": ["a"]}, {"op": "X", "outputs": ["b"]}]})";
  REQUIRE_OK(read(two));
  REQUIRE_CODE(read(two, {.max_nodes = 1}), Code::document_limit);
  REQUIRE_CODE(read(two, {.max_bytes = 20}), Code::document_limit);
  REQUIRE_CODE(read(two, {.max_depth = 2}), Code::document_limit);
}

TEST_CASE("a long chain and a wide graph take no quadratic time or deep recursion") {
  std::string nodes;
  constexpr int kCount = 50'000;
  for (int i = 0; i < kCount; ++i) {
    nodes += (i ? "," : "") + std::string(R"({"op": "Relu", "inputs": ["v)") + std::to_string(i) +
             R"("], "outputs": ["v)" + std::to_string(i + 1) + R"("]})";
  }
  const auto graph = read(
      R"({"format": "ge-graph/1", "inputs": [{"name": "v0", "dtype": "float32", "shape": [2]}], "outputs": ["v)" +
      std::to_string(kCount) + R"("], "nodes": [)" + nodes + "]}");
  REQUIRE_OK(graph);
  CHECK(graph->live_nodes() == kCount);
}

TEST_CASE("pinning a dim replaces it everywhere") {
  Graph g = relu(R"(["n", "2*n + m"])", R"({"n": {"max": 8}})");
  REQUIRE_OK(apply_dim(g, "n=4"));
  CHECK(input_type(g) == "float32[4, m + 8]");
  CHECK_FALSE(g.symbols.contains("n"));
  REQUIRE_OK(apply_dim(g, "m=0"));
  CHECK(input_type(g) == "float32[4, 8]");
}

TEST_CASE("bounding a dim narrows its range") {
  Graph g = relu(R"(["n", "m"])", R"({"n": {"min": 1, "max": 8, "opt": 8}})");
  REQUIRE_OK(apply_dim(g, "n=2:4"));
  CHECK(g.symbols.at("n").min == 2);
  CHECK(g.symbols.at("n").max == 4);
  CHECK(g.symbols.at("n").opt == 4);
  REQUIRE_OK(apply_dim(g, "m=1:100:50"));
  CHECK(g.symbols.at("m").opt == 50);
}

TEST_CASE("dims on the command line that are wrong") {
  Graph g = relu(R"(["batch", "n - 4"])", R"({"batch": {"min": 1, "max": 8}})");
  for (const char* text : {"batch", "batch=", "=3", "batch=x", "batch=1:2:3:4", "batch=-1", "batch=3:2",
                           "batch=1:4:9", "batch=99999999999999999999"}) {
    INFO(text);
    REQUIRE_CODE(apply_dim(g, text), Code::bad_usage);
  }
  REQUIRE_CODE(apply_dim(g, "batch=9"), Code::symbol_range);
  REQUIRE_CODE(apply_dim(g, "batch=1:9"), Code::symbol_range);
  REQUIRE_CODE(apply_dim(g, "n=2"), Code::bad_dim);
  const Status unknown = apply_dim(g, "batc=2");
  REQUIRE_CODE(unknown, Code::unknown_symbol);
  CHECK(unknown.error().first().message == "no such dim 'batc'");
  CHECK(unknown.error().first().found == "dims are: batch, n");
  CHECK(unknown.error().first().fix == "did you mean 'batch'?");
}

TEST_CASE("freezing an input makes it a constant and pins its dims") {
  Graph g = relu(R"(["n", 3])");
  REQUIRE_OK(freeze_input(g, "x=" + kData + "/data/good.npy"));
  CHECK(g.inputs.empty());
  const Node& node = g.node(g.uses(g.node(g.order()[0]).results[0])[0].node);
  CHECK(g.is_constant(node.operands[0]));
  CHECK(g.value(node.operands[0]).name == "x");
  CHECK(to_string(g.type(node.operands[0])) == "float32[2, 3]");
}

TEST_CASE("inputs that cannot be frozen") {
  Graph g = relu(R"(["n", 4])");
  REQUIRE_CODE(freeze_input(g, "x"), Code::bad_usage);
  REQUIRE_CODE(freeze_input(g, "z=" + kData + "/data/good.npy"), Code::unknown_input);
  REQUIRE_CODE(freeze_input(g, "x=" + kData + "/data/no.npy"), Code::file_not_found);
  REQUIRE_CODE(freeze_input(g, "x=" + kData + "/data/good.npy"), Code::input_shape);
  Graph ranged = relu(R"(["n", 3])", R"({"n": {"min": 3}})");
  REQUIRE_CODE(freeze_input(ranged, "x=" + kData + "/data/good.npy"), Code::symbol_range);
}

TEST_CASE("locate finds the deepest part of a pointer that stands in the text") {
  const std::string text = "{\n  \"nodes\": [\n    {\"op\": \"A\", \"in~/puts\": [\"x\"]}\n  ]\n}";
  const auto place = [&](const std::string& path) {
    return locate(Error(fail(Code::bad_dim).in(path)), as_bytes(text), "g.json").first().place;
  };
  CHECK(place("/nodes/0/op") == "g.json:3:12");
  CHECK(place("/nodes/0/in~0~1puts/0") == "g.json:3:30");
  CHECK(place("/nodes/0/attributes/axis") == "g.json:3:5");
  CHECK(place("/nodes/7") == "g.json:2:12");
  CHECK(place("not a pointer") == "");
}

// Answers of operators, from a second source. Each graph of test/golden/onnx_values holds calls of one
// operator: its inputs are initializers named feed..., and for each output "x" there is an initializer
// "x_expected". Fed at run time, the graph must give what is expected: at -O 0, at -O 2, at -O 2 with
// names for the sizes of its inputs where it compiles so, and with nothing fed, when all is folded.
// traps_*.json are of several operators each, by hand: what other compilers stumbled over (docs/testing.md);
// on a GPU they run too.
// test/conformance/second_source.py --keep wrote them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "catch.h"
#include "compiler/source/graph_json.h"
#include "golden_file.h"
#include "numeric/convert.h"
#include "ops/compile_and_run.h"

using namespace ge;

namespace {

HostTensor tensor_of_constant(const TensorData& data) {
  auto made = make_host_tensor(data.dtype, data.dims, true);
  REQUIRE(made.ok());
  const auto bytes = full_bytes(data);
  REQUIRE(bytes.ok());
  HostTensor tensor = std::move(made).value();
  std::memcpy(tensor.bytes.data(), (*bytes)->data(), (*bytes)->size());
  return tensor;
}

// The shape with a name for each size; 1 and 0 stay, as they may broadcast or divide.
Dims named(const std::vector<int64_t>& dims) {
  Dims result;
  for (const int64_t d : dims) result.push_back(d < 2 ? Dim(d) : Dim::symbol("d" + std::to_string(d)));
  return result;
}

struct Case {
  Graph graph;
  std::vector<HostTensor> inputs;
  std::vector<std::string> names;    // of the outputs
  std::vector<HostTensor> expected;  // of the same
};

enum class Feeds { kAtRun, kWithNames, kConstant };  // names: for the sizes; constant: all is folded

Case read_case(const std::string& text, const std::string& name, Feeds feeds) {
  auto read = read_graph_json(as_bytes(text), name, "");
  REQUIRE_OK(read);
  Case result{std::move(read).value(), {}, {}, {}};
  Graph& graph = result.graph;
  std::map<std::string, HostTensor> expected;
  for (size_t v = 0, count = graph.value_capacity(); v < count; ++v) {
    const auto value = static_cast<ValueId>(v);
    const TensorData* data = graph.value(value).alive ? graph.constant(value) : nullptr;
    const std::string known = data ? graph.value(value).name : "";
    if (known.ends_with("_expected"))
      expected.emplace(known.substr(0, known.size() - 9), tensor_of_constant(*data));
    if (!known.starts_with("feed") || feeds == Feeds::kConstant) continue;
    result.inputs.push_back(tensor_of_constant(*data));
    const Dims dims =
        feeds == Feeds::kWithNames ? named(data->dims) : Dims(data->dims.begin(), data->dims.end());
    const Type type{data->dtype, dims};
    graph.replace_all_uses(value, graph.add_input(known + "_input", type));
  }
  std::vector<std::pair<ValueId, std::string>> outputs;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    if (auto at = expected.find(graph.output_names[i]); at != expected.end()) {
      outputs.emplace_back(graph.outputs[i], at->first);
      result.expected.push_back(std::move(at->second));
      result.names.push_back(at->first);
    }
  }
  REQUIRE(!outputs.empty());
  REQUIRE(2 * outputs.size() == graph.outputs.size());
  for (size_t i = graph.outputs.size(); i-- > 0;) {  // what is expected is no output of the run
    if (graph.output_names[i].ends_with("_expected")) graph.set_output(i, outputs.front().first);
  }
  return result;
}

double tolerance(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 1e-9;
    case DType::float32:
      return 1e-5;
    case DType::float16:
      return 2e-3;
    default:
      return is_float(dtype) ? 1.6e-2 : 0;
  }
}

bool same(const HostTensor& got, const HostTensor& expected, int64_t i) {
  if (!is_float(expected.dtype))
    return load_as_int64(got.dtype, got.bytes.data(), i) ==
           load_as_int64(expected.dtype, expected.bytes.data(), i);
  const double g = load_as_double(got.dtype, got.bytes.data(), i),
               e = load_as_double(expected.dtype, expected.bytes.data(), i), near = tolerance(expected.dtype);
  return (std::isnan(g) && std::isnan(e)) || g == e || std::abs(g - e) <= near * (1 + std::abs(e));
}

void check_values(const Case& c, const std::vector<HostTensor>& got) {
  for (size_t i = 0; i < c.graph.outputs.size(); ++i) {
    const std::string& name = c.graph.output_names[i];
    const auto at = std::find(c.names.begin(), c.names.end(), name);
    if (at == c.names.end()) continue;
    const HostTensor& expected = c.expected[static_cast<size_t>(at - c.names.begin())];
    INFO(name);
    REQUIRE(got[i].dtype == expected.dtype);
    REQUIRE(got[i].dims == expected.dims);
    for (int64_t k = 0; k < expected.count(); ++k) {
      if (same(got[i], expected, k)) continue;
      INFO("element " << k << ": got " << load_as_double(got[i].dtype, got[i].bytes.data(), k)
                      << ", expected " << load_as_double(expected.dtype, expected.bytes.data(), k));
      CHECK(false);
      break;
    }
  }
}

}  // namespace

TEST_CASE("operators give the values of a second source") {
  const auto paths = test::golden_sources("test/golden/onnx_values", ".json");
  REQUIRE(paths.size() >= 5);
  int symbolic = 0;
  for (const std::string& path : paths) {
    INFO(path);
    const std::string text = test::read_text(path);
    for (const int level : {0, 2}) {
      INFO("-O " << level);
      const Case c = read_case(text, path, Feeds::kAtRun);
      CompileOptions options;
      options.level = level;
      const auto got = test::compile_and_run(c.graph, c.inputs, "cpu", options);
      REQUIRE_OK(got);
      check_values(c, *got);
    }
    {
      INFO("all of it constant");
      const Case c = read_case(text, path, Feeds::kConstant);
      const auto got = test::compile_and_run(c.graph, c.inputs, "cpu", {});
      REQUIRE_OK(got);
      check_values(c, *got);
    }
    INFO("with names for sizes");
    const Case c = read_case(text, path, Feeds::kWithNames);
    if (!compile(c.graph.clone(), {}).ok()) continue;
    const auto got = test::compile_and_run(c.graph, c.inputs, "cpu", {});
    REQUIRE_OK(got);
    check_values(c, *got);
    ++symbolic;
  }
  CHECK(2 * symbolic >= static_cast<int>(paths.size()));
}

// Hidden: ctest's onnx_traps_cuda runs it.
TEST_CASE("what other compilers stumbled over is right on the GPU", "[.][gpu]") {
  if (test::device_target("cuda").empty()) {
    WARN("skipped: no GPU here");
    return;
  }
  for (const std::string& path : test::golden_sources("test/golden/onnx_values", ".json")) {
    if (path.find("traps_") == std::string::npos) continue;
    for (const Feeds feeds : {Feeds::kAtRun, Feeds::kWithNames, Feeds::kConstant}) {
      INFO(path << ", fed as " << static_cast<int>(feeds));
      const Case c = read_case(test::read_text(path), path, feeds);
      if (feeds == Feeds::kWithNames && !compile(c.graph.clone(), {}).ok()) continue;
      const auto got = test::compile_and_run(c.graph, c.inputs, "cuda", {});
      REQUIRE_OK(got);
      check_values(c, *got);
    }
  }
}

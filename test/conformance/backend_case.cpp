// Folders to outcomes.
#include "conformance/backend_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "compiler/onnx_file/onnx_file.h"
#include "compiler/onnx_ops/lower.h"
#include "compiler/run_plan.h"
#include "compiler/source/bindings.h"
#include "numeric/convert.h"
#include "platform/file.h"

namespace ge::test {
namespace {

namespace fs = std::filesystem;

struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

Result<NamedTensor> read_tensor(const std::string& path) {
  GE_ASSIGN(const ByteBuffer bytes, read_file(path));
  NamedTensor read;
  GE_ASSIGN(const TensorData data, read_onnx_tensor(bytes.span(), path, &read.name));
  GE_ASSIGN(const auto full, full_bytes(data));
  read.tensor = HostTensor{data.dtype, data.dims, ByteBuffer::copy_of(full->span())};
  return read;
}

// PREFIX_0.pb, PREFIX_1.pb, ...
Result<std::vector<NamedTensor>> read_tensors(const std::string& prefix) {
  std::vector<NamedTensor> list;
  for (int i = 0;; ++i) {
    const std::string path = prefix + "_" + std::to_string(i) + ".pb";
    if (!fs::exists(path)) return list;
    GE_ASSIGN(NamedTensor tensor, read_tensor(path));
    list.push_back(std::move(tensor));
  }
}

// The files in the order of the graph's inputs: by name, else by position.
Result<std::vector<HostTensor>> in_order(const Graph& graph, const std::vector<NamedTensor>& files) {
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::string& name = graph.value(graph.inputs[i]).name;
    const auto at =
        std::find_if(files.begin(), files.end(), [&](const NamedTensor& t) { return t.name == name; });
    const NamedTensor* file = at != files.end() ? &*at : i < files.size() ? &files[i] : nullptr;
    if (!file) return fail(Code::unknown_input).say("no file for input '" + name + "'");
    inputs.push_back({file->tensor.dtype, file->tensor.dims, ByteBuffer::copy_of(file->tensor.bytes.span())});
  }
  return inputs;
}

bool is_small_integer(const HostTensor& t) {
  return (t.dtype == DType::int64 || t.dtype == DType::int32) && t.dims.size() <= 1 && t.count() <= 64;
}

// The graph's inputs that lowering says it must know: operands of needs_constant, or where they are computed
// from inputs, every small integer input.
std::vector<std::string> wanted_constants(const Graph& graph, const Error& error,
                                          const std::vector<HostTensor>& inputs) {
  std::vector<std::string> names;
  for (const Diagnostic& d : error.list()) {
    if (d.code != Code::needs_constant || !d.path.starts_with("/nodes/")) continue;
    for (NodeId id = 0; id < graph.node_capacity(); ++id) {
      const Node& node = graph.node(id);
      const std::string prefix = node.source().path + "/inputs/";
      if (!d.path.starts_with(prefix)) continue;
      const auto index = static_cast<size_t>(std::atoi(d.path.c_str() + prefix.size()));
      if (index >= node.operands.size() || node.operands[index] == kNone) continue;
      if (std::count(graph.inputs.begin(), graph.inputs.end(), node.operands[index]) > 0)
        names.push_back(graph.value(node.operands[index]).name);
    }
  }
  if (!names.empty()) return names;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    if (is_small_integer(inputs[i])) names.push_back(graph.value(graph.inputs[i]).name);
  return names;
}

// Freezes until the graph lowers, or nothing is left to freeze: then its faults.
Status freeze_what_must_be(Graph& graph, const std::vector<NamedTensor>& files, Outcome& outcome) {
  while (true) {
    Graph lowered = graph.clone();
    const Status status = lower_onnx(lowered);
    if (status.ok()) return {};
    GE_ASSIGN(std::vector<HostTensor> inputs, in_order(graph, files));
    const auto names = wanted_constants(graph, status.error(), inputs);
    if (names.empty()) return Error(status.error());
    for (const std::string& name : names) {
      for (size_t i = 0; i < graph.inputs.size(); ++i) {
        if (graph.value(graph.inputs[i]).name != name) continue;
        GE_TRY(freeze_input(graph, name, std::move(inputs[i]), "freezing " + name));
        inputs.erase(inputs.begin() + static_cast<int64_t>(i));
        outcome.frozen.push_back(name);
        break;
      }
    }
  }
}

struct Tolerance {
  double relative, absolute;
};
Tolerance tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
    case DType::float32:
      return {1e-3, 1e-7};
    case DType::float16:
      return {4e-3, 1e-3};
    case DType::bfloat16:
      return {2e-2, 1e-2};
    default:
      return is_float(dtype) ? Tolerance{0.13, 1e-2} : Tolerance{0, 0};
  }
}

// What is expected was computed in float32: where terms cancel, it is off by a unit of the largest element.
constexpr double kFloatUnit = 1.1920929e-7;
double largest(const HostTensor& t) {
  double most = 0;
  for (int64_t i = 0; i < t.count(); ++i) {
    const double v = std::abs(load_as_double(t.dtype, t.bytes.data(), i));
    if (std::isfinite(v)) most = std::max(most, v);
  }
  return most;
}

// "" where they agree.
std::string difference(const HostTensor& got, const HostTensor& want) {
  if (got.dtype != want.dtype || got.dims != want.dims) {
    return std::string(name_of(got.dtype)) + dims_to_string(got.dims) + ", expected " +
           std::string(name_of(want.dtype)) + dims_to_string(want.dims);
  }
  Tolerance t = tolerance_of(got.dtype);
  if (t.relative > 0) t.absolute = std::max(t.absolute, kFloatUnit * largest(want));
  for (int64_t i = 0; i < got.count(); ++i) {
    const double g = load_as_double(got.dtype, got.bytes.data(), i);
    const double w = load_as_double(want.dtype, want.bytes.data(), i);
    const bool near = std::abs(g - w) <= t.absolute + t.relative * std::abs(w);
    const bool same = g == w || (std::isnan(g) && std::isnan(w));
    if (same || (near && std::isfinite(g) && std::isfinite(w))) continue;
    return fmt::format("element {} is {:.9g}, expected {:.9g}", i, g, w);
  }
  return "";
}

std::string first_line(const Error& error) {
  const Diagnostic& d = error.first();
  return code_string(d.code) + " " + (d.message.empty() ? std::string(title_of(d.code)) : d.message) +
         (d.found.empty() ? "" : ": " + d.found);
}

std::string op_of(const Graph& graph, const std::string& suite, int& nodes) {
  std::string op = suite;
  nodes = 0;
  for (NodeId id = 0; id < graph.node_capacity(); ++id)
    if (graph.node(id).alive && graph.node(id).onnx && ++nodes == 1) op = graph.node(id).onnx->type;
  return nodes == 1 ? op : suite;
}

Result<std::vector<std::byte>> plan_bytes(const Graph& graph, const CompileOptions& options) {
  GE_ASSIGN(Compiled compiled, compile(graph.clone(), options));
  std::vector<std::byte> bytes;
  GE_TRY(compiled.write([&](ByteSpan part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
    return Status();
  }));
  return bytes;
}

// 0, 1/n, 2/n, ... for every input.
std::vector<NamedTensor> ramps(const Graph& graph) {
  std::vector<NamedTensor> list;
  for (const ValueId v : graph.inputs) {
    const Type& type = graph.type(v);
    std::vector<int64_t> dims;
    for (const Dim& d : type.dims) dims.push_back(d.value().value_or(1));
    auto tensor = make_host_tensor(type.dtype, dims);
    if (!tensor.ok()) return {};
    const auto count = static_cast<double>(tensor->count());
    for (int64_t i = 0; i < tensor->count(); ++i)
      store_from_double(type.dtype, tensor->bytes.data(), i, static_cast<double>(i) / count);
    list.push_back({graph.value(v).name, std::move(tensor).value()});
  }
  return list;
}

// "" where the outputs for these inputs are `wanted`.
Result<std::string> run_data(Graph graph, const std::vector<NamedTensor>& files,
                             const std::vector<NamedTensor>& wanted, const std::string& device,
                             const CompileOptions& options, Outcome& outcome) {
  outcome.frozen.clear();
  GE_TRY(freeze_what_must_be(graph, files, outcome));
  GE_ASSIGN(const auto plan, plan_bytes(graph, options));
  GE_ASSIGN(const auto inputs, in_order(graph, files));
  const bool cuda = device == "cuda";
  GE_ASSIGN(const auto outputs,
            run_plan(plan, inputs, cuda ? RunDevice::kCuda : RunDevice::kCpu, cuda ? 3 : 1));
  if (outputs.size() != wanted.size())
    return std::to_string(outputs.size()) + " outputs, expected " + std::to_string(wanted.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string text = difference(outputs[i], wanted[i].tensor);
    if (!text.empty()) return "output " + std::to_string(i) + ": " + text;
  }
  return std::string();
}

Result<std::string> run_light(const BackendCase& test, const Graph& graph, const std::string& device,
                              const CompileOptions& options, Outcome& outcome) {
  GE_ASSIGN(const auto wanted, read_tensors(test.model.substr(0, test.model.size() - 5) + "_output"));
  return run_data(graph.clone(), ramps(graph), wanted, device, options, outcome);
}

Result<std::string> run_data_sets(const BackendCase& test, const std::string& device,
                                  const CompileOptions& options, Outcome& outcome) {
  GE_ASSIGN(ByteBuffer bytes, read_file(test.model));
  const std::string folder = fs::path(test.model).parent_path();
  GE_ASSIGN(const Graph graph, read_onnx(std::move(bytes), test.name, folder));
  outcome.op = op_of(graph, test.suite, outcome.nodes);
  if (test.light) return run_light(test, graph, device, options, outcome);
  int sets = 0;
  for (; fs::exists(folder + "/test_data_set_" + std::to_string(sets)); ++sets) {
    const std::string set = folder + "/test_data_set_" + std::to_string(sets);
    GE_ASSIGN(const auto files, read_tensors(set + "/input"));
    GE_ASSIGN(const auto wanted, read_tensors(set + "/output"));
    GE_ASSIGN(const std::string text, run_data(graph.clone(), files, wanted, device, options, outcome));
    if (!text.empty()) return text;
  }
  return sets == 0 ? std::string("it has no data") : std::string();
}

}  // namespace

std::vector<BackendCase> find_cases(const std::vector<std::string>& roots) {
  std::vector<BackendCase> cases;
  for (const std::string& root : roots) {
    std::error_code error;
    for (fs::recursive_directory_iterator at(root, error), end; at != end; at.increment(error)) {
      if (error || at->path().extension() != ".onnx") continue;
      const fs::path file = at->path(), folder = file.parent_path();
      if (file.filename() == "model.onnx")
        cases.push_back({folder.filename(), folder.parent_path().filename(), file});
      else if (fs::exists(folder / (file.stem().string() + "_output_0.pb")))
        cases.push_back({file.stem(), folder.filename(), file, true});
    }
  }
  std::sort(cases.begin(), cases.end(), [](const BackendCase& a, const BackendCase& b) {
    return std::tie(a.suite, a.name, a.model) < std::tie(b.suite, b.name, b.model);
  });
  return cases;
}

Outcome run_case(const BackendCase& test, const std::string& device, const CompileOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome;
  outcome.op = test.suite;
  const auto result = run_data_sets(test, device, options, outcome);
  if (!result.ok()) {
    outcome.verdict = Verdict::kRefused;
    outcome.why = first_line(result.error());
  } else {
    outcome.verdict = result->empty() ? Verdict::kRight : Verdict::kWrong;
    outcome.why = *result;
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

}  // namespace ge::test

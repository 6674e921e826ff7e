// Checking passes against the reference; see check_pass.h.
#include "compiler/passes/check_pass.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "compiler/onnx_ops/lower.h"
#include "numeric/convert.h"

namespace ge {

namespace {
constexpr int64_t kMaxElements = int64_t{1} << 24;

std::set<std::string> symbols_of(const Graph& graph) {
  std::set<std::string> names;
  for (const auto& [name, range] : graph.symbols) names.insert(name);
  for (ValueId v = 0; v < graph.value_capacity(); ++v)
    if (graph.value(v).alive)
      for (const Dim& d : graph.type(v).dims)
        for (const std::string& name : d.symbols()) names.insert(name);
  return names;
}

bool usable(const Graph& graph, const SymbolValues& values) {
  for (const Graph::Assertion& a : graph.assertions) {
    const auto lhs = a.lhs.evaluate(values), rhs = a.rhs.evaluate(values);
    if (!lhs || lhs != rhs) return false;
  }
  for (ValueId v = 0; v < graph.value_capacity(); ++v) {
    if (!graph.value(v).alive) continue;
    int64_t count = 1;
    for (const Dim& d : graph.type(v).dims) {
      const auto extent = d.evaluate(values);
      if (!extent || *extent < 0 || *extent > kMaxElements) return false;
      count *= *extent;
      if (count > kMaxElements) return false;
    }
  }
  return true;
}

uint64_t next_random(uint64_t& state) {  // splitmix64
  state += 0x9e3779b97f4a7c15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 1e-10;
    case DType::float32:
      return 1e-4;
    case DType::float16:
      return 1e-2;
    default:
      return 5e-2;  // bfloat16 and the 8-bit types
  }
}

std::string sizes_text(const SymbolValues& symbols) {
  std::string out;
  for (const auto& [name, value] : symbols)
    out += (out.empty() ? " at " : ", ") + name + " = " + std::to_string(value);
  return out;
}

std::string index_text(int64_t flat, const std::vector<int64_t>& dims) {
  std::string out;
  for (size_t d = dims.size(); d-- > 0;) {
    out = std::to_string(flat % dims[d]) + (out.empty() ? "" : ", ") + out;
    flat /= dims[d];
  }
  return "[" + out + "]";
}

// Largest finite magnitude: rounding differences are judged against the tensor's own scale.
double scale_of(const HostTensor& t) {
  double scale = 0;
  for (int64_t i = 0; i < t.count(); ++i) {
    const double v = std::abs(load_as_double(t.dtype, t.bytes.data(), i));
    if (std::isfinite(v)) scale = std::max(scale, v);
  }
  return scale;
}

bool same_element_bits(const HostTensor& a, const HostTensor& b, int64_t i) {
  if (bits_of(a.dtype) < 8)
    return load_as_int64(a.dtype, a.bytes.data(), i) == load_as_int64(b.dtype, b.bytes.data(), i);
  const auto width = static_cast<size_t>(bits_of(a.dtype)) / 8;
  return std::memcmp(a.bytes.data() + static_cast<size_t>(i) * width,
                     b.bytes.data() + static_cast<size_t>(i) * width, width) == 0;
}

Status compare_outputs(const Graph& graph, const std::vector<HostTensor>& expected,
                       const std::vector<HostTensor>& found, const SymbolValues& symbols, bool same_bits) {
  if (expected.size() != found.size()) {
    return fail(Code::pass_changed_result)
        .because("found " + std::to_string(found.size()) + " outputs; before it were " +
                 std::to_string(expected.size()));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string difference = difference_of(expected[i], found[i], same_bits);
    if (!difference.empty()) {
      return fail(Code::pass_changed_result)
          .because("output \"" + graph.output_names[i] + "\"" + sizes_text(symbols) + ": " + difference);
    }
  }
  return {};
}
}  // namespace

std::vector<SymbolValues> sizes_to_try(const Graph& graph) {
  std::vector<SymbolValues> all(3);
  SymbolValues equal;  // for graphs that assert their symbols equal
  int64_t odd = 3;
  for (const std::string& name : symbols_of(graph)) {
    const SymbolRange range = range_of(graph.symbols, name);
    all[0][name] = range.min;
    all[1][name] = std::clamp(range.opt, range.min, range.max);
    all[2][name] = std::clamp(odd, range.min, range.max);
    equal[name] = std::clamp<int64_t>(5, range.min, range.max);
    odd += 2;
  }
  all.push_back(std::move(equal));
  std::vector<SymbolValues> kept;
  for (SymbolValues& values : all)
    if (usable(graph, values) && std::find(kept.begin(), kept.end(), values) == kept.end())
      kept.push_back(std::move(values));
  return kept;
}

Result<std::vector<HostTensor>> random_inputs(const Graph& graph, const SymbolValues& symbols,
                                              uint64_t seed) {
  std::vector<HostTensor> inputs;
  uint64_t state = seed;
  for (const ValueId v : graph.inputs) {
    const Type& type = graph.type(v);
    std::vector<int64_t> dims;
    for (const Dim& d : type.dims) dims.push_back(d.evaluate(symbols).value_or(0));
    GE_ASSIGN(HostTensor t, make_host_tensor(type.dtype, std::move(dims), true));
    for (int64_t i = 0; i < t.count(); ++i) {
      const uint64_t bits = next_random(state) >> 11;
      if (is_float(type.dtype)) {
        store_from_double(type.dtype, t.bytes.data(), i, static_cast<double>(bits) * 0x1p-51 - 2.0);
      } else {
        store_from_int64(type.dtype, t.bytes.data(), i, static_cast<int64_t>(bits & 1));
      }
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

std::string difference_of(const HostTensor& expected, const HostTensor& found, bool same_bits) {
  if (expected.dtype != found.dtype || expected.dims != found.dims) {
    return "was " + std::string(name_of(expected.dtype)) + dims_to_string(expected.dims) + ", is " +
           std::string(name_of(found.dtype)) + dims_to_string(found.dims);
  }
  const bool tolerant = !same_bits && is_float(expected.dtype);
  const double tolerance = tolerant ? tolerance_of(expected.dtype) : 0,
               scale = tolerant ? scale_of(expected) : 0;
  for (int64_t i = 0; i < expected.count(); ++i) {
    if (same_element_bits(expected, found, i)) continue;
    const double a = load_as_double(expected.dtype, expected.bytes.data(), i),
                 b = load_as_double(found.dtype, found.bytes.data(), i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (tolerant && std::abs(a - b) <= tolerance * (std::abs(a) + scale)) continue;
    char text[128];
    std::snprintf(text, sizeof text, "was %.9g, is %.9g", a, b);
    return "element " + index_text(i, expected.dims) + " " + text;
  }
  return "";
}

Status compare_graphs(const Graph& expected, const Graph& found, const Evaluator& evaluate, bool same_bits) {
  for (const SymbolValues& symbols : sizes_to_try(expected)) {
    GE_ASSIGN(const std::vector<HostTensor> inputs, random_inputs(expected, symbols, 1));
    GE_ASSIGN(const std::vector<HostTensor> before, evaluate(expected, inputs, symbols));
    GE_ASSIGN(const std::vector<HostTensor> after, evaluate(found, inputs, symbols));
    GE_TRY(compare_outputs(expected, before, after, symbols, same_bits));
  }
  return {};
}

Status PassChecker::before(const Graph& graph, PassContext& context) {
  if (ready_ || evaluate_ == nullptr) return {};
  ready_ = true;
  // The reference runs core ops: what ONNX operators mean is what their lowering says, and tests of its own
  // hold that.
  Graph core = graph.clone();
  for (NodeId id = 0; id < core.node_capacity(); ++id) {
    if (!core.node(id).alive || core.node(id).op != Op::onnx) continue;
    GE_TRY(lower_onnx(core));
    break;
  }
  for (SymbolValues& symbols : sizes_to_try(core)) {
    Sample sample{std::move(symbols), {}, {}};
    GE_ASSIGN(sample.inputs, random_inputs(core, sample.symbols, 1));
    auto outputs = (*evaluate_)(core, sample.inputs, sample.symbols);
    if (!outputs.ok()) {
      context.notes.push_back("passes are not checked" + sizes_text(sample.symbols) + ": " +
                              to_string(outputs.error().first()));
      continue;
    }
    sample.outputs = std::move(outputs).value();
    samples_.push_back(std::move(sample));
  }
  return {};
}

Status PassChecker::after(const Graph& graph, const PassInfo& pass, PassContext& context) {
  const bool same_bits = pass.rewrite_class == RewriteClass::kExact || context.exact;
  const std::string name(pass.name);
  for (Sample& sample : samples_) {
    auto outputs = (*evaluate_)(graph, sample.inputs, sample.symbols);
    if (!outputs.ok()) return std::move(outputs).take_error().with_frame("while checking pass " + name);
    Status status = compare_outputs(graph, sample.outputs, *outputs, sample.symbols, same_bits);
    if (!status.ok()) {
      Error error = std::move(status).take_error();
      for (Diagnostic& d : error.list()) d.message = "pass " + name + " changed the result";
      return error;
    }
    sample.outputs = std::move(outputs).value();
  }
  return {};
}

}  // namespace ge

#include "compiler/select/cost.h"

#include <algorithm>
#include <string_view>

namespace ge {
namespace {

// Share of the target's peaks that a kernel reaches, by the start of its name; first match counts. The
// bandwidth share is that of small products, whose few tiles leave memory idle.
struct Efficiency {
  std::string_view prefix;
  double of_peak;
  bool matrix_units;
  double of_bandwidth;
};
constexpr Efficiency kEfficiencies[] = {
    {"dot_cublaslt", 0.85, true, 0.65},      {"dot_mma", 0.45, true, 0.3},
    {"conv_implicit_gemm", 0.40, true, 0.4}, {"dot_blocked", 0.70, false, 0.9},
    {"conv_gemm", 0.55, false, 0.9},         {"conv_direct", 0.15, false, 0.5},
    {"dot_tiled", 0.12, false, 0.4},         {"dot_generic", 0.02, false, 0.2},
    {"conv_generic", 0.01, false, 0.2},      {"conv_windows", 0.10, false, 0.5},
};

Efficiency efficiency_of(const LaunchSpec& launch) {
  if (launch.row == nullptr) return {"loop", 0.5, false, 1.0};
  const std::string_view name = launch.row->name;
  for (const Efficiency& e : kEfficiencies)
    if (name.starts_with(e.prefix)) return e;
  if (name.ends_with("_reference")) return {name, 0.005, false, 0.1};
  return {name, 0.3, false, 0.9};
}

}  // namespace

int64_t opt_value(const Graph& graph, const Dim& dim) {
  std::map<std::string, int64_t> values;
  for (const std::string& s : dim.symbols()) {
    const auto it = graph.symbols.find(s);
    values[s] = it == graph.symbols.end() ? 8 : it->second.opt;
  }
  return dim.evaluate(values).value_or(INT64_MAX);
}

bool is_output_operand(const LaunchSpec& launch, size_t operand) {
  if (launch.row == nullptr) return launch.nest->operands[operand].output;
  return launch.row->operands[operand].role != OperandRole::kIn;
}

Dim bytes_touched(const Graph& graph, const LaunchSpec& launch, bool written) {
  Dim total;
  for (size_t i = 0; i < launch.operands.size(); ++i) {
    const ValueId value = launch.operands[i].value;
    const StridedView& view = launch.operands[i].view;
    if (value == kNone || is_output_operand(launch, i) != written) continue;
    Dim elements = 1;
    for (size_t d = 0; d < view.dims.size(); ++d)
      if (!view.strides[d].is_value(0)) elements = elements * view.dims[d];
    const int bits = bits_of(graph.type(value).dtype);
    total = total + (bits >= 8 ? elements * Dim(bits / 8) : Dim::ceil_div(elements * Dim(bits), 8));
  }
  return total;
}

double launch_cost_us(const Graph& graph, const LaunchSpec& launch, const Target& target) {
  const Dim bytes = bytes_touched(graph, launch, false) + bytes_touched(graph, launch, true);
  const bool half = !launch.operands.empty() && launch.operands[0].value != kNone &&
                    bits_of(graph.type(launch.operands[0].value).dtype) < 32;
  const Efficiency e = efficiency_of(launch);
  const double peak = e.matrix_units && half ? target.float16_gflops : target.float32_gflops;
  const double memory_us =
      static_cast<double>(opt_value(graph, bytes)) / (target.copy_gbps * e.of_bandwidth * 1e3);
  const double compute_us = launch.flops / (peak * e.of_peak * 1e3);
  return target.launch_us + std::max(memory_us, compute_us);
}

}  // namespace ge

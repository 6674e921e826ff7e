#include "compiler/select/cost.h"

#include <algorithm>
#include <string_view>

namespace ge {
namespace {

// Share of the target's peak that a kernel's arithmetic reaches, by the start of its name; first match counts.
struct Efficiency { std::string_view prefix; double of_peak; bool matrix_units; };
constexpr Efficiency kEfficiencies[] = {
    {"dot_cublaslt", 0.85, true}, {"dot_mma", 0.45, true},      {"conv_implicit_gemm", 0.40, true}, {"conv_mma", 0.40, true},
    {"dot_blocked", 0.70, false}, {"conv_gemm", 0.55, false},   {"conv_depthwise", 0.30, false},    {"conv_direct", 0.15, false},
    {"dot_tiled", 0.12, false},   {"dot_generic", 0.05, false}, {"conv_generic", 0.04, false},
};

double rate_gflops(const LaunchSpec& launch, const Target& target, bool half) {
  if (launch.row == nullptr) return target.float32_gflops * 0.5;
  const std::string_view name = launch.row->name;
  for (const Efficiency& e : kEfficiencies)
    if (name.starts_with(e.prefix)) return e.of_peak * (e.matrix_units && half ? target.float16_gflops : target.float32_gflops);
  if (name.ends_with("_reference")) return target.float32_gflops * 0.005;
  return target.float32_gflops * 0.3;
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
  const double memory_us = static_cast<double>(opt_value(graph, bytes)) / (target.copy_gbps * 1e3);
  const double compute_us = launch.flops / (rate_gflops(launch, target, half) * 1e3);
  return target.launch_us + std::max(memory_us, compute_us);
}

}  // namespace ge

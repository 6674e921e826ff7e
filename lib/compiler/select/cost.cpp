#include "compiler/select/cost.h"

#include <algorithm>

namespace ge {
namespace {

constexpr KernelEfficiency kLoopEfficiency{0.5, 1.0};  // a generated loop has no row

}  // namespace

int64_t opt_value(const Graph& graph, const Dim& dim) {
  std::map<std::string, int64_t> values;
  for (const std::string& s : dim.symbols()) {
    const auto it = graph.symbols.find(s);
    values[s] = it == graph.symbols.end() ? 8 : it->second.opt;
  }
  return std::max<int64_t>(0, dim.evaluate(values).value_or(INT64_MAX));
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
  const KernelEfficiency e = launch.row != nullptr ? launch.row->efficiency : kLoopEfficiency;
  const double peak = e.matrix_units && half ? target.float16_gflops : target.float32_gflops;
  const double memory_us =
      static_cast<double>(opt_value(graph, bytes)) / (target.copy_gbps * e.of_bandwidth * 1e3);
  const double compute_us = launch.flops / (peak * e.of_peak * 1e3);
  return target.launch_us + std::max(memory_us, compute_us);
}

}  // namespace ge

#include "compiler/select/cost.h"

#include <algorithm>

#include "compiler/select/stream_plan.h"
#include "compiler/select/wgmma_plan.h"

namespace ge {
namespace {

constexpr KernelEfficiency kLoopEfficiency{0.5, 1.0};  // a generated loop has no row

}  // namespace

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

// Of a product: the last axis of its left side.
int64_t depth_of(const Graph& graph, const LaunchSpec& launch) {
  if (launch.operands.empty() || launch.operands[0].view.dims.empty()) return 0;
  return opt_value(graph, launch.operands[0].view.dims.back());
}

double launch_cost_us(const Graph& graph, const LaunchSpec& launch, const Target& target) {
  if (launch.row != nullptr && launch.row->grid == KernelGrid::kWarpgroupTiles) {
    if (const kernels::WgmmaTileShape* tile = wgmma_tile(launch.row->name)) {
      const Dims &out = launch.operands[3].view.dims, &lhs = launch.operands[0].view.dims;
      return wgmma_plan(*tile, opt_value(graph, out[0]), opt_value(graph, out[1]), opt_value(graph, lhs[1]),
                        target)
          .cost_us;
    }
  }
  if (launch.row != nullptr && launch.row->grid == KernelGrid::kStreamedStrips) {
    if (const auto row = stream_row(launch.row->name))
      return stream_plan(*row, opt_value(graph, launch.operands[3].view.dims[1]),
                         opt_value(graph, launch.operands[0].view.dims[1]), target)
          .cost_us;
  }
  const Dim bytes = bytes_touched(graph, launch, false) + bytes_touched(graph, launch, true);
  const bool half = !launch.operands.empty() && launch.operands[0].value != kNone &&
                    bits_of(graph.type(launch.operands[0].value).dtype) < 32;
  const KernelEfficiency e = launch.row != nullptr ? launch.row->efficiency : kLoopEfficiency;
  const double peak = e.matrix_units && half ? target.float16_gflops : target.float32_gflops;
  const double memory_us =
      static_cast<double>(opt_value(graph, bytes)) / (target.copy_gbps * e.of_bandwidth * 1e3);
  const double compute_us = launch.flops / (peak * e.of_peak * 1e3);
  const double depth_us = e.step_us > 0 ? e.step_us * static_cast<double>(depth_of(graph, launch)) / 64 : 0;
  return target.launch_us + e.start_us + std::max({memory_us, compute_us, depth_us});
}

}  // namespace ge

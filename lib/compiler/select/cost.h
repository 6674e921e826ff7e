// The cost model: a roofline with an efficiency per kernel. Entry: launch_cost_us.
// Fitted by eye to timings of the built-in kernels on one CPU core pair and one H200; it is wrong by up to 2x
// for launches under 5 us, where fixed costs rule, and only ranks kernels for the same node, never promises a
// time.
#pragma once
#include "compiler/select/selection.h"

namespace ge {

// Microseconds on `target` at the symbols' opt values.
double launch_cost_us(const Graph& graph, const LaunchSpec& launch, const Target& target);
// Bytes a launch reads and writes: each operand once, repeated axes not counted again.
Dim bytes_touched(const Graph& graph, const LaunchSpec& launch, bool written);
bool is_output_operand(const LaunchSpec& launch, size_t operand);

}  // namespace ge

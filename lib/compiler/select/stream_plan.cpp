#include "compiler/select/stream_plan.h"

#include <algorithm>

#include "compiler/select/cost.h"

namespace ge {
namespace {

struct NamedRow {
  std::string_view name;
  StreamRow row;
};
#define GE_STREAM_ROW(rows, type, bytes)                            \
  {"dot_stream_n" #rows "_" #type "_sm80", {rows, {bytes, false}}}, \
      {"dot_stream_k" #rows "_" #type "_sm80", {rows, {bytes, true}}},
#define GE_STREAM_ROWS(rows, blocks, float_blocks) \
  GE_STREAM_ROW(rows, f16, 2) GE_STREAM_ROW(rows, bf16, 2) GE_STREAM_ROW(rows, f32, 4)
constexpr NamedRow kRows[] = {
#include "kernels/dot/stream_rows.def"
};
#undef GE_STREAM_ROWS
#undef GE_STREAM_ROW

// Seen on an H200 in chains of dependent launches: a launch that leaves half of each multiprocessor to the
// next one, whose first weights are then under way, takes less than one that fills them.
constexpr int64_t kMultiprocessors = 132, kThreads = 200 * 512;
constexpr int64_t kLeastDepth = 128, kEnoughDepth = 256;  // of a block: while blocks are few, and then
constexpr int64_t kMaxClusters = 1 << 17;                 // which loop over what is left

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

std::optional<StreamRow> stream_row(std::string_view name) {
  for (const NamedRow& named : kRows)
    if (name == named.name) return named.row;
  return std::nullopt;
}

std::string stream_refusal(const Graph& graph, const StreamRow& row, const LaunchSpec& launch) {
  const int64_t most = launch.operands[3].view.dims[0].bounds(graph.symbols).max;
  if (most <= row.rows) return "";
  return "made for at most " + std::to_string(row.rows) + " rows, these may be " + std::to_string(most);
}

StreamPlan stream_plan(const StreamRow& row, int64_t columns, int64_t depth, const Target& target) {
  const int64_t strips = std::max<int64_t>(ceil_div(columns, row.shape.strip()), 1),
                most = kThreads / row.shape.threads();
  StreamPlan plan;
  // Clusters are sm_90a's code, as the kernel has it.
  for (int split = 2; target.arch == 90 && split <= kernels::kStreamMaxSplit; split *= 2) {
    const int64_t blocks = strips * split;
    if (blocks > most || depth / split < (blocks < kMultiprocessors / 2 ? kLeastDepth : kEnoughDepth)) break;
    plan.split = split;
  }
  const double bytes = static_cast<double>(row.shape.element_bytes) * static_cast<double>(columns) *
                       static_cast<double>(depth);
  // Blocks that are too few to keep memory busy take as long as one multiprocessor each can read.
  const double busy = std::min(1.0, static_cast<double>(strips * plan.split) / kMultiprocessors);
  plan.cost_us = target.launch_us + (plan.split > 1 ? 0.7 : 0.2) + 0.1 * row.rows +
                 bytes / (target.copy_gbps * 1e3 * 0.95 * busy);
  return plan;
}

void set_stream_geometry(const Graph& graph, const Target& target, LaunchSpec& launch) {
  const StreamRow row = *stream_row(launch.row->name);
  const StridedView &lhs = launch.operands[0].view, &out = launch.operands[3].view;
  const StreamPlan plan =
      stream_plan(row, opt_value(graph, out.dims[1]), opt_value(graph, lhs.dims[1]), target);
  const auto at = std::find_if(launch.attrs.begin(), launch.attrs.end(),
                               [](const auto& a) { return a.first >= "early"; });
  launch.attrs.emplace(at, "early", int64_t{graph.is_constant(launch.operands[1].view.root) ? 2 : 0});
  const Dim strips = Dim::ceil_div(out.dims[1], row.shape.strip()) * Dim::ceil_div(out.dims[0], row.rows);
  launch.geometry.block = {row.shape.threads(), 1, 1};
  launch.geometry.cluster = {plan.split, 1, 1};
  launch.geometry.grid = {Dim::max(Dim::min(strips, kMaxClusters), 1) * Dim(plan.split), 1, 1};
}

}  // namespace ge

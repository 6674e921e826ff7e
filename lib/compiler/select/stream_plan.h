// How dot_stream's rows are launched: how many blocks share a strip's depth, and what it costs. Entry:
// stream_row, stream_refusal, stream_plan, set_stream_geometry.
#pragma once
#include <optional>
#include <string>

#include "compiler/select/selection.h"
#include "kernels/dot/dot_stream.h"

namespace ge {

struct StreamRow {
  int rows;  // of the left side that one walk over the right side serves
  kernels::StreamShape shape;
};
// Of a row of that name; empty: it is none of dot_stream's.
std::optional<StreamRow> stream_row(std::string_view name);

// Why a product should not go to the row; empty: it may. Each walk over the right side takes its full time.
std::string stream_refusal(const Graph& graph, const StreamRow& row, const LaunchSpec& launch);

struct StreamPlan {
  int split = 1;  // blocks of a cluster, which share a strip's depth
  double cost_us = 0;
};
StreamPlan stream_plan(const StreamRow& row, int64_t columns, int64_t depth, const Target& target);
// `launch.row` is dot_stream's: grid, block, cluster and the attributes that go with them.
void set_stream_geometry(const Graph& graph, const Target& target, LaunchSpec& launch);

}  // namespace ge

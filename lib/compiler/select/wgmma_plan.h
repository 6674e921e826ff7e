// How dot_wgmma's rows are launched: the depth's split over a cluster, stages, and what it costs. Entry:
// wgmma_tile, wgmma_refusal, wgmma_plan, set_wgmma_geometry.
#pragma once
#include <string>

#include "compiler/select/selection.h"
#include "kernels/dot/dot_wgmma.h"

namespace ge {

// The tile of a row of that name; null: it is none of dot_wgmma's.
const kernels::WgmmaTileShape* wgmma_tile(std::string_view row);

// Why a product should not go to dot_wgmma at all; empty: it may. A plan has one tile and one split for all
// sizes of a symbol, and for many rows cuBLASLt's tiles are better.
std::string wgmma_refusal(const Graph& graph, const LaunchSpec& launch);

struct WgmmaPlan {
  int split = 1;   // blocks of a cluster, which share a tile's depth
  int stages = 1;  // of the ring of a block
  double cost_us = 0;
};
// The cheapest launch of `tile` for rows x columns x depth.
WgmmaPlan wgmma_plan(const kernels::WgmmaTileShape& tile, int64_t rows, int64_t columns, int64_t depth,
                     const Target& target);
// `launch.row` is dot_wgmma's: grid, block, cluster, shared memory and the attributes that go with them.
// exact: no arithmetic narrower than float32's.
void set_wgmma_geometry(const Graph& graph, const Target& target, bool exact, LaunchSpec& launch);

}  // namespace ge

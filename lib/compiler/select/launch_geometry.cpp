// Grids of built-in CUDA rows, by what each row says of itself; see launch_geometry.h.
#include "compiler/select/launch_geometry.h"

#include <algorithm>

#include "compiler/select/stream_plan.h"
#include "compiler/select/wgmma_plan.h"
#include "kernels/attention/attention_wgmma.h"

namespace ge {
namespace {

constexpr int64_t kBlock = 256;    // every built-in CUDA row runs blocks of 256 threads along x
constexpr int64_t kTile = 64;      // side of the tiles of rows on matrix units, at their smallest or nearly
constexpr int64_t kSimtTile = 32;  // of kernels/device/simt_tile.cuh
constexpr int64_t kMaxBlocks = 1 << 20;  // rows loop over what is left

// One block for each tile x tile of the result, where [.., rows, columns] are its last two axes or a conv's
// pixels and channels.
Dim product_tiles(const StridedView& out, int64_t tile) {
  const size_t rank = out.dims.size();
  Dim tiles = Dim::ceil_div(out.dims[rank - 2], tile) * Dim::ceil_div(out.dims[rank - 1], tile);
  return tiles * product(out.dims, 0, rank - 2);
}
// The same in tiles down to 32 x 16 where 64 x 64 ones are too few to fill a large GPU; blocks past the
// tiles end at once.
Dim split_product_tiles(const StridedView& out) {
  const size_t rank = out.dims.size();
  const Dim thin = Dim::ceil_div(out.dims[rank - 2], 32) * Dim::ceil_div(out.dims[rank - 1], 16) *
                   product(out.dims, 0, rank - 2);
  return Dim::min(thin, Dim::max(product_tiles(out, kTile), 512));
}
// Tiles of 128, 64 or 32 queries in the same way.
Dim query_tiles(const StridedView& q) {
  const auto tiles = [&](int64_t rows) { return Dim::ceil_div(q.dims[2], rows) * q.dims[0] * q.dims[1]; };
  return Dim::min(tiles(32), Dim::max(tiles(128), 512));
}
// Tiles of 128 queries, or of 64 where those are too few; at least as many blocks as the kernel makes of
// either.
Dim warpgroup_queries(const StridedView& q) {
  const auto tiles = [&](int64_t rows) { return Dim::ceil_div(q.dims[2], rows) * q.dims[0] * q.dims[1]; };
  return Dim::min(tiles(64), Dim::max(tiles(128), 2 * kernels::AttentionWgmmaShape{64}.enough_tiles()));
}
// Every tile is a box of rows and columns of one head.
void set_attention_boxes(LaunchSpec& launch) {
  for (const std::string i : {"0", "1", "2"}) {
    launch.attrs.emplace_back("box" + i,
                              std::vector<int64_t>{1, 1, kernels::kAttentionBox, kernels::kAttentionBox});
    launch.attrs.emplace_back("swizzle" + i, int64_t{2 * kernels::kAttentionBox});
  }
  std::sort(launch.attrs.begin(), launch.attrs.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
}
// One block for each column along the axis.
Dim columns(const LaunchSpec& launch) {
  const Dims& dims = launch.operands.back().view.dims;
  const auto axis = static_cast<size_t>(attr_int(launch.attrs, "axis", 0));
  return product(dims, 0, axis) * product(dims, axis + 1);
}
Dim conv_tiles(const LaunchSpec& launch, int64_t tile) {
  const StridedView& y = launch.operands[3].view;
  const int64_t groups = attr_int(launch.attrs, "groups", 1);
  const Dim pixels = y.dims[0] * product(y.dims, 2);
  return Dim::ceil_div(pixels, tile) * Dim::ceil_div(Dim::floor_div(y.dims[1], groups), tile) * Dim(groups);
}
// Tiles down to 32 x 32, which up to four blocks share; blocks come in fours. Those past the tiles end at
// once.
Dim conv_clusters(const LaunchSpec& launch) {
  const StridedView& y = launch.operands[3].view;
  const int64_t groups = attr_int(launch.attrs, "groups", 1);
  const Dim thin = Dim::ceil_div(y.dims[0] * product(y.dims, 2), 32) *
                   Dim::ceil_div(Dim::floor_div(y.dims[1], groups), 32) * Dim(groups);
  return Dim::max(Dim::ceil_div(Dim::min(thin * Dim(4), Dim::max(conv_tiles(launch, kTile), 320)), 4), 1) *
         Dim(4);
}

Dim blocks_of(const LaunchSpec& launch) {
  switch (launch.row->grid) {
    case KernelGrid::kElements:
      return Dim::ceil_div(product(launch.operands.back().view.dims), kBlock);
    case KernelGrid::kVectors:
      return Dim::ceil_div(product(launch.operands.back().view.dims), 8 * kBlock);
    case KernelGrid::kColumns:
      return columns(launch);
    case KernelGrid::kProductTiles:
      return product_tiles(launch.operands[3].view, kSimtTile);
    case KernelGrid::kSplitProductTiles:
      return split_product_tiles(launch.operands[3].view);
    case KernelGrid::kQueryTiles:
      return query_tiles(launch.operands[0].view);
    case KernelGrid::kWarpgroupQueries:
      return warpgroup_queries(launch.operands[0].view);
    case KernelGrid::kConvTiles:
      return conv_tiles(launch, kTile);
    case KernelGrid::kConvThinTiles:
      return conv_tiles(launch, kSimtTile);
    case KernelGrid::kConvClusters:
      return conv_clusters(launch);
    case KernelGrid::kWarpgroupTiles:
    case KernelGrid::kStreamedStrips:
      break;  // set_wgmma_geometry's and set_stream_geometry's
  }
  return Dim(1);
}

}  // namespace

void set_geometry(const Graph& graph, const Target& target, bool exact, LaunchSpec& launch) {
  if (target.device() == KernelDevice::kCpu || launch.row->kind == KernelKind::kLibrary) return;
  launch.geometry = {};  // `launch` may be a copy that had another row
  if (launch.row->grid == KernelGrid::kWarpgroupTiles)
    return set_wgmma_geometry(graph, target, exact, launch);
  if (launch.row->grid == KernelGrid::kStreamedStrips) return set_stream_geometry(graph, target, launch);
  if (launch.row->grid == KernelGrid::kWarpgroupQueries) set_attention_boxes(launch);
  const Dim blocks = blocks_of(launch);
  launch.geometry.block = {kBlock, 1, 1};
  launch.geometry.dynamic_shared_memory = Dim(launch.row->limits.dynamic_shared_memory);
  launch.geometry.grid = {Dim::max(Dim::min(blocks, kMaxBlocks), 1), 1, 1};
}

}  // namespace ge

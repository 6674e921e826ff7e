#include "compiler/select/wgmma_plan.h"

#include <algorithm>

#include "compiler/select/cost.h"

namespace ge {
namespace {

using kernels::WgmmaTileShape;

struct NamedTile {
  std::string_view half, bhalf;
  WgmmaTileShape tile;
};
constexpr NamedTile kTiles[] = {
#define GE_WGMMA_TILE(rows, columns, across)     \
  {"dot_wgmma_" #rows "x" #columns "_f16_sm90",  \
   "dot_wgmma_" #rows "x" #columns "_bf16_sm90", \
   {rows, columns, across}},
#include "kernels/dot/wgmma_tiles.def"
#undef GE_WGMMA_TILE
};

constexpr int64_t kSharedOfTwo = 113 * 1024;  // with so much, two blocks share a multiprocessor
constexpr int64_t kMaxClusters = 1 << 17;     // which loop over what is left
// Seen on an H200: ahead of cuBLASLt at 64 and 128 rows of most shapes, behind it at 512 and more, by 1.3
// to 1.6.
constexpr int64_t kMostRows = 256;
constexpr int kMaxSplit = 8;  // blocks of a cluster on any device of this kind

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// Multiprocessors that clusters of so many blocks can fill: they do not cross the chip's parts, whose sizes
// differ. Seen on an H200: 96 blocks in fours and sixes ran at once, 108 in sixes and 128 in fours did not.
int64_t multiprocessors(int split) {
  return split <= 2 ? 132 : split == 3 ? 108 : 96;
}

// Fitted to 300 launches of a chain of dependent ones on an H200 with products of 1 to 128 rows: within a
// tenth of the time of those that matter. A multiprocessor takes in 80 KB a microsecond; weights come from
// memory, most of that time while the launch before still runs.
// `few_rows`: boxes that reach far beyond the last row take the copy engine longer (1 row 16.7 us where 64
// take 11.6, 4096 x 4096 weights).
double launch_us(const WgmmaTileShape& tile, int64_t tiles, int split, int64_t steps, int64_t places,
                 double weight_bytes, bool few_rows, const Target& target) {
  const int64_t blocks = tiles * split, waves = ceil_div(blocks, places);
  const int64_t at_once =
      std::min(ceil_div(places, multiprocessors(split)), ceil_div(blocks, multiprocessors(split)));
  const double wave_us = static_cast<double>(at_once * steps * tile.stage_bytes()) / (few_rows ? 50e3 : 80e3);
  return 0.7 + static_cast<double>(waves) * wave_us + 1.7 * static_cast<double>(waves - 1) +
         (split > 1 ? 0.8 : 0) + 0.9 * tile.threads() / 128 + 0.33 * weight_bytes / (target.copy_gbps * 1e3);
}

// Stages of a block that has `steps` of the depth; 0: it cannot run.
int stages_of(const WgmmaTileShape& tile, int split, int64_t steps, int64_t room) {
  const int64_t most = (room - tile.shared_bytes(split, 0)) / tile.stage_bytes();
  const int64_t wanted = split == 1 ? std::max<int64_t>(steps, 4) : std::max<int64_t>(steps, 2);
  return static_cast<int>(std::min<int64_t>({most, wanted, kernels::kWgmmaMaxStages}));
}

}  // namespace

const WgmmaTileShape* wgmma_tile(std::string_view row) {
  for (const NamedTile& named : kTiles)
    if (row == named.half || row == named.bhalf) return &named.tile;
  return nullptr;
}

std::string wgmma_refusal(const Graph& graph, const LaunchSpec& launch) {
  const int64_t most = launch.operands[3].view.dims[0].bounds(graph.symbols).max;
  if (most <= kMostRows) return "";
  return "made for at most " + std::to_string(kMostRows) + " rows, these may be " + std::to_string(most);
}

WgmmaPlan wgmma_plan(const WgmmaTileShape& tile, int64_t rows, int64_t columns, int64_t depth,
                     const Target& target) {
  const int64_t tiles = ceil_div(rows, tile.rows) * ceil_div(columns, tile.columns),
                steps = std::max<int64_t>(ceil_div(depth, kernels::kWgmmaDepth), 1);
  const double weight_bytes = 2 * static_cast<double>(columns) * static_cast<double>(depth);
  WgmmaPlan best;
  for (int split = 1; split <= kMaxSplit && split <= steps; ++split) {
    const int64_t mine = ceil_div(steps, split);
    int stages = stages_of(tile, split, mine, kSharedOfTwo);
    int64_t places = 2 * multiprocessors(split);
    if (stages < std::min<int64_t>(mine, 3)) {
      stages = stages_of(tile, split, mine, kernels::kWgmmaSharedBytes);
      places = multiprocessors(split);
    }
    if (stages < kernels::kWgmmaMinStages) continue;
    const double cost = launch_us(tile, tiles, split, mine, places, weight_bytes, rows <= 32, target);
    if (best.cost_us == 0 || cost < best.cost_us) best = {split, stages, cost};
  }
  return best;
}

void set_wgmma_geometry(const Graph& graph, const Target& target, bool exact, LaunchSpec& launch) {
  const WgmmaTileShape& tile = *wgmma_tile(launch.row->name);
  const StridedView &lhs = launch.operands[0].view, &rhs = launch.operands[1].view,
                    &out = launch.operands[3].view;
  const WgmmaPlan plan = wgmma_plan(tile, opt_value(graph, out.dims[0]), opt_value(graph, out.dims[1]),
                                    opt_value(graph, lhs.dims[1]), target);
  const bool by_columns = rhs.strides[1].is_value(1), constant = graph.is_constant(rhs.root);
  const int64_t width = tile.width();
  const auto set = [&](const char* name, AttrValue value) {
    const auto at = std::find_if(launch.attrs.begin(), launch.attrs.end(),
                                 [&](const auto& a) { return a.first >= name; });
    launch.attrs.emplace(at, name, std::move(value));
  };
  set("box0", std::vector<int64_t>{tile.rows, kernels::kWgmmaDepth});
  set("box1", std::vector<int64_t>{kernels::kWgmmaDepth, by_columns ? width : tile.columns});
  set("early", int64_t{constant ? 2 : 0});
  set("narrow", int64_t{!exact});
  set("swizzle0", int64_t{128});
  set("swizzle1", by_columns ? width * 2 : int64_t{128});
  const Dim tiles = Dim::ceil_div(out.dims[0], tile.rows) * Dim::ceil_div(out.dims[1], tile.columns);
  const int64_t shared = tile.shared_bytes(plan.split, plan.stages);
  const int64_t places = (shared <= kSharedOfTwo ? 2 : 1) * multiprocessors(1);
  const Dim clusters = Dim::max(Dim::min(tiles, plan.split == 1 ? places : kMaxClusters), 1);
  launch.block = {tile.block_threads(), 1, 1};
  launch.cluster = {plan.split, 1, 1};
  launch.grid = {clusters * Dim(plan.split), 1, 1};
  launch.dynamic_shared_memory = Dim(shared);
}

}  // namespace ge

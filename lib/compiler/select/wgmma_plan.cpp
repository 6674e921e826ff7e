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

// A launch that was timed in a model.
struct TunedLaunch {
  int64_t rows, columns, depth;
  int tile_rows, tile_columns, split, stages;
  double us;
};
constexpr TunedLaunch kTuned[] = {
#define GE_WGMMA_TUNED(rows, columns, depth, tile_rows, tile_columns, split, stages, us) \
  {rows, columns, depth, tile_rows, tile_columns, split, stages, us},
#include "compiler/select/wgmma_tuned.def"
#undef GE_WGMMA_TUNED
};

// Null: none was timed, or with rows that fill their tiles much better.
const TunedLaunch* tuned_launch(int64_t rows, int64_t columns, int64_t depth) {
  for (const TunedLaunch& t : kTuned)
    if (rows <= t.rows && rows > t.rows - 32 && columns == t.columns && depth == t.depth) return &t;
  return nullptr;
}

constexpr int64_t kSharedOfTwo = 113 * 1024;  // with so much, two blocks share a multiprocessor
// A launch that waits for its predecessor by itself begins before that is done, and the next one before it
// is: about so much beside a library's launch (GPT-2, a sequence of 512: 1.2 us for each of 12).
constexpr double kSavedByOverlap = 0.8;
constexpr int64_t kMaxClusters = 1 << 17;  // which loop over what is left
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
  // Rows of 64 bytes, several boxes a tile: a third less.
  const bool narrow_boxes = tile.group_columns() > 32 && tile.width() < 64;
  const double wave_us = static_cast<double>(at_once * steps * tile.stage_bytes()) / (few_rows       ? 50e3
                                                                                      : narrow_boxes ? 60e3
                                                                                                     : 80e3);
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
  const Dims& out = launch.operands[3].view.dims;
  const int64_t most = out[0].bounds(graph.symbols).max;
  if (most <= kMostRows) return "";
  const auto rows = out[0].value(), columns = out[1].value(), depth = launch.operands[0].view.dims[1].value();
  if (rows && columns && depth && tuned_launch(*rows, *columns, *depth) != nullptr) return "";
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
  if (const TunedLaunch* t = tuned_launch(rows, columns, depth)) {
    const double cost = t->us - kSavedByOverlap;
    if (t->tile_rows == tile.rows && t->tile_columns == tile.columns) return {t->split, t->stages, cost};
    best.cost_us = std::max(best.cost_us, cost + 0.1);
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
  launch.geometry.block = {tile.block_threads(), 1, 1};
  launch.geometry.cluster = {plan.split, 1, 1};
  launch.geometry.grid = {clusters * Dim(plan.split), 1, 1};
  launch.geometry.dynamic_shared_memory = Dim(shared);
}

}  // namespace ge

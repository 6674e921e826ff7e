// Which candidate is taken: by cost, by what rows say of each other, by their order.
#include "catch.h"
#include "compiler/select/rank.h"
#include "compiler/select/stream_plan.h"
#include "compiler/select/wgmma_plan.h"

using namespace ge;

namespace {

std::string order_of(std::vector<Candidate> candidates) {
  std::string text = rank(candidates) ? "" : "none: ";
  for (const Candidate& c : candidates) text += (c.chosen ? "*" : "") + c.kernel + " ";
  return text;
}

Candidate candidate(std::string kernel, double cost, std::string_view preferred_over = {}) {
  return {std::move(kernel), cost, "", false, preferred_over};
}
Candidate refused(std::string kernel, std::string_view preferred_over = {}) {
  return {std::move(kernel), 0, "for a reason", false, preferred_over};
}

}  // namespace

TEST_CASE("the cheapest candidate is taken, of equals the first") {
  CHECK(order_of({candidate("a", 3), candidate("b", 2), refused("c"), candidate("d", 9)}) == "*b a d c ");
  CHECK(order_of({candidate("z", 2), candidate("a", 2), candidate("m", 2)}) == "*z a m ");
  CHECK(order_of({refused("a"), refused("b")}) == "none: a b ");
  CHECK(order_of({}) == "none: ");
}

TEST_CASE("a row preferred over another is taken before it, whatever it costs by itself") {
  CHECK(order_of({candidate("planes", 2), candidate("pairs", 2, "planes")}) == "*pairs planes ");
  CHECK(order_of({candidate("planes", 2), candidate("pairs", 50, "planes")}) == "*pairs planes ");
  CHECK(order_of({candidate("planes", 2), candidate("pairs", 1, "planes")}) == "*pairs planes ");
  // Neither is of use where one of the two cannot do it.
  CHECK(order_of({candidate("planes", 2), refused("pairs", "planes")}) == "*planes pairs ");
  CHECK(order_of({refused("planes"), candidate("pairs", 50, "planes"), candidate("other", 40)}) ==
        "*other pairs planes ");
}

TEST_CASE("a third row is compared by cost with a preferred one and with the one it is preferred over") {
  const auto with = [](double third) {
    return order_of({candidate("planes", 2), candidate("third", third), candidate("pairs", 50, "planes")});
  };
  CHECK(with(3) == "*pairs planes third ");
  CHECK(with(1) == "*third planes pairs ");
}

TEST_CASE("preferences may follow each other, and a circle of them ends") {
  CHECK(order_of({candidate("a", 9, "b"), candidate("b", 8, "c"), candidate("c", 2)}) == "*a b c ");
  CHECK(order_of({candidate("c", 2), candidate("b", 8, "c"), candidate("a", 9, "b")}) == "*a c b ");
  CHECK(order_of({candidate("a", 1, "b"), candidate("b", 2, "a")}).find('*') != std::string::npos);
}

TEST_CASE("every plan of dot_wgmma fits a block, keeps two stages and gives each block work") {
  const Target* target = find_target("sm_90");
  REQUIRE(target != nullptr);
  for (const char* name : {
#define GE_WGMMA_TILE(rows, columns, across) \
  "dot_wgmma_" #rows "x" #columns "_f16_sm90", "dot_wgmma_" #rows "x" #columns "_bf16_sm90",
#include "kernels/dot/wgmma_tiles.def"
#undef GE_WGMMA_TILE
       }) {
    const kernels::WgmmaTileShape* tile = wgmma_tile(name);
    REQUIRE(tile != nullptr);
    for (const int64_t m : {1, 64, 128, 1000, 100000})
      for (const int64_t n : {8, 768, 4096, 100000})
        for (const int64_t k : {8, 64, 72, 768, 4096, 1 << 20}) {
          INFO(name << " " << m << "x" << n << "x" << k);
          const WgmmaPlan plan = wgmma_plan(*tile, m, n, k, *target);
          CHECK(plan.split >= 1);
          CHECK(plan.split <= 8);
          CHECK(plan.split <= (k + 63) / 64);
          CHECK(plan.stages >= kernels::kWgmmaMinStages);
          CHECK(plan.stages <= kernels::kWgmmaMaxStages);
          CHECK(tile->shared_bytes(plan.split, plan.stages) <= kernels::kWgmmaSharedBytes);
          CHECK(plan.cost_us > 0);
        }
  }
  CHECK(wgmma_tile("dot_mma_f16_sm80") == nullptr);
}

TEST_CASE("dot_stream splits the depth of narrow products while its blocks have enough of it") {
  const Target* target = find_target("sm_90");
  const StreamRow row = *stream_row("dot_stream_n1_f16_sm80");
  CHECK(row.rows == 1);
  CHECK(stream_row("dot_stream_k4_f32_sm80")->shape.by_depth);
  CHECK(!stream_row("dot_wgmma_64x64_f16_sm90"));
  for (const int64_t n : {8, 768, 2048, 100000})
    for (const int64_t k : {0, 8, 512, 768, 8192, 1 << 20}) {
      INFO(n << " " << k);
      const StreamPlan plan = stream_plan(row, n, k, *target);
      CHECK((plan.split >= 1 && plan.split <= kernels::kStreamMaxSplit));
      CHECK((plan.split == 1 || plan.split * 128 <= k));
      CHECK(plan.cost_us > 0);
      CHECK(stream_plan(row, n, k, *find_target("sm_80")).split == 1);
    }
  CHECK(stream_plan(row, 2048, 8192, *target).split > 1);
  CHECK(stream_plan(row, 65536, 8192, *target).split == 1);
}

TEST_CASE("products that were timed are launched as they were, whatever other tiles cost") {
  const Target* target = find_target("sm_90");
  constexpr struct {
    int64_t rows, columns, depth;
    int tile_rows, tile_columns, split, stages;
    double us;
  } kTuned[] = {
#define GE_WGMMA_TUNED(rows, columns, depth, tile_rows, tile_columns, split, stages, us) \
  {rows, columns, depth, tile_rows, tile_columns, split, stages, us},
#include "compiler/select/wgmma_tuned.def"
#undef GE_WGMMA_TUNED
  };
  for (const auto& t : kTuned) {
    INFO(t.rows << "x" << t.columns << "x" << t.depth);
    const kernels::WgmmaTileShape* best = nullptr;
    double cost = 0;
    for (const char* name : {
#define GE_WGMMA_TILE(rows, columns, across) "dot_wgmma_" #rows "x" #columns "_f16_sm90",
#include "kernels/dot/wgmma_tiles.def"
#undef GE_WGMMA_TILE
         }) {
      const kernels::WgmmaTileShape* tile = wgmma_tile(name);
      const double us = wgmma_plan(*tile, t.rows, t.columns, t.depth, *target).cost_us;
      if (best == nullptr || us < cost) best = tile, cost = us;
    }
    REQUIRE(best != nullptr);
    CHECK((best->rows == t.tile_rows && best->columns == t.tile_columns));
    CHECK((cost > 0 && cost < t.us));
    for (const int64_t rows : {t.rows, t.rows - 31}) {
      const WgmmaPlan plan = wgmma_plan(*best, rows, t.columns, t.depth, *target);
      CHECK((plan.split == t.split && plan.stages == t.stages && plan.cost_us == cost));
    }
    CHECK(best->shared_bytes(t.split, t.stages) <= kernels::kWgmmaSharedBytes);
    CHECK((t.stages >= kernels::kWgmmaMinStages && t.split <= (t.depth + 63) / 64));
    for (const int64_t rows : {t.rows - 32, t.rows + 1})
      CHECK(wgmma_plan(*best, rows, t.columns, t.depth, *target).cost_us != cost);
  }
}

TEST_CASE("dot_wgmma splits the depth of small products and not that of large ones") {
  const Target* target = find_target("sm_90");
  const kernels::WgmmaTileShape& tile = *wgmma_tile("dot_wgmma_64x64_f16_sm90");
  CHECK(wgmma_plan(tile, 128, 768, 3072, *target).split > 3);
  CHECK(wgmma_plan(tile, 4096, 4096, 1024, *target).split == 1);
}

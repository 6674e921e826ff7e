#include <random>

#include "catch.h"
#include "compiler/pack/memory_plan.h"
#include "contract/expr.h"

namespace ge {
namespace {

struct Bytes {
  int64_t begin, end;
};

// Where a lifetime's bytes are under `n`, slots laid out one behind the other.
Bytes bytes_of_place(const MemoryPlan& plan, const std::vector<Lifetime>& all, size_t i, int64_t n) {
  const std::map<std::string, int64_t> symbols{{"n", n}};
  int64_t base = 0;
  for (uint32_t s = 0; s < plan.places[i].slot; ++s)
    base += (*plan.slots[s].evaluate(symbols) + 255) / 256 * 256;
  const int64_t begin = base + plan.places[i].offset_bytes;
  return {begin, begin + *all[i].size_bytes.evaluate(symbols)};
}

void check_disjoint(const std::vector<Lifetime>& all, int64_t n) {
  const MemoryPlan plan = plan_memory(all);
  const std::map<std::string, int64_t> symbols{{"n", n}};
  for (size_t i = 0; i < all.size(); ++i) {
    const Bytes a = bytes_of_place(plan, all, i, n);
    CHECK(plan.places[i].offset_bytes % 256 == 0);
    CHECK(plan.places[i].offset_bytes + *all[i].size_bytes.evaluate(symbols) <=
          *plan.slots[plan.places[i].slot].evaluate(symbols));
    for (size_t j = 0; j < i; ++j) {
      if (all[i].first > all[j].last || all[j].first > all[i].last) continue;
      const Bytes b = bytes_of_place(plan, all, j, n);
      CHECK((a.end <= b.begin || b.end <= a.begin));
    }
  }
}

TEST_CASE("values that live at once never share bytes") {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    std::vector<Lifetime> all;
    for (int i = 0; i < 40; ++i) {
      Lifetime l;
      const int64_t size = static_cast<int64_t>(random() % 5000);
      const bool symbolic = random() % 3 == 0;
      l.size_bytes = symbolic ? Dim::symbol("n") * Dim(size) : Dim(size);
      l.opt_bytes = symbolic ? size * 8 : size;
      l.first = random() % 50;
      l.last = l.first + random() % 10;
      all.push_back(l);
    }
    check_disjoint(all, 1);
    check_disjoint(all, 13);
  }
}

TEST_CASE("placing takes near linear work where few values live at once") {
  for (const bool symbolic : {false, true}) {
    const auto work = [&](uint32_t count) {
      std::vector<Lifetime> all;
      for (uint32_t i = 0; i < count; ++i) {
        const int64_t size = 256 * (1 + static_cast<int64_t>(i * 7919 % 61));
        all.push_back({symbolic ? Dim::symbol("n") * Dim(size) : Dim(size), size * (symbolic ? 8 : 1), i,
                       i + 1 + i % 3});
      }
      return plan_memory(all).work;
    };
    CHECK(work(20000) < 20000 * 100);
    CHECK(static_cast<double>(work(20000)) < 2.3 * static_cast<double>(work(10000)));
  }
}

TEST_CASE("a chain of equal sizes needs two places") {
  std::vector<Lifetime> chain;
  for (uint32_t i = 0; i < 20; ++i) chain.push_back({Dim(1000), 1000, i, i + 1});
  const MemoryPlan plan = plan_memory(chain);
  REQUIRE(plan.slots.size() == 1);
  CHECK(plan.slots[0].is_value(2048));
}

TEST_CASE("a symbolic chain shares slots of one size") {
  std::vector<Lifetime> chain;
  for (uint32_t i = 0; i < 20; ++i) chain.push_back({Dim::symbol("n") * Dim(4), 32, i, i + 1});
  const MemoryPlan plan = plan_memory(chain);
  REQUIRE(plan.slots.size() == 2);
  CHECK(plan.slots[0] == Dim::symbol("n") * Dim(4));
}

TEST_CASE("a slot's size stays within what a plan can hold of an expression") {
  std::vector<Lifetime> all;
  std::map<std::string, uint32_t> index;
  for (uint32_t i = 0; i < 600; ++i) {
    const std::string name = "s" + std::to_string(i);
    index[name] = i;
    all.push_back({Dim::symbol(name) * Dim(4), 4, 2 * i, 2 * i + 1});
  }
  const MemoryPlan plan = plan_memory(all);
  CHECK(plan.slots.size() > 1);
  CHECK(plan.slots.size() < 100);
  for (const Dim& slot : plan.slots) CHECK(slot.tokens(index).size() <= kMaxExprTokens);
}

}  // namespace
}  // namespace ge

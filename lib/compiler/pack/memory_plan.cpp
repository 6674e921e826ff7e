#include "compiler/pack/memory_plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "base/checked_math.h"
#include "contract/expr.h"
#include "contract/plan.h"

namespace ge {
namespace {

// The values placed so far, to be asked which of them live with another. A tree over all values by their
// first step holds the last step of any placed one below it: asking visits those that answer, and a path to
// each.
class Placed {
 public:
  explicit Placed(const std::vector<Lifetime>& all, const std::vector<size_t>& candidates)
      : all_(all), by_first_(candidates), leaf_(all.size(), 0) {
    std::stable_sort(by_first_.begin(), by_first_.end(),
                     [&](size_t a, size_t b) { return all[a].first < all[b].first; });
    while (width_ < by_first_.size()) width_ *= 2;
    end_.assign(2 * width_, 0);
    for (size_t i = 0; i < by_first_.size(); ++i) leaf_[by_first_[i]] = i;
  }
  void add(size_t value) {
    for (size_t n = width_ + leaf_[value]; n > 0; n /= 2)
      end_[n] = std::max(end_[n], uint64_t{all_[value].last} + 1);
  }
  // Calls f(value) for each placed value that lives in a step in which `with` lives.
  template <class F>
  void overlapping(const Lifetime& with, F f) {
    const auto later = std::upper_bound(by_first_.begin(), by_first_.end(), with.last,
                                        [&](uint32_t step, size_t v) { return step < all_[v].first; });
    visit(1, 0, width_, static_cast<size_t>(later - by_first_.begin()), with.first, f);
  }
  int64_t visited() const { return visited_; }

 private:
  template <class F>
  void visit(size_t node, size_t begin, size_t end, size_t limit, uint32_t first, const F& f) {
    ++visited_;
    if (begin >= limit || end_[node] <= first) return;
    if (end - begin == 1) return f(by_first_[begin]);
    const size_t middle = (begin + end) / 2;
    visit(2 * node, begin, middle, limit, first, f);
    visit(2 * node + 1, middle, end, limit, first, f);
  }

  const std::vector<Lifetime>& all_;
  std::vector<size_t> by_first_, leaf_;
  size_t width_ = 1;
  std::vector<uint64_t> end_;  // 1 + the last step; 0: nothing placed
  int64_t visited_ = 0;
};

std::vector<size_t> largest_first(const std::vector<Lifetime>& all, bool is_static) {
  std::vector<size_t> order;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].size_bytes.is_static() == is_static) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return all[a].opt_bytes > all[b].opt_bytes; });
  return order;
}

// The lowest offset where `size` bytes are free among the tenants that live with it.
int64_t lowest_free(std::vector<std::pair<int64_t, int64_t>> taken, int64_t size) {
  std::sort(taken.begin(), taken.end());
  int64_t offset = 0;
  for (const auto& [begin, end] : taken) {
    if (offset + size <= begin) break;
    offset = std::max(offset, end);
  }
  return offset;
}

void place_static(const std::vector<Lifetime>& all, MemoryPlan& plan) {
  const auto order = largest_first(all, true);
  if (order.empty()) return;
  const auto slot = static_cast<uint32_t>(plan.slots.size());
  int64_t total = 0;
  Placed placed(all, order);
  for (const size_t i : order) {
    const int64_t size = align_up(*all[i].size_bytes.value(), kBufferAlignment);
    std::vector<std::pair<int64_t, int64_t>> taken;
    placed.overlapping(all[i], [&](size_t j) {
      const int64_t begin = plan.places[j].offset_bytes;
      taken.emplace_back(begin, begin + align_up(*all[j].size_bytes.value(), kBufferAlignment));
    });
    plan.places[i] = {slot, lowest_free(std::move(taken), size)};
    total = std::max(total, plan.places[i].offset_bytes + size);
    placed.add(i);
  }
  plan.work += placed.visited();
  plan.slots.push_back(total);
}

// Tenants of one slot never live at once: their lifetimes by the first step, each with its last.
using Tenants = std::map<uint32_t, uint32_t>;

bool is_free(const Tenants& tenants, const Lifetime& life) {
  const auto later = tenants.upper_bound(life.last);
  return later == tenants.begin() || std::prev(later)->second < life.first;
}

// The size of a slot that one more tenant shares; nullopt where a plan has no room for the expression. It has
// no more tokens than its text has characters.
std::optional<Dim> shared_size(const Dim& slot, const Dim& size) {
  const Dim both = Dim::max(slot, size);
  if (both.overflowed()) return std::nullopt;  // nested too deep
  return both == slot || both.to_string().size() <= kMaxExprTokens ? std::optional(both) : std::nullopt;
}

void place_symbolic(const std::vector<Lifetime>& all, MemoryPlan& plan) {
  const size_t first_slot = plan.slots.size();
  std::vector<Tenants> tenants;
  for (const size_t i : largest_first(all, false)) {
    size_t t = 0;
    std::optional<Dim> shared;
    for (; t < tenants.size(); ++t) {
      if (is_free(tenants[t], all[i])) shared = shared_size(plan.slots[first_slot + t], all[i].size_bytes);
      if (shared) break;
    }
    plan.work += static_cast<int64_t>(t) + 1;
    if (shared) {
      plan.slots[first_slot + t] = *shared;
    } else {
      tenants.emplace_back();
      plan.slots.push_back(all[i].size_bytes);
    }
    tenants[t].emplace(all[i].first, all[i].last);
    plan.places[i] = {static_cast<uint32_t>(first_slot + t), 0};
  }
}

}  // namespace

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes) {
  MemoryPlan plan;
  plan.places.resize(lifetimes.size());
  place_static(lifetimes, plan);
  place_symbolic(lifetimes, plan);
  return plan;
}

}  // namespace ge

#include "compiler/pack/memory_plan.h"

#include <algorithm>

#include "base/checked_math.h"
#include "contract/plan.h"

namespace ge {
namespace {

bool overlap(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

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
  std::vector<size_t> placed;
  for (const size_t i : order) {
    const int64_t size = align_up(*all[i].size_bytes.value(), kBufferAlignment);
    std::vector<std::pair<int64_t, int64_t>> taken;
    for (const size_t j : placed)
      if (overlap(all[i], all[j]))
        taken.emplace_back(
            plan.places[j].offset_bytes,
            plan.places[j].offset_bytes + align_up(*all[j].size_bytes.value(), kBufferAlignment));
    plan.places[i] = {slot, lowest_free(std::move(taken), size)};
    total = std::max(total, plan.places[i].offset_bytes + size);
    placed.push_back(i);
  }
  plan.slots.push_back(total);
}

void place_symbolic(const std::vector<Lifetime>& all, MemoryPlan& plan) {
  const size_t first_slot = plan.slots.size();
  std::vector<std::vector<size_t>> tenants;
  for (const size_t i : largest_first(all, false)) {
    size_t t = 0;
    while (t < tenants.size() && std::any_of(tenants[t].begin(), tenants[t].end(),
                                             [&](size_t j) { return overlap(all[i], all[j]); }))
      ++t;
    if (t == tenants.size()) {
      tenants.emplace_back();
      plan.slots.push_back(all[i].size_bytes);
    } else {
      plan.slots[first_slot + t] = Dim::max(plan.slots[first_slot + t], all[i].size_bytes);
    }
    tenants[t].push_back(i);
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

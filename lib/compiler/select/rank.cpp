// Ranking the candidates of a work; see rank.h.
#include "compiler/select/rank.h"

#include <algorithm>
#include <tuple>

namespace ge {
namespace {

bool can(const Candidate& c) {
  return c.refused.empty();
}

Candidate* find(std::vector<Candidate>& candidates, std::string_view name) {
  for (Candidate& c : candidates)
    if (can(c) && c.kernel == name) return &c;
  return nullptr;
}

// Once for each candidate, so that what a chain of preferences has at its end reaches its head.
void lower_costs_of_preferred(std::vector<Candidate>& candidates) {
  for (size_t i = 0; i < candidates.size(); ++i)
    for (Candidate& c : candidates)
      if (const Candidate* other = can(c) ? find(candidates, c.preferred_over) : nullptr)
        c.cost_us = std::min(c.cost_us, other->cost_us);
}

Candidate* preferred_over(const Candidate& best, std::vector<Candidate>& candidates) {
  for (Candidate& c : candidates)
    if (can(c) && c.preferred_over == best.kernel) return &c;
  return nullptr;
}

}  // namespace

bool rank(std::vector<Candidate>& candidates) {
  lower_costs_of_preferred(candidates);
  Candidate* best = nullptr;
  for (Candidate& c : candidates)
    if (can(c) && (best == nullptr || c.cost_us < best->cost_us)) best = &c;
  if (best == nullptr) return false;
  // As many steps as there are candidates, should rows be preferred in a circle.
  for (size_t i = 0; i < candidates.size(); ++i)
    if (Candidate* better = preferred_over(*best, candidates)) best = better;
  best->chosen = true;
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(!a.chosen, !can(a), a.cost_us) < std::tuple(!b.chosen, !can(b), b.cost_us);
  });
  return true;
}

}  // namespace ge

// Which arena bytes each temporary value gets. Entry: plan_memory.
// Static sizes are packed into one slot, largest first, at the lowest offset that is free while they live;
// symbolic ones share slots sized by the largest of their tenants. Invariant: two values that live at once
// never overlap.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/ir/dim.h"

namespace ge {

struct Lifetime {
  Dim size_bytes;
  int64_t opt_bytes = 0;         // size at the symbols' opt values, for the order
  uint32_t first = 0, last = 0;  // steps that write and last read it, inclusive
};
struct ArenaPlace {
  uint32_t slot = 0;
  int64_t offset_bytes = 0;  // multiple of 256
};
struct MemoryPlan {
  std::vector<ArenaPlace> places;  // by lifetime
  std::vector<Dim> slots;          // size in bytes of each
  int64_t work = 0;                // steps taken, as many as values times a logarithm where few live at once
};
MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes);

}  // namespace ge

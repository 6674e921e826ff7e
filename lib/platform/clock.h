// Monotonic time. Entry: monotonic_ns. Never used for anything that enters a plan.
#pragma once
#include <cstdint>
#include <ctime>

namespace ge {

inline int64_t monotonic_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

}  // namespace ge

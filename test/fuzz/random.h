// Random numbers that are the same on every machine and standard library. Entry: Random. splitmix64: a seed
// of any quality gives a sequence of its own.
#pragma once
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ge::test {

// FNV-1a: equal texts give equal seeds everywhere.
inline uint64_t hash_text(std::string_view text, uint64_t seed = 0) {
  uint64_t h = 0xcbf29ce484222325u ^ seed;
  for (const char c : text) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return h;
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // In [low, high], both ends; low where the range is empty.
  int64_t in(int64_t low, int64_t high) {
    return high <= low ? low
                       : low + static_cast<int64_t>(
                                   next() % (static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1));
  }
  bool chance(int percent) { return static_cast<int>(next() % 100) < percent; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
  double symmetric() { return 2 * unit() - 1; }
  // Mean 0, deviation 1, within -6 .. 6: sums of uniform numbers need no library's log and cos.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += unit();
    return sum;
  }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[next() % list.size()];
  }

 private:
  uint64_t state_;
};

}  // namespace ge::test

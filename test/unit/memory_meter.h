// What a reader takes: operator new is counted in a program that links this. Entry: measure, check_peak; and
// the makers of great files.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"

namespace ge::test {

int64_t live_bytes();
int64_t peak_bytes();  // the most that lived at once since forget_peak()
void forget_peak();

struct Measured {
  int64_t bytes = 0;  // at once, beside the input
  double seconds = 0;
  bool refused = false;
  std::string said;
};
template <class Read>
Measured measure(Read&& read) {
  const int64_t before = live_bytes();
  forget_peak();
  Measured m;
  {
    auto result = read();
    m.bytes = peak_bytes() - before;
    m.refused = !result.ok();
    if (m.refused) m.said = result.error().first().found;
  }
  return m;
}

constexpr size_t kSize = 4 << 20;

struct Case {
  const char* name;
  std::string bytes;
};
// That a refused file took at most `most` times its bytes, beside the texts of the fault itself.
void check_peak(const Case& c, const Measured& m, double most);

std::string repeat(const std::string& part, size_t bytes);  // until it has that many
std::string many(int count, const std::function<std::string(int)>& part);
std::string number(int i);

}  // namespace ge::test

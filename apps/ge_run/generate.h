// Generated inputs: the same numbers on every machine, thread count and version. Entry: generate.
//
// Element i of a tensor takes u = splitmix64(key + (i + 1) * 0x9e3779b97f4a7c15), key = splitmix64(seed) xor
// FNV-1a of the input's name, so every input has its own stream and any element can be made alone. From the
// high 53 bits a double in [0, 1):
//   hint "index": integers low + floor(r * (high - low)), in [low, high)     hint "unit": low + r * (high -
//   low) hint "bool", and bool inputs: r < 0.5                                    integer inputs: 0 .. 9
//   otherwise: r * 2 - 1. The value is then rounded once to the input's dtype.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "ge_run/runtime.h"

namespace ge {

enum class Generator : uint8_t { kRandom, kZeros, kOnes, kIota };
struct Generated {
  Generator kind = Generator::kRandom;
  uint64_t seed = 0;
};
// "random", "random:7", "zeros", "ones", "iota"; nullopt for anything else. bad_usage for a seed that is no
// number.
Result<std::optional<Generated>> parse_generated(const std::string& source);
// Errors: size_overflow, out_of_memory.
Result<HostTensor> generate(const Generated& what, const PortInfo& port, const std::vector<int64_t>& dims);

}  // namespace ge

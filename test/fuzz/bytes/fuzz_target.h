// What every byte fuzzer defines: one input, by libFuzzer's name and meaning, so that the same file builds
// with clang's libFuzzer, with OSS-Fuzz, and with fuzz_main.cpp, which mutates and replays where libFuzzer is
// not there. Invariant: returns 0, whatever the bytes; a broken promise of the code under test aborts.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace ge::test {

inline ByteSpan input_bytes(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}
// A property that must hold for whatever was accepted.
inline void promise(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

}  // namespace ge::test

// Damages a plan file one byte at a time and makes its checksums right again, so that what is tested is the
// checks behind them. Entry: for_each_mutation, for_each_truncation. The caller decides what "refused or
// harmless" means: reading, verifying and binding, or running too.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace ge::test {

struct Mutation {
  std::vector<std::byte> file;
  std::string what;        // "program byte 17: 0x41 -> 0xff"
  size_t file_offset = 0;  // of the changed byte
};

// Every byte of the header, the program section and every loop program ("bytecode" image) is changed to its
// eight one-bit neighbours, to 0x00 and to 0xff. Section hashes, the hash of a changed image inside the
// program, and the header's hash are made right again. `step` > 1 visits every step-th byte only. Returns the
// number of mutations.
size_t for_each_mutation(ByteSpan file, const std::function<void(const Mutation&)>& visit, size_t step = 1);
// Every proper prefix of the file, or every step-th.
void for_each_truncation(ByteSpan file, const std::function<void(ByteSpan)>& visit, size_t step = 1);

}  // namespace ge::test

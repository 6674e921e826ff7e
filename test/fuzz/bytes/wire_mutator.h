// Changes to an ONNX file that keep protobuf's framing right, so that they reach what reads the messages:
// fields are left out, doubled, moved, taken from files seen before; numbers, names and operators become
// others. Entry: mutate_wire. Invariant: bytes that parse give bytes that parse; others come back empty.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

namespace ge::test {

std::vector<uint8_t> mutate_wire(const uint8_t* data, size_t size, std::mt19937_64& random);

}  // namespace ge::test

// The fixed part of an .npy file. Private to lib/tensor_file.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/status.h"

namespace ge {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";
inline constexpr int64_t kMostNpyHeader = 1 << 20;  // bytes; numpy itself reads 10,000 unless told otherwise
inline constexpr size_t kMostNpyRank = 64;          // numpy's own limit

struct NpyPreamble {
  int64_t header_offset = 0;
  int64_t header_size = 0;
};
// From the file's first 12 bytes (or all of a shorter file).
Result<NpyPreamble> read_npy_preamble(ByteSpan prefix, int64_t file_size, const std::string& name);

}  // namespace ge

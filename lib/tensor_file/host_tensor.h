// A tensor in host memory: dense, row-major. Entry: HostTensor, make_host_tensor. Invariant: bytes.size() is
// bytes_of(dtype, product of dims).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/checked_math.h"
#include "base/status.h"
#include "numeric/dtype.h"

namespace ge {

struct HostTensor {
  DType dtype = DType::float32;
  std::vector<int64_t> dims;
  ByteBuffer bytes;
  int64_t count() const;  // elements
};

// The same, not owned.
struct TensorSpan {
  DType dtype = DType::float32;
  std::span<const int64_t> dims;
  ByteSpan bytes;
};
inline TensorSpan span_of(const HostTensor& t) {
  return {t.dtype, t.dims, t.bytes.span()};
}

// nullopt where a dim is negative or the product overflows int64, of the dims that are not 0 where one is.
MaybeInt element_count(std::span<const int64_t> dims);
MaybeInt tensor_bytes(DType dtype, std::span<const int64_t> dims);

// Allocates. Errors: size_overflow, out_of_memory.
Result<HostTensor> make_host_tensor(DType dtype, std::vector<int64_t> dims, bool zeroed = false);

// Bytes that mean one value become one, which kernels rely on: bools 0 or 1, the upper half of the last byte
// of an odd number of 4-bit elements 0. `bytes` are those of `count` elements, or the first of them.
void normalize(DType dtype, int64_t count, MutableByteSpan bytes);

std::string dims_to_string(std::span<const int64_t> dims);  // "[2, 3]"

}  // namespace ge

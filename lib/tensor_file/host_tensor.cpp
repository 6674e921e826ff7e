// Sizes of host tensors, checked, and their memory.
#include "tensor_file/host_tensor.h"

#include <algorithm>

namespace ge {

// Strides are made of the dims that are not 0, so [2^40, 2^40, 0] overflows too (NumPy refuses it as well),
// in whatever order.
MaybeInt element_count(std::span<const int64_t> dims) {
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; })) return std::nullopt;
  MaybeInt count = 1;
  for (const int64_t d : dims) {
    count = checked_mul(*count, std::max<int64_t>(d, 1));
    if (!count) return std::nullopt;
  }
  return std::find(dims.begin(), dims.end(), 0) != dims.end() ? 0 : count;
}

MaybeInt tensor_bytes(DType dtype, std::span<const int64_t> dims) {
  const MaybeInt count = element_count(dims);
  if (!count) return std::nullopt;
  if (*count == 0) {  // what its strides reach, too
    std::vector<int64_t> others(dims.begin(), dims.end());
    std::replace(others.begin(), others.end(), int64_t{0}, int64_t{1});
    return tensor_bytes(dtype, others) ? MaybeInt(0) : std::nullopt;
  }
  const MaybeInt bits = checked_mul(*count, bits_of(dtype));
  const MaybeInt rounded = bits ? checked_add(*bits, 7) : std::nullopt;
  if (!rounded) return std::nullopt;
  return *rounded / 8;
}

int64_t HostTensor::count() const {
  return element_count(dims).value_or(0);
}

void normalize(DType dtype, int64_t count, MutableByteSpan bytes) {
  if (is_bool(dtype))
    for (std::byte& b : bytes) b = std::byte{b != std::byte{0}};
  const bool whole = static_cast<int64_t>(bytes.size()) == count / 2 + 1;
  if (bits_of(dtype) == 4 && count % 2 != 0 && whole) bytes.back() &= std::byte{0xf};
}

std::string dims_to_string(std::span<const int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

Result<HostTensor> make_host_tensor(DType dtype, std::vector<int64_t> dims, bool zeroed) {
  const MaybeInt size = tensor_bytes(dtype, dims);
  if (!size) {
    return fail(Code::size_overflow)
        .say("tensor size overflows")
        .because(std::string(name_of(dtype)) + " " + dims_to_string(dims) +
                 " has more than 2^63 bits, or a negative dim");
  }
  HostTensor tensor{dtype, std::move(dims), ByteBuffer::allocate(static_cast<size_t>(*size), zeroed)};
  if (!tensor.bytes.data()) {
    return fail(Code::out_of_memory)
        .say("out of memory")
        .because(std::to_string(*size) + " bytes for " + std::string(name_of(dtype)) + " " +
                 dims_to_string(tensor.dims));
  }
  return tensor;
}

}  // namespace ge

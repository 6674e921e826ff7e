// Strided rows of any real type as dense floats, and back. Entry: read_floats, write_floats, add_floats.
#pragma once
#include <cstring>

#include "contract/tensor_view.h"
#include "numeric/convert.h"

namespace ge::kernels {

inline const char* address_of(const TensorView& view, int64_t offset) {
  return static_cast<const char*>(view.data) + offset * (bits_of(view.dtype) / 8);
}

// out[i] = view[offset + i * stride].
inline void read_floats(const TensorView& view, int64_t offset, int64_t stride, int64_t count, float* out) {
  if (view.dtype == DType::float32) {
    const float* in = reinterpret_cast<const float*>(address_of(view, offset));
    if (stride == 1) {
      std::memcpy(out, in, static_cast<size_t>(count) * sizeof(float));
      return;
    }
    for (int64_t i = 0; i < count; ++i) out[i] = in[i * stride];
    return;
  }
  if (stride == 1) return convert_to_float(view.dtype, address_of(view, offset), count, out);
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<float>(load_as_double(view.dtype, view.data, offset + i * stride));
}

inline void add_floats(const TensorView& view, int64_t offset, int64_t stride, int64_t count, float* out) {
  if (view.dtype == DType::float32) {
    const float* in = reinterpret_cast<const float*>(address_of(view, offset));
    for (int64_t i = 0; i < count; ++i) out[i] += in[i * stride];
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    out[i] += static_cast<float>(load_as_double(view.dtype, view.data, offset + i * stride));
}

inline void write_floats(const float* values, int64_t count, const TensorView& view, int64_t offset,
                         int64_t stride) {
  if (stride == 1)
    return convert_from_float(values, count, view.dtype, const_cast<char*>(address_of(view, offset)));
  for (int64_t i = 0; i < count; ++i)
    store_from_double(view.dtype, view.data, offset + i * stride, values[i]);
}

}  // namespace ge::kernels

// Elements on the device: storage types, conversions by PTX, and dtype-erased access for the generic kernels.
// Entry: Half, BHalf, to_float, from_float; load_element<T>, store_element. Rules as numeric/convert.h.
#pragma once
#include "contract/tensor_view.h"

namespace ge::kernels {

struct Half {
  unsigned short bits;
};
struct BHalf {
  unsigned short bits;
};

__device__ __forceinline__ float to_float(float v) {
  return v;
}
__device__ __forceinline__ float to_float(Half v) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(v.bits));
  return f;
}
__device__ __forceinline__ float to_float(BHalf v) {
  return __uint_as_float(static_cast<unsigned>(v.bits) << 16);
}

template <class T>
__device__ __forceinline__ T from_float(float v);
template <>
__device__ __forceinline__ float from_float<float>(float v) {
  return v;
}
template <>
__device__ __forceinline__ Half from_float<Half>(float v) {
  Half h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h.bits) : "f"(v));
  return h;
}
template <>
__device__ __forceinline__ BHalf from_float<BHalf>(float v) {
  BHalf h;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h.bits) : "f"(v));
  return h;
}

template <class T>
__device__ __forceinline__ const T* pointer_to(const TensorView& view, int64_t offset) {
  return static_cast<const T*>(view.data) + offset;
}

__device__ __forceinline__ bool is_real(DType dtype) {
  return dtype <= DType::bfloat16;
}

// Real types as double.
__device__ inline double load_real(const TensorView& view, int64_t offset) {
  switch (view.dtype) {
    case DType::float64:
      return *pointer_to<double>(view, offset);
    case DType::float32:
      return *pointer_to<float>(view, offset);
    case DType::float16:
      return to_float(*pointer_to<Half>(view, offset));
    default:
      return to_float(*pointer_to<BHalf>(view, offset));
  }
}
__device__ inline void store_real(const TensorView& view, int64_t offset, double value) {
  switch (view.dtype) {
    case DType::float64:
      static_cast<double*>(view.data)[offset] = value;
      return;
    case DType::float32:
      static_cast<float*>(view.data)[offset] = static_cast<float>(value);
      return;
    case DType::float16:
      static_cast<Half*>(view.data)[offset] = from_float<Half>(static_cast<float>(value));
      return;
    default:
      static_cast<BHalf*>(view.data)[offset] = from_float<BHalf>(static_cast<float>(value));
      return;
  }
}
// Integers and bool as int64 (uint64 as its bits).
__device__ inline int64_t load_integer(const TensorView& view, int64_t offset) {
  switch (view.dtype) {
    case DType::int32:
      return *pointer_to<int>(view, offset);
    case DType::int16:
      return *pointer_to<short>(view, offset);
    case DType::int8:
      return *pointer_to<signed char>(view, offset);
    case DType::uint32:
      return *pointer_to<unsigned>(view, offset);
    case DType::uint16:
      return *pointer_to<unsigned short>(view, offset);
    case DType::uint8:
      return *pointer_to<unsigned char>(view, offset);
    case DType::boolean:
      return *pointer_to<unsigned char>(view, offset) != 0;
    default:
      return *pointer_to<int64_t>(view, offset);
  }
}
__device__ inline void store_integer(const TensorView& view, int64_t offset, int64_t value) {
  switch (view.dtype) {
    case DType::int32:
    case DType::uint32:
      static_cast<int*>(view.data)[offset] = static_cast<int>(value);
      return;
    case DType::int16:
    case DType::uint16:
      static_cast<short*>(view.data)[offset] = static_cast<short>(value);
      return;
    case DType::int8:
    case DType::uint8:
      static_cast<signed char*>(view.data)[offset] = static_cast<signed char>(value);
      return;
    case DType::boolean:
      static_cast<unsigned char*>(view.data)[offset] = value != 0;
      return;
    default:
      static_cast<int64_t*>(view.data)[offset] = value;
      return;
  }
}
// T: double or int64_t.
template <class T>
__device__ __forceinline__ T load_element(const TensorView& view, int64_t offset);
template <>
__device__ __forceinline__ double load_element<double>(const TensorView& view, int64_t offset) {
  return load_real(view, offset);
}
template <>
__device__ __forceinline__ int64_t load_element<int64_t>(const TensorView& view, int64_t offset) {
  return load_integer(view, offset);
}
__device__ __forceinline__ void store_element(const TensorView& view, int64_t offset, double value) {
  store_real(view, offset, value);
}
__device__ __forceinline__ void store_element(const TensorView& view, int64_t offset, int64_t value) {
  store_integer(view, offset, value);
}

}  // namespace ge::kernels

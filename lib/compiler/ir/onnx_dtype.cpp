#include "compiler/ir/onnx_dtype.h"

#include <utility>

namespace ge {
namespace {
constexpr std::pair<int64_t, DType> kOnnxNumbers[] = {
    {1, DType::float32},   {2, DType::uint8},         {3, DType::int8},        {4, DType::uint16},
    {5, DType::int16},     {6, DType::int32},         {7, DType::int64},       {9, DType::boolean},
    {10, DType::float16},  {11, DType::float64},      {12, DType::uint32},     {13, DType::uint64},
    {16, DType::bfloat16}, {17, DType::float8e4m3fn}, {19, DType::float8e5m2}, {21, DType::uint4},
    {22, DType::int4}};
}  // namespace

std::optional<DType> dtype_from_onnx(int64_t number) {
  for (const auto& [n, dtype] : kOnnxNumbers) {
    if (n == number) return dtype;
  }
  return std::nullopt;
}

int64_t onnx_number(DType dtype) {
  for (const auto& [n, d] : kOnnxNumbers) {
    if (d == dtype) return n;
  }
  return 0;
}

}  // namespace ge

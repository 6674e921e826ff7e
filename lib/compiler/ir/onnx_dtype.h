// The numbers that stand for element types in ONNX files and attributes. Entry: dtype_from_onnx, onnx_number.
#pragma once
#include <cstdint>
#include <optional>

#include "numeric/dtype.h"

namespace ge {

// The dtype an ONNX TensorProto number stands for; nullopt where ge has none.
std::optional<DType> dtype_from_onnx(int64_t number);
int64_t onnx_number(DType dtype);

}  // namespace ge

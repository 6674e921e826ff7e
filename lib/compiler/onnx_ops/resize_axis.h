// One axis of Resize: where each output position reads, and with which weights. Entry: resize_axis,
// resize_repeats, resize_outside.
#pragma once
#include <optional>
#include <string>

#include "compiler/onnx_ops/op_context.h"

namespace ge {

// What all axes share: the attributes of the node, checked.
struct ResizeRule {
  std::string mode, coordinates, rounding;  // mode, coordinate_transformation_mode, nearest_mode
  bool antialias = false, exclude_outside = false;
  double cubic_a = -0.75;
};

// One axis to resize. `scale` is known where it is a constant: given, or the quotient of static sizes.
struct ResizeAxis {
  int64_t axis = 0;
  Dim in, out;
  std::optional<float> scale;
  float roi_start = 0, roi_end = 1;
};

// x resized along one axis, in x's own type: any for nearest, float32 or float64 for the others. Coordinates
// are float32, computed as ONNX Runtime does (a scale of 0.6f puts pixel 3 at 5, not at 4.9999998); weights
// are taken in float64 from there. ONNX Resize, opset 13 to 19.
ValueId resize_axis(OpContext& c, ValueId x, const ResizeRule& rule, const ResizeAxis& axis);

// The whole number of times that each element stands along the axis, where position o reads o / scale;
// nullopt where it is not so.
std::optional<int64_t> resize_repeats(const ResizeRule& rule, const ResizeAxis& axis);

// bool[out]: the positions that tf_crop_and_resize puts outside the input.
ValueId resize_outside(OpContext& c, const ResizeRule& rule, const ResizeAxis& axis);

}  // namespace ge

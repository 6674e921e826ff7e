// Reading a tensor between its elements, which GridSample, DeformConv and RoiAlign share. Entry:
// sample_points.
//
// A place along an axis becomes a few taps: elements with weights. A point's value is the sum over all
// combinations of its axes' taps of the product of their weights times the element.
#pragma once
#include <vector>

#include "compiler/onnx_ops/op_context.h"

namespace ge {

enum class Outside : uint8_t {
  kZero,
  kNearest,
  kReflected
};  // what lies outside: 0, the nearest element, the reflected one

// One element of an axis for each point. Arrays have the points' shape.
struct Tap {
  ValueId index;           // int64, always within the axis
  ValueId weight = kNone;  // kNone: 1
  ValueId valid = kNone;   // bool, where the element counts; kNone: everywhere
};

struct AxisRule {
  Dim size;
  Outside outside = Outside::kZero;
  bool to_edges = false;  // reflection is about -0.5 and size - 0.5, not about the first and last element
};

// Taps of places in elements (float32 or float64; 0 is the first element's middle).
std::vector<Tap> nearest_taps(OpContext& c, ValueId place, const AxisRule& rule);  // halves to even
std::vector<Tap> linear_taps(OpContext& c, ValueId place, const AxisRule& rule);
std::vector<Tap> cubic_taps(OpContext& c, ValueId place, const AxisRule& rule);  // Keys, a = -0.75

// `place` moved into the axis as `outside` says; as it is for kZero.
ValueId inside(OpContext& c, ValueId place, const AxisRule& rule);

// x [batch, channels, spatial...] at points [batch, points]: [batch, channels, points]. Weights have x's
// type; taps are those of each spatial axis.
ValueId sample_points(OpContext& c, ValueId x, const std::vector<std::vector<Tap>>& taps);

}  // namespace ge

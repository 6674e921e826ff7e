// Cast and CastLike. Out of range values saturate, as core cast does; to float8e4m3fn they become NaN where
// saturate = 0.
#include <limits>

#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

// Magnitudes above this round past 448, the largest number of float8e4m3fn.
constexpr double kFloat8Overflow = 464;

ValueId cast_overflowing(OpContext& c, ValueId x) {
  Builder& b = c.build();
  const ValueId wide = b.cast(x, c.dtype(x) == DType::float64 ? DType::float64 : DType::float32);
  const ValueId over = b.map(Op::greater, {b.map(Op::abs, {wide}), c.scalar_like(wide, kFloat8Overflow)});
  const ValueId nan = b.constant(splat(DType::float8e4m3fn, {}, std::numeric_limits<double>::quiet_NaN()));
  return b.map(Op::select, {over, nan, b.cast(x, DType::float8e4m3fn)});
}

Results cast_to(OpContext& c, DType to) {
  const ValueId x = c.in(0);
  const bool saturates = !c.op().attribute("saturate") || c.int_attr("saturate") != 0;
  if (saturates || !is_float(c.dtype(x)) || c.dtype(x) == to) return c.build().cast(x, to);
  if (to == DType::float8e4m3fn) return cast_overflowing(c, x);
  if (to != DType::float8e5m2) return c.build().cast(x, to);
  return c.fail(
      c.about_attr("saturate", Code::unsupported_feature, "casts to float8e5m2 always saturate here")
          .because("found saturate = 0")
          .try_("remove \"saturate\""));
}

}  // namespace

Results lower_cast(OpContext& c) {
  return cast_to(c, c.dtype_attr("to"));
}
Results lower_cast_like(OpContext& c) {
  return cast_to(c, c.dtype(c.in(1)));
}

}  // namespace ge

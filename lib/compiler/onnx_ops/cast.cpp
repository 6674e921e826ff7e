// Cast and CastLike. Out of range values saturate, as core cast does; to float8e4m3fn they become NaN where
// saturate = 0.
#include <limits>

#include "compiler/onnx_ops/conversion.h"

namespace ge {
namespace {

// Magnitudes above this round past 448, the largest number of float8e4m3fn.
constexpr double kE4m3Overflow = 464;

ValueId cast_to_e4m3(OpContext& c, ValueId x, ValueId wide) {
  Builder& b = c.build();
  const ValueId over = b.map(Op::greater, {b.map(Op::abs, {wide}), c.scalar_like(wide, kE4m3Overflow)});
  const ValueId nan = b.constant(splat(DType::float8e4m3fn, {}, std::numeric_limits<double>::quiet_NaN()));
  return b.map(Op::select, {over, nan, b.cast(x, DType::float8e4m3fn)});
}

}  // namespace

ValueId convert_saturating(OpContext& c, ValueId x, DType to, bool saturates) {
  const bool overflows = to == DType::float8e4m3fn || to == DType::float8e5m2;
  if (saturates || !overflows || !is_float(c.dtype(x)) || c.dtype(x) == to) return c.convert(x, to);
  if (to == DType::float8e4m3fn)
    return cast_to_e4m3(c, x,
                        c.build().cast(x, c.dtype(x) == DType::float64 ? DType::float64 : DType::float32));
  return c.fail(
      c.about_attr("saturate", Code::unsupported_feature, "casts to float8e5m2 always saturate here")
          .because("found saturate = 0")
          .try_("remove \"saturate\""));
}

Results lower_cast(OpContext& c) {
  const bool saturates = !c.op().attribute("saturate") || c.int_attr("saturate") != 0;
  return convert_saturating(c, c.in(0), c.dtype_attr("to"), saturates);
}
Results lower_cast_like(OpContext& c) {
  return convert_saturating(c, c.in(0), c.dtype(c.in(1)), c.int_attr("saturate") != 0);
}

}  // namespace ge

// Cast and CastLike. Out of range values saturate, as core cast does; to float8 they become NaN or infinity
// where saturate = 0.
#include <limits>

#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

struct Float8 {
  DType dtype;
  double overflow;   // magnitudes above this round past the largest number
  bool overflow_at;  // and this one too
  uint8_t bits;      // what overflow gives: NaN, or infinity with its sign
};
constexpr Float8 kFloat8[] = {{DType::float8e4m3fn, 464, false, 0x7f},
                              {DType::float8e5m2, 61440, true, 0x7c}};

const Float8* float8_info(DType dtype) {
  for (const Float8& info : kFloat8) {
    if (info.dtype == dtype) return &info;
  }
  return nullptr;
}

// A scalar of these bits: a conversion would saturate it.
ValueId float8_constant(OpContext& c, DType dtype, uint8_t bits) {
  const std::byte element{bits};
  return c.build().constant(
      {dtype, {}, std::make_shared<const ByteBuffer>(ByteBuffer::copy_of({&element, 1})), false, nullptr});
}

ValueId cast_overflowing(OpContext& c, ValueId x, const Float8& to) {
  Builder& b = c.build();
  const ValueId wide = b.cast(x, c.dtype(x) == DType::float64 ? DType::float64 : DType::float32);
  const ValueId over = b.map(to.overflow_at ? Op::greater_equal : Op::greater,
                             {b.map(Op::abs, {wide}), c.scalar_like(wide, to.overflow)});
  const ValueId negative = b.map(Op::less, {wide, c.scalar_like(wide, 0)});
  const ValueId past = b.map(Op::select, {negative, float8_constant(c, to.dtype, to.bits | 0x80),
                                          float8_constant(c, to.dtype, to.bits)});
  return b.map(Op::select, {over, past, b.cast(x, to.dtype)});
}

Results cast_to(OpContext& c, DType to) {
  const Float8* float8 = float8_info(to);
  const bool saturates = !c.op().attribute("saturate") || c.int_attr("saturate") != 0;
  if (float8 && !saturates && is_float(c.dtype(c.in(0))) && c.dtype(c.in(0)) != to)
    return cast_overflowing(c, c.in(0), *float8);
  return c.build().cast(c.in(0), to);
}

}  // namespace

Results lower_cast(OpContext& c) {
  return cast_to(c, c.dtype_attr("to"));
}
Results lower_cast_like(OpContext& c) {
  return cast_to(c, c.dtype(c.in(1)));
}

}  // namespace ge

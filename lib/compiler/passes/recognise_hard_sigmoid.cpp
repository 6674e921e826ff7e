// hard_sigmoid from clamp(a * x + b, 0, m) / m. In 16 bits only where a / m and b / m are numbers of the
// type: 1/6 is none, and rounding it would show in all results.
#include "compiler/passes/pattern.h"
#include "numeric/convert.h"

namespace ge {

namespace {
bool keeps_its_digits(DType dtype, double value) {
  std::byte bytes[8];
  store_from_double(dtype, bytes, 0, value);
  return bits_of(dtype) >= 32 || load_as_double(dtype, bytes, 0) == value;
}
}  // namespace

bool match_hard_sigmoid(Pattern& p) {
  const Node& clamp = p.anchor();
  const auto low = p.number(clamp.operands[1]), high = p.number(clamp.operands[2]);
  const auto ways = p.affine_of(clamp.operands[0]);
  if (!low || *low != 0 || !high || !(*high > 0) || ways.size() < 2) return false;
  ValueId root = p.user(p.result(), {{p.result(), {}}}, {{1 / *high, {1}}});
  if (root == kNone && p.close(*high, 1)) root = p.result();
  const Affine in = ways.back();
  const DType dtype = p.graph().type(in.x).dtype;
  if (!keeps_its_digits(dtype, in.scale / *high) || !keeps_its_digits(dtype, in.offset / *high)) return false;
  return p.replace(root, {in.x}, [&](Builder& b) {
    const Type type = b.type(in.x);
    const auto spread = [&](double c) { return b.broadcast(b.scalar(type.dtype, c), type.dims); };
    return b.op(Op::hard_sigmoid, {in.x, spread(in.scale / *high), spread(in.offset / *high)});
  });
}

}  // namespace ge

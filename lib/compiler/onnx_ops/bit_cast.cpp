// BitCast: the bits of the input as another dtype of the same width. Between integers (bool among them) core
// cast keeps the bits, as it wraps, and loops take it in; floats go through core bitcast. To bool, any number
// but 0 is true: a bool has no other bits here.
#include "compiler/onnx_ops/op_context.h"

namespace ge {

Results lower_bit_cast(OpContext& c) {
  const ValueId x = c.in(0);
  const DType from = c.dtype(x), to = c.dtype_attr("to");
  if (c.failed()) return kNone;
  // What was declared with 4 bits has 8 here, and is of the same width as another 4.
  const bool nibbles = bits_of(to) < 8 && bits_of(from) == 8 && !is_float(from);
  if (bits_of(from) != bits_of(to) && !nibbles) {
    return c.fail(c.about_attr("to", Code::bad_attribute, "the dtype must be as wide as the input's")
                      .because("found " + std::string(name_of(to)) + ", " + std::to_string(bits_of(to)) +
                               " bits, for " + c.describe(x)));
  }
  if (from == to || (!is_float(from) && !is_float(to))) return c.convert(x, to);
  if (is_bool(to)) {  // a float's bits as a byte, then whether there are any
    Builder& b = c.build();
    return b.cast(b.op(Op::bitcast, {x}, {{"to", DType::uint8}}), DType::boolean);
  }
  return c.build().op(Op::bitcast, {x}, {{"to", to}});
}

}  // namespace ge

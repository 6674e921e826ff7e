// Cast and CastLike. Out of range values saturate, as core cast does; float8 without saturation is refused.
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

bool is_float8(DType t) { return is_float(t) && bits_of(t) == 8; }

Results cast_to(OpContext& c, DType to) {
  if (is_float8(to) && c.op().attribute("saturate") && c.int_attr("saturate") == 0) {
    return c.fail(c.about_attr("saturate", Code::unsupported_feature, "casts to float8 always saturate here")
                      .because("found saturate = 0")
                      .try_("remove \"saturate\""));
  }
  return c.build().cast(c.in(0), to);
}

}  // namespace

Results lower_cast(OpContext& c) { return cast_to(c, c.dtype_attr("to")); }
Results lower_cast_like(OpContext& c) { return cast_to(c, c.dtype(c.in(1))); }

}  // namespace ge

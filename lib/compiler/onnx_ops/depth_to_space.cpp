// DepthToSpace and SpaceToDepth: a transpose between two reshapes of [N, C, H, W].
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

// The block size, checked; 0 after a failure.
int64_t block_size(OpContext& c) {
  const int64_t size = c.int_attr("blocksize");
  if (c.rank(c.in(0)) != 4) {
    c.fail(c.about_input(0, Code::operand_rank, "'input' must be [N, C, H, W]")
               .because("found " + c.describe(c.in(0))));
  } else if (size < 1 || size > INT32_MAX) {
    c.fail(c.about_attr("blocksize", Code::bad_attribute, "blocksize is not valid")
               .because("found " + std::to_string(size) + ", allowed 1 and up"));
  }
  return c.failed() ? 0 : size;
}

// Which part of a channel's number counts first: the depth's, or the block's. Older versions know the first
// alone.
std::string channel_order(OpContext& c) {
  return c.op().attribute("mode") ? c.string_attr("mode") : "DCR";
}

// dim / divisor, which must leave no rest.
Dim whole_part(OpContext& c, const Dim& dim, int64_t divisor) {
  const Dim part = Dim::floor_div(dim, Dim(divisor));
  c.require_equal(part * Dim(divisor), dim, "blocksize does not divide " + dim.to_string());
  return part;
}

}  // namespace

Results lower_depth_to_space(OpContext& c) {
  Builder& b = c.build();
  const Dim block = block_size(c);
  const std::string mode = channel_order(c);
  if (c.failed()) return kNone;
  const Dims d = c.dims(c.in(0));
  const Dim depth = whole_part(c, d[1], *(block * block).value());
  const bool first = mode == "DCR";
  const ValueId blocks = b.reshape(c.in(0), first ? Dims{d[0], block, block, depth, d[2], d[3]}
                                                  : Dims{d[0], depth, block, block, d[2], d[3]});
  const ValueId moved = b.transpose(
      blocks, first ? std::vector<int64_t>{0, 3, 4, 1, 5, 2} : std::vector<int64_t>{0, 1, 4, 2, 5, 3});
  return b.reshape(moved, {d[0], depth, d[2] * block, d[3] * block});
}

Results lower_space_to_depth(OpContext& c) {
  Builder& b = c.build();
  const Dim block = block_size(c);
  const std::string mode = channel_order(c);
  if (c.failed()) return kNone;
  const Dims d = c.dims(c.in(0));
  const Dim rows = whole_part(c, d[2], *block.value()), columns = whole_part(c, d[3], *block.value());
  const ValueId blocks = b.reshape(c.in(0), {d[0], d[1], rows, block, columns, block});
  const ValueId moved = b.transpose(blocks, mode == "DCR" ? std::vector<int64_t>{0, 3, 5, 1, 2, 4}
                                                          : std::vector<int64_t>{0, 1, 3, 5, 2, 4});
  return b.reshape(moved, {d[0], d[1] * block * block, rows, columns});
}

}  // namespace ge

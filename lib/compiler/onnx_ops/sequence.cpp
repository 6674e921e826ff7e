// ReverseSequence and TensorScatter: elements of each batch moved along an axis by a number that the batch
// has of its own.
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

// Input `i`, a vector of one number for each of `batch`, laid along axis `axis` of rank `rank`.
ValueId per_batch(OpContext& c, size_t i, const Dim& batch, int64_t axis, int64_t rank) {
  if (c.rank(c.in(i)) != 1) {
    return c.fail(c.about_input(i, Code::operand_rank, "'" + c.op().input_name(i) + "' must be a vector")
                      .because("found " + c.describe(c.in(i))));
  }
  c.require_equal(c.dims(c.in(i))[0], batch,
                  "'" + c.op().input_name(i) + "' needs one number for each batch");
  if (c.failed()) return kNone;
  Dims shape(static_cast<size_t>(rank), Dim(1));
  shape[static_cast<size_t>(axis)] = batch;
  return c.build().reshape(c.in(i), shape);
}

}  // namespace

// Element t of a batch is element length - 1 - t where t < length, else itself.
Results lower_reverse_sequence(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  const int64_t batch = c.int_attr("batch_axis"), time = c.int_attr("time_axis"), rank = c.rank(x);
  if (rank < 2)
    return c.fail(c.about_input(0, Code::operand_rank, "'input' must have rank 2 or more")
                      .because("found " + c.describe(x)));
  if (batch + time != 1 || batch * time != 0) {
    return c.fail(c.about_attr("batch_axis", Code::bad_attribute, "batch_axis and time_axis must be 0 and 1")
                      .because("found " + std::to_string(batch) + " and " + std::to_string(time)));
  }
  const Dims dims = c.dims(x);
  const ValueId length = per_batch(c, 1, dims[static_cast<size_t>(batch)], batch, rank);
  if (c.failed()) return kNone;
  Dims line(dims.size(), Dim(1));
  line[static_cast<size_t>(time)] = dims[static_cast<size_t>(time)];
  const ValueId at = c.positions(line, time);
  const ValueId mirrored = b.map(Op::sub, {b.map(Op::sub, {length, c.size_scalar(Dim(1))}), at});
  const ValueId index = b.map(Op::select, {b.map(Op::less, {at, length}), mirrored, at});
  const ValueId everywhere = b.broadcast(index, dims);
  if (c.failed()) return kNone;
  return b.op(Op::gather, {x, everywhere}, {{"axis", time}, {"elements", int64_t{1}}});
}

// The update's element s of a batch goes to write_indices + s, modulo the cache's length where mode is
// circular.
Results lower_tensor_scatter(OpContext& c) {
  Builder& b = c.build();
  const ValueId cache = c.in(0), update = c.in(1);
  const int64_t rank = c.rank(cache), axis = c.axis_attr("axis", rank, cache);
  const std::string mode = c.string_attr("mode");
  if (c.failed()) return kNone;
  if (axis == 0) {
    return c.fail(c.about_attr("axis", Code::bad_attribute, "axis names the batch")
                      .because("found 0, allowed 1 .. " + std::to_string(rank - 1)));
  }
  if (c.rank(update) != rank) {
    return c.fail(c.about_input(1, Code::operand_rank, "'update' must have the cache's rank")
                      .because("found " + c.describe(update) + " beside " + c.describe(cache)));
  }
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      c.require_equal(c.dims(update)[i], c.dims(cache)[i],
                      "dim " + std::to_string(i) + " of cache and update differ");
  const Dims dims = c.dims(update);
  Dims line(dims.size(), Dim(1));
  line[static_cast<size_t>(axis)] = dims[static_cast<size_t>(axis)];
  ValueId index = c.positions(line, axis);
  if (c.has(2)) index = b.map(Op::add, {index, per_batch(c, 2, dims[0], 0, rank)});
  if (c.failed()) return kNone;
  if (mode == "circular") index = b.map(Op::mod, {index, c.size_scalar(c.dims(cache)[axis])});
  const ValueId everywhere = b.broadcast(index, dims);
  if (c.failed()) return kNone;
  return b.op(Op::scatter, {cache, everywhere, update},
              {{"kind", std::string("none")}, {"axis", axis}, {"elements", int64_t{1}}});
}

}  // namespace ge

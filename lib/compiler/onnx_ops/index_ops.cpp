// GatherElements, GatherND, ScatterElements, ScatterND, TopK and CumSum on core gather, scatter, sort_topk
// and scan. Tuples of indices become positions in the flattened leading dims; where a part of a tuple is out
// of range, so is its position, and the run notes it.
#include "compiler/ir/constant_indices.h"
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

// The tuple's part `index` for an axis of `extent`: counted from the front; `bad` holds where it is out of
// range.
struct Part {
  ValueId position, bad;
};
Part normalized(OpContext& c, ValueId index, const Dim& extent) {
  Builder& b = c.build();
  const ValueId zero = b.scalar(DType::int64, 0), size = c.size_scalar(extent);
  const ValueId position =
      b.map(Op::select, {b.map(Op::less, {index, zero}), b.map(Op::add, {index, size}), index});
  return {position, b.map(Op::logical_or,
                          {b.map(Op::less, {position, zero}), b.map(Op::greater_equal, {position, size})})};
}

// The tuples along the last axis of `indices` as positions in data's dims [batch, batch + length) flattened,
// below the leading `batch` dims, which data and indices share. Out of range: at or beyond the number of
// positions.
ValueId flat_positions(OpContext& c, const Dims& data, ValueId indices, int64_t batch, int64_t length) {
  Builder& b = c.build();
  Dims shape = c.dims(indices);
  shape.pop_back();
  if (batch == 0 && length == 1) return b.reshape(indices, shape);  // gather counts from the end itself
  const Dim total = product(data, 0, static_cast<size_t>(batch + length));
  ValueId flat = kNone, bad = kNone;
  for (int64_t i = 0; i < batch + length && !c.failed(); ++i) {
    ValueId position;
    if (i < batch) {
      position = c.positions(shape, i);
    } else {
      const ValueId part = c.slice_axis(indices, c.rank(indices) - 1, Dim(i - batch), Dim(1));
      const Part p = normalized(c, b.reshape(part, shape), data[static_cast<size_t>(i)]);
      position = p.position;
      bad = bad == kNone ? p.bad : b.map(Op::logical_or, {bad, p.bad});
    }
    flat =
        flat == kNone
            ? position
            : b.map(Op::add, {b.map(Op::mul, {flat, c.size_scalar(data[static_cast<size_t>(i)])}), position});
  }
  return b.map(Op::select, {bad, c.size_scalar(total), flat});
}

// The length of the tuples: a plain number, between 1 and the dims of data that are left.
int64_t tuple_length(OpContext& c, int64_t batch) {
  const Dims& data = c.dims(c.in(0));
  const Dims& indices = c.dims(c.in(1));
  if (data.empty() || indices.empty()) {
    const size_t which = data.empty() ? 0 : 1;
    c.fail(c.about_input(which, Code::operand_rank,
                         "'" + c.op().input_name(which) + "' must have at least one dim")
               .because("found " + c.describe(c.in(which))));
    return 0;
  }
  const auto length = indices.back().value();
  const int64_t most = c.rank(c.in(0)) - batch;
  if (!length) {
    c.fail(c.about_input(1, Code::needs_constant, "the last dim of 'indices' must be a plain number")
               .because("found " + c.describe(c.in(1)))
               .try_("pin the dim with --dim NAME=N"));
    return 0;
  }
  if (*length < 1 || *length > most) {
    c.fail(c.about_input(1, Code::shape_mismatch, "the last dim of 'indices' names more axes than there are")
               .because("found " + c.describe(c.in(1)) + "; 'data' is " + c.describe(c.in(0)) +
                        ", allowed 1 .. " + std::to_string(most)));
    return 0;
  }
  return *length;
}

// [product of dims [0, to), dims from `to` on].
Dims flattened(const Dims& dims, int64_t to) {
  Dims shape{product(dims, 0, static_cast<size_t>(to))};
  shape.insert(shape.end(), dims.begin() + to, dims.end());
  return shape;
}

// "none", "add", ... as core scatter has them.
std::string reduction(OpContext& c) {
  if (!c.op().attribute("reduction")) return "none";
  const std::string kind = c.string_attr("reduction");
  const DType dtype = c.dtype(c.in(0));
  if (kind != "none" && is_float(dtype) && bits_of(dtype) == 8) {
    c.fail(c.about_attr("reduction", Code::operand_dtype, "float8 elements are not combined")
               .because("found " + c.describe(c.in(0)))
               .try_("cast to float16 before, and back after"));
    return "none";
  }
  return kind;
}

}  // namespace

// Only indices that the compiler knows can be told here; others are checked as the run meets them.
bool indices_in_range(OpContext& c, size_t input, int64_t first_axis, int64_t axes) {
  const Dims& data = c.dims(c.in(0));
  const auto from = data.begin() + first_axis;
  auto found = find_bad_index(c.graph(), c.in(input), Dims(from, from + axes));
  if (!found.ok()) {
    c.build().fail(std::move(found).take_error());
    return false;
  }
  if (!*found) return true;
  const BadIndex& bad = **found;
  const int64_t axis = first_axis + bad.part;
  const Dim& extent = data[static_cast<size_t>(axis)];
  const std::string allowed =
      extent.is_value(0) ? "it has no elements"
                         : "allowed " + (Dim(0) - extent).to_string() + " .. " + (extent - 1).to_string();
  c.fail(c.about_input(input, Code::index_out_of_range, "an index is out of range")
             .because("found " + bad.value + " at " + bad.position + " of " + c.describe(c.in(input)) +
                      "; axis " + std::to_string(axis) + " of " + c.describe(c.in(0)) + ": " + allowed +
                      (extent.is_static() ? "" : " (" + extent.range_text(c.graph().symbols) + ")")));
  return false;
}

Results lower_gather_elements(OpContext& c) {
  const int64_t axis = c.axis_attr("axis", c.rank(c.in(0)), c.in(0));
  if (c.failed() || !indices_in_range(c, 1, axis, 1)) return kNone;
  return c.build().op(Op::gather, {c.in(0), c.in(1)}, {{"axis", axis}, {"elements", int64_t{1}}});
}

Results lower_scatter_elements(OpContext& c) {
  const int64_t axis = c.axis_attr("axis", c.rank(c.in(0)), c.in(0));
  const std::string kind = reduction(c);
  if (c.failed() || !indices_in_range(c, 1, axis, 1)) return kNone;
  return c.build().op(Op::scatter, {c.in(0), c.in(1), c.in(2)},
                      {{"kind", kind}, {"axis", axis}, {"elements", int64_t{1}}});
}

Results lower_gather_nd(OpContext& c) {
  Builder& b = c.build();
  const Dims &data = c.dims(c.in(0)), &indices = c.dims(c.in(1));
  const int64_t batch = c.int_attr("batch_dims");
  if (batch < 0 || batch >= std::min(c.rank(c.in(0)), c.rank(c.in(1)))) {
    return c.fail(c.about_attr("batch_dims", Code::bad_attribute, "batch_dims is out of range")
                      .because("found " + std::to_string(batch) + "; 'data' is " + c.describe(c.in(0)) +
                               ", 'indices' " + c.describe(c.in(1)) + ", both must have more dims"));
  }
  for (size_t i = 0; i < static_cast<size_t>(batch); ++i)
    c.require_equal(data[i], indices[i], "batch dim " + std::to_string(i) + " of data and indices differ");
  const int64_t length = c.failed() ? 0 : tuple_length(c, batch);
  if (c.failed() || !indices_in_range(c, 1, batch, length)) return kNone;
  const ValueId positions = flat_positions(c, data, c.in(1), batch, length);
  const ValueId rows = b.reshape(c.in(0), flattened(data, batch + length));
  if (c.failed()) return kNone;
  return b.op(Op::gather, {rows, positions}, {{"axis", int64_t{0}}});
}

Results lower_scatter_nd(OpContext& c) {
  Builder& b = c.build();
  const Dims data = c.dims(c.in(0));
  const int64_t length = tuple_length(c, 0);
  const std::string kind = reduction(c);
  if (c.failed() || !indices_in_range(c, 1, 0, length)) return kNone;
  const ValueId positions = flat_positions(c, data, c.in(1), 0, length);
  const ValueId rows = b.reshape(c.in(0), flattened(data, length));
  if (c.failed()) return kNone;
  const ValueId out = b.op(Op::scatter, {rows, positions, c.in(2)}, {{"kind", kind}, {"axis", int64_t{0}}});
  return b.reshape(out, data);
}

Results lower_top_k(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  const int64_t axis = c.axis_attr("axis", c.rank(x), x);
  const auto k = c.failed() ? std::nullopt : c.size_input(1, 0);
  if (!k) return kNone;
  const Dim& extent = c.graph().type(x).dims[static_cast<size_t>(axis)];
  if (const auto known = k->value(); known && extent.bounds(c.graph().symbols).max < *known) {
    return c.fail(c.about_input(1, Code::bad_attribute, "'K' is greater than the axis is long")
                      .because("K is " + std::to_string(*known) + ", axis " + std::to_string(axis) + " of " +
                               c.describe(x)));
  }
  const bool largest = !c.op().attribute("largest") || c.int_attr("largest") != 0;  // not before opset 11
  c.require_at_least(extent, *k, "'K' is greater than the axis is long");
  const ValueId indices =
      b.op(Op::sort_topk, {x}, {{"axis", axis}, {"k", Dims{*k}}, {"largest", static_cast<int64_t>(largest)}});
  if (c.failed()) return kNone;
  return std::vector<ValueId>{b.op(Op::gather, {x, indices}, {{"axis", axis}, {"elements", int64_t{1}}}),
                              indices};
}

Results lower_cum_sum(OpContext& c) {
  const ValueId x = c.in(0);
  const auto axis = c.axis_input(1, x);
  if (!axis) return kNone;
  return c.build().op(Op::scan, {x},
                      {{"kind", std::string("sum")},
                       {"axis", *axis},
                       {"exclusive", int64_t{c.int_attr("exclusive") != 0}},
                       {"reverse", int64_t{c.int_attr("reverse") != 0}}});
}

}  // namespace ge

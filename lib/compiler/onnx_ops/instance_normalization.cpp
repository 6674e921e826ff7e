// InstanceNormalization and GroupNormalization: core normalize over the dims of one channel, or of one group
// of channels, which a reshape makes the trailing ones.
#include "compiler/onnx_ops/normalization.h"

namespace ge {
namespace {

bool check_rank(OpContext& c, int64_t least) {
  if (c.rank(c.in(0)) >= least) return true;
  c.fail(c.about_input(0, Code::operand_rank,
                       "'" + c.op().input_name(0) + "' must be [N, C, " +
                           (least > 2 ? "spatial...] with at least one spatial dim" : "...]"))
             .because("found " + c.describe(c.in(0))));
  return false;
}

// layer normalization of x over the axes from `axis` on, epsilon as the attribute says.
ValueId normalized(OpContext& c, std::vector<ValueId> operands, int64_t axis) {
  if (c.failed()) return kNone;
  return c.build().op(Op::normalize, std::move(operands),
                      {{"kind", std::string("layer")}, {"axis", axis}, {"epsilon", c.float_attr("epsilon")}});
}

}  // namespace

Results lower_instance_normalization(OpContext& c) {
  const ValueId x = c.in(0);
  if (!check_rank(c, 3) || !check_vector(c, 1, c.dims(x)[1], "channel") ||
      !check_vector(c, 2, c.dims(x)[1], "channel"))
    return kNone;
  const auto whole = [&](ValueId v) { return c.build().broadcast(per_channel(c, v, c.rank(x)), c.dims(x)); };
  return normalized(c, {x, whole(c.in(1)), whole(c.in(2))}, 2);
}

// X as [N, groups, C / groups, ...]. Scale and bias are one value per group until opset 20, per channel from
// 21 on.
Results lower_group_normalization(OpContext& c) {
  Builder& b = c.build();
  const ValueId x = c.in(0);
  const int64_t groups = c.int_attr("num_groups");
  if (!check_rank(c, 2)) return kNone;
  const Dim channels = c.dims(x)[1];
  if (groups < 1 || (channels.is_static() && *channels.value() % groups != 0)) {
    return c.fail(c.about_attr("num_groups", Code::bad_attribute, "num_groups does not divide the channels")
                      .because("found " + std::to_string(groups) + "; " + c.describe(x) + " has " +
                               channels.to_string() + " channels"));
  }
  const Dim each = Dim::floor_div(channels, Dim(groups));
  c.require_equal(each * Dim(groups), channels, "num_groups does not divide the channels");
  const bool by_channel = c.op().row->since >= 21;
  for (size_t i = 1; i < 3; ++i)
    if (!check_vector(c, i, by_channel ? channels : Dim(groups), by_channel ? "channel" : "group"))
      return kNone;

  const DType own = c.dtype(x), type = statistics_type(c) == DType::float64 ? DType::float64 : own;
  Dims grouped = {c.dims(x)[0], Dim(groups), each};
  grouped.insert(grouped.end(), c.dims(x).begin() + 2, c.dims(x).end());
  const auto whole = [&](ValueId v) {
    Dims shape(grouped.size(), Dim(1));
    shape[1] = Dim(groups);
    if (by_channel) shape[2] = each;
    return b.broadcast(b.reshape(b.cast(v, type), shape), grouped);
  };
  const ValueId y = normalized(c, {b.reshape(b.cast(x, type), grouped), whole(c.in(1)), whole(c.in(2))}, 2);
  return c.failed() ? kNone : b.cast(b.reshape(y, c.dims(x)), own);
}

}  // namespace ge

// normalize_reference: exact two-pass statistics in double. Entry: normalize_reference.
#include <cmath>

#include "kernels/common/check.h"
#include "kernels/common/element.h"
#include "kernels/common/rows.h"
#include "kernels/common/strided_walk.h"
#include "kernels/launch_context.h"
#include "kernels/normalize/normalize.h"

namespace ge::kernels {
namespace {

Status check_statistic(const TensorView& x, const TensorView& out, std::string_view name, int64_t axis) {
  if (is_absent(out)) return {};
  if (out.rank != x.rank)
    return refuse(std::string(name) + " has dims " + dims_text(out) + ", x has " + dims_text(x));
  for (int i = 0; i < x.rank; ++i) {
    GE_TRY(
        check_dim(out.dims[i], i < axis ? x.dims[i] : 1, std::string(name) + "'s axis " + std::to_string(i)));
  }
  return check_writable(out, name);
}

Status check_normalize(const LaunchShape& shape) {
  const TensorView* v = shape.operands.data();
  const int64_t axis = attr_int(shape.attrs, "axis", 0);
  if (axis < 0 || axis > v[0].rank)
    return refuse("axis " + std::to_string(axis) + ", rank " + std::to_string(v[0].rank));
  static constexpr std::string_view kNames[] = {"x", "scale", "bias", "y"};
  for (int i = 1; i < 4; ++i) {
    if (is_absent(v[i])) continue;
    GE_TRY(check_same_dims(v[0], "x", v[i], kNames[i]));
    GE_TRY(check_same_dtype(v[0], "x", v[i], kNames[i]));
  }
  GE_TRY(check_statistic(v[0], v[4], "mean", axis));
  GE_TRY(check_statistic(v[0], v[5], "inv_std", axis));
  return check_writable(v[3], "y");
}

struct RowOffsets {
  int64_t x, scale, bias, y;
};

class RowNormalizer {
 public:
  explicit RowNormalizer(const NormalizeArgs& args) : args_(args), axis_(static_cast<int>(args.axis)) {
    for (int i = axis_; i < args.x.rank; ++i) count_ *= args.x.dims[i];
  }
  int64_t count() const { return count_; }

  struct Statistics {
    double mean, inv_std;
  };
  Statistics measure(int64_t x) const {
    double mean = 0;
    if (static_cast<NormalizeKind>(args_.kind) == NormalizeKind::kLayer) {
      walk_x(x, [&](double v) { mean += v; });
      mean /= static_cast<double>(count_);
    }
    double squares = 0;
    walk_x(x, [&](double v) { squares += (v - mean) * (v - mean); });
    return {mean, 1 / std::sqrt(squares / static_cast<double>(count_) + args_.epsilon)};
  }

  void write(const RowOffsets& at, Statistics s) const {
    const TensorView& scale = args_.scale.data != nullptr ? args_.scale : args_.x;
    const TensorView& bias = args_.bias.data != nullptr ? args_.bias : args_.x;
    StridedWalk<4> walk(
        args_.x.dims + axis_, args_.x.rank - axis_,
        {args_.x.strides + axis_, scale.strides + axis_, bias.strides + axis_, args_.y.strides + axis_}, 0);
    for (int64_t i = 0; i < count_; ++i, walk.next()) {
      double v = (load<double>(args_.x, at.x + walk.offset(0)) - s.mean) * s.inv_std;
      if (args_.scale.data != nullptr) v *= load<double>(scale, at.scale + walk.offset(1));
      if (args_.bias.data != nullptr) v += load<double>(bias, at.bias + walk.offset(2));
      store(args_.y, at.y + walk.offset(3), v);
    }
  }

 private:
  template <class F>
  void walk_x(int64_t x, F&& visit) const {
    StridedWalk<1> walk(args_.x.dims + axis_, args_.x.rank - axis_, {args_.x.strides + axis_}, 0);
    for (int64_t i = 0; i < count_; ++i, walk.next()) visit(load<double>(args_.x, x + walk.offset(0)));
  }
  const NormalizeArgs& args_;
  int axis_;
  int64_t count_ = 1;
};

constexpr OperandRow kOperands[] = {
    {.name = "x", .dtypes = kRealTypes},
    {.name = "scale", .dtypes = kRealTypes, .optional = true},
    {.name = "bias", .dtypes = kRealTypes, .optional = true},
    {.name = "y", .role = OperandRole::kOut, .dtypes = kRealTypes, .in_place_of = 0},
    {.name = "mean", .role = OperandRole::kOut, .dtypes = kRealTypes, .optional = true},
    {.name = "inv_std", .role = OperandRole::kOut, .dtypes = kRealTypes, .optional = true},
};
constexpr AttrRow kAttrs[] = {
    {.name = "axis", .min = 0, .max = kMaxRank},
    {.name = "epsilon", .type = AttrType::kFloat},
    {.name = "kind", .min = 0, .max = 1, .required = false},
};
constexpr ArgRow kArgs[] = {
    view_arg(offsetof(NormalizeArgs, x), 0),
    view_arg(offsetof(NormalizeArgs, scale), 1),
    view_arg(offsetof(NormalizeArgs, bias), 2),
    view_arg(offsetof(NormalizeArgs, y), 3),
    view_arg(offsetof(NormalizeArgs, mean), 4),
    view_arg(offsetof(NormalizeArgs, inv_std), 5),
    int_arg(offsetof(NormalizeArgs, axis), "axis"),
    int_arg(offsetof(NormalizeArgs, kind), "kind"),
    float_arg(offsetof(NormalizeArgs, epsilon), "epsilon"),
};

}  // namespace

extern constinit const KernelRow normalize_reference_row = {
    .name = "normalize_reference",
    .operands = kOperands,
    .attrs = kAttrs,
    .args_size = sizeof(NormalizeArgs),
    .args = kArgs,
    .check = check_normalize,
    .efficiency = kReferenceEfficiency,
    .summary = "layer and rms norm over trailing axes, in double",
};

void normalize_reference(const void* raw, const LaunchContext& context) {
  const NormalizeArgs& args = *static_cast<const NormalizeArgs*>(raw);
  const RowNormalizer rows(args);
  int64_t outer = 1;
  for (int i = 0; i < args.axis; ++i) outer *= args.x.dims[i];
  context.parallel_for(outer, grain_for(rows.count() * 4), [&](int64_t begin, int64_t end) {
    StridedWalk<6> walk(args.x.dims, static_cast<int>(args.axis),
                        {args.x.strides, args.scale.strides, args.bias.strides, args.y.strides,
                         args.mean.strides, args.inv_std.strides},
                        begin);
    for (int64_t i = begin; i < end; ++i, walk.next()) {
      const auto s = rows.measure(walk.offset(0));
      rows.write({walk.offset(0), walk.offset(1), walk.offset(2), walk.offset(3)}, s);
      if (args.mean.data != nullptr) store(args.mean, walk.offset(4), s.mean);
      if (args.inv_std.data != nullptr) store(args.inv_std, walk.offset(5), s.inv_std);
    }
  });
}

}  // namespace ge::kernels

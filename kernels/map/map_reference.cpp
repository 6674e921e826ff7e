// map_reference: one scalar op, element by element, in double or int64. Entry: map_reference.
#include "contract/scalar_op.h"
#include "kernels/common/check.h"
#include "kernels/common/element.h"
#include "kernels/common/rows.h"
#include "kernels/common/strided_walk.h"
#include "kernels/launch_context.h"
#include "kernels/map/map.h"
#include "kernels/scalar_reference.h"

namespace ge::kernels {
namespace {

// The operand that gives the op its element type: select's first is a condition.
const TensorView& typed_operand(int64_t op, const TensorView& a, const TensorView& b) {
  return op == static_cast<int64_t>(ScalarOp::select) ? b : a;
}

Status check_map(const LaunchShape& shape) {
  const TensorView* v = shape.operands.data();
  const int64_t code = attr_int(shape.attrs, "op", 0);
  const ScalarOpInfo* info = scalar_op_info(static_cast<uint16_t>(code));
  if (info == nullptr) return refuse("op " + std::to_string(code) + " is no scalar op");
  const TensorView& out = v[3];
  static constexpr std::string_view kNames[] = {"a", "b", "c"};
  for (int i = 0; i < 3; ++i) {
    if (is_absent(v[i]) != (i >= info->arity)) {
      return refuse(std::string(info->name) + " takes " + std::to_string(info->arity) + " operands");
    }
    if (i < info->arity) GE_TRY(check_same_dims(v[i], kNames[i], out, "out"));
  }
  const bool is_select = info->op == ScalarOp::select;
  const TensorView& typed = typed_operand(code, v[0], v[1]);
  if (!accepts(info->domain, typed.dtype)) {
    return refuse(std::string(info->name) + " does not take " + std::string(name_of(typed.dtype)));
  }
  if (is_select && !is_bool(v[0].dtype))
    return refuse("select's condition is " + std::string(name_of(v[0].dtype)));
  for (int i = is_select ? 2 : 1; i < info->arity; ++i) GE_TRY(check_same_dtype(v[i], kNames[i], typed, "a"));
  if (info->result == ScalarResult::same) {
    GE_TRY(check_same_dtype(out, "out", typed, "a"));
  } else if (!is_bool(out.dtype)) {
    return refuse(std::string(info->name) + " gives bool, out is " + std::string(name_of(out.dtype)));
  }
  return check_writable(out, "out");
}

template <class T>
void map_range(const MapArgs& args, int64_t begin, int64_t end) {
  const TensorView& b = args.b.data != nullptr ? args.b : args.a;
  const TensorView& c = args.c.data != nullptr ? args.c : args.a;
  const auto op = static_cast<uint16_t>(args.op);
  [[maybe_unused]] const DType dtype = typed_operand(args.op, args.a, args.b).dtype;
  StridedWalk<4> walk(args.out.dims, args.out.rank, {args.a.strides, b.strides, c.strides, args.out.strides},
                      begin);
  for (int64_t i = begin; i < end; ++i, walk.next()) {
    const T x = load<T>(args.a, walk.offset(0)), y = load<T>(b, walk.offset(1)),
            z = load<T>(c, walk.offset(2));
    if constexpr (std::is_same_v<T, double>) {
      store(args.out, walk.offset(3), scalar::apply_real(op, x, y, z));
    } else {
      store(args.out, walk.offset(3), scalar::apply_integer(op, dtype, x, y, z));
    }
  }
}

constexpr OperandRow kOperands[] = {
    {.name = "a", .dtypes = kAllTypes},
    {.name = "b", .dtypes = kAllTypes, .optional = true},
    {.name = "c", .dtypes = kAllTypes, .optional = true},
    {.name = "out", .role = OperandRole::kOut, .dtypes = kAllTypes, .in_place_of = 0},
};
constexpr AttrRow kAttrs[] = {{.name = "op", .min = 1, .max = 0xff}};
constexpr ArgRow kArgs[] = {
    view_arg(offsetof(MapArgs, a), 0),    view_arg(offsetof(MapArgs, b), 1),
    view_arg(offsetof(MapArgs, c), 2),    view_arg(offsetof(MapArgs, out), 3),
    int_arg(offsetof(MapArgs, op), "op"),
};

}  // namespace

extern constinit const KernelRow map_reference_row = {
    .name = "map_reference",
    .operands = kOperands,
    .attrs = kAttrs,
    .args_size = sizeof(MapArgs),
    .args = kArgs,
    .check = check_map,
    .efficiency = kReferenceEfficiency,
    .summary = "one scalar op, element by element, in double or int64",
};

void map_reference(const void* raw, const LaunchContext& context) {
  const MapArgs& args = *static_cast<const MapArgs*>(raw);
  const bool real = is_float(typed_operand(args.op, args.a, args.b).dtype);
  context.parallel_for(element_count(args.out), kReferenceGrain, [&](int64_t begin, int64_t end) {
    real ? map_range<double>(args, begin, end) : map_range<int64_t>(args, begin, end);
  });
}

}  // namespace ge::kernels

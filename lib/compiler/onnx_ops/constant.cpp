// Values that need no data: Constant, ConstantOfShape, Range, Shape, Size, Identity, Dropout (inference).
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "compiler/onnx_ops/known_number.h"
#include "compiler/onnx_ops/op_context.h"
#include "numeric/convert.h"

namespace ge {
namespace {

ValueId float_constant(OpContext& c, std::vector<int64_t> dims, const std::vector<double>& values) {
  return c.build().constant(tensor_of_floats(std::move(dims), {values.begin(), values.end()}));
}

// The one element of ConstantOfShape's value; float32 zero where it is absent.
std::optional<TensorData> fill_value(OpContext& c) {
  const TensorData* given = c.tensor_attr("value");
  if (!given) return splat(DType::float32, {}, 0);
  if (given->count() != 1) {
    c.fail(c.about_attr("value", Code::bad_attribute, "value must have one element")
               .because("found " + std::to_string(given->count())));
    return std::nullopt;
  }
  TensorData scalar = *given;
  scalar.dims.clear();
  return scalar;
}

}  // namespace

Results lower_constant(OpContext& c) {
  static constexpr std::string_view kForms[] = {"value",      "value_float",  "value_floats", "value_int",
                                                "value_ints", "value_string", "value_strings"};
  const auto given =
      std::count_if(std::begin(kForms), std::end(kForms), [&](std::string_view f) { return c.has_attr(f); });
  if (given != 1) {
    return c.fail(c.about_node(given == 0 ? Code::missing_attribute : Code::bad_attribute,
                               "exactly one value attribute is needed")
                      .because("found " + std::to_string(given) +
                               " of value, value_float, value_floats, value_int, value_ints"));
  }
  if (c.has_attr("value")) return c.build().constant(*c.tensor_attr("value"));
  if (c.has_attr("value_float")) return float_constant(c, {}, {c.float_attr("value_float")});
  if (c.has_attr("value_int")) {
    TensorData data = tensor_of({c.int_attr("value_int")});
    data.dims.clear();
    return c.build().constant(std::move(data));
  }
  if (c.has_attr("value_ints")) return c.constant_ints(c.ints_attr("value_ints"));
  if (c.has_attr("value_floats")) {
    const std::vector<double> values = c.floats_attr("value_floats");
    return float_constant(c, {static_cast<int64_t>(values.size())}, values);
  }
  return c.fail(c.about_node(Code::unsupported_feature, "string tensors are not supported"));
}

Results lower_constant_of_shape(OpContext& c) {
  const auto shape = c.contents(0);
  const auto value = fill_value(c);
  if (!shape || !value) return kNone;
  for (const Dim& d : *shape) {
    if (d.is_static() && *d.value() < 0) {
      return c.fail(
          c.about_input(0, Code::bad_dim, "a dim is negative").because("found " + to_string(*shape)));
    }
  }
  return c.build().broadcast(c.build().constant(*value), *shape);
}

Results lower_shape(OpContext& c) {
  const Dims& dims = c.dims(c.in(0));
  const int64_t rank = c.rank(c.in(0));
  if (!c.op().attribute("start")) return c.build().dims(dims);
  const auto bound = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  const int64_t from = bound(c.int_attr("start")),
                to = std::max(from, c.has_attr("end") ? bound(c.int_attr("end")) : rank);
  return c.build().dims(Dims(dims.begin() + from, dims.begin() + to));
}

Results lower_size(OpContext& c) {
  return c.build().dims({product(c.dims(c.in(0)))}, true);
}

Results lower_identity(OpContext& c) {
  return c.in(0);
}

// The ratio matters in training alone; the mask of inference is all true.
Results lower_dropout(OpContext& c) {
  if (c.has(2)) {
    const auto training = c.number(2);
    if (!training) return kNone;
    if (*training != 0) {
      return c.fail(c.about_input(2, Code::unsupported_feature, "only inference is supported")
                        .try_("make 'training_mode' false"));
    }
  }
  if (!c.wants(1)) return std::vector<ValueId>{c.in(0), kNone};
  return std::vector<ValueId>{c.in(0),
                              c.build().broadcast(c.build().scalar(DType::boolean, 1), c.dims(c.in(0)))};
}

namespace {

// start + delta * [0, 1, ...] of `count` elements; 16-bit floats count in float32.
ValueId arithmetic_sequence(OpContext& c, const Dim& count) {
  Builder& b = c.build();
  const ValueId start = c.wide(c.in(0)), delta = c.wide(c.in(2));
  const DType dtype = c.dtype(start);
  const DType counted = dtype == DType::int32 || dtype == DType::float32 ? dtype : DType::int64;
  const ValueId index =
      b.op(Op::iota, {}, {{"shape", Dims{count}}, {"axis", int64_t{0}}, {"dtype", counted}});
  return b.cast(b.map(Op::add, {b.map(Op::mul, {b.cast(index, dtype), delta}), start}), c.dtype(c.in(0)));
}

// The number of elements of a range of integers, symbolic where a bound is.
std::optional<Dim> integer_count(OpContext& c) {
  const auto start = c.contents(0);
  const auto limit = c.failed() ? std::nullopt : c.contents(1);
  const auto delta = c.failed() ? std::nullopt : c.integers(2);
  if (!start || !limit || !delta) return std::nullopt;
  const int64_t step = std::max((*delta)[0], -INT64_MAX);  // -2^63 has no magnitude; it counts as far
  if (step == 0) {
    c.fail(c.about_input(2, Code::bad_attribute, "'delta' is 0").because("allowed: any number but 0"));
    return std::nullopt;
  }
  const Dim distance = step > 0 ? (*limit)[0] - (*start)[0] : (*start)[0] - (*limit)[0];
  if (distance.bounds(c.graph().symbols).min >= 0)
    return Dim::ceil_div(distance, Dim(step > 0 ? step : -step));
  return Dim::ceil_div(Dim::max(distance, Dim(0)), Dim(step > 0 ? step : -step));
}

// A float that was made from a size, or is a whole number. Floats hold every size that they are asked for: up
// to 2^24 in float32, and more in float64.
std::optional<Dim> whole_number(OpContext& c, ValueId value) {
  const Node* node = c.graph().producer(value);
  while (node && node->op == Op::reshape) {
    value = node->operands[0];
    node = c.graph().producer(value);
  }
  if (node && node->op == Op::cast && bits_of(c.dtype(value)) >= 32) {
    const auto known = c.known(node->operands[0]);
    if (known && known->size() == 1 && is_integer(c.dtype(node->operands[0]))) return known->front();
  }
  const auto number = known_number(c.graph(), value);
  if (!number || *number != std::floor(*number) || std::abs(*number) > 16777216) return std::nullopt;
  return Dim(static_cast<int64_t>(*number));
}

// The number of elements where a bound is a symbolic size and all are whole; steps are plain numbers.
std::optional<Dim> whole_count(OpContext& c) {
  const auto start = whole_number(c, c.in(0)), limit = whole_number(c, c.in(1)),
             delta = whole_number(c, c.in(2));
  if (!start || !limit || !delta || !delta->is_static() || delta->is_value(0)) return std::nullopt;
  if (start->is_static() && limit->is_static()) return std::nullopt;
  const int64_t step = *delta->value();
  const Dim distance = step > 0 ? *limit - *start : *start - *limit;
  const bool forward = distance.bounds(c.graph().symbols).min >= 0;
  return Dim::ceil_div(forward ? distance : Dim::max(distance, Dim(0)), Dim(std::abs(step)));
}

std::optional<Dim> real_count(OpContext& c) {
  if (const auto count = whole_count(c)) return count;
  const auto start = c.number(0);
  const auto limit = start ? c.number(1) : std::nullopt;
  const auto delta = limit ? c.number(2) : std::nullopt;
  if (!delta) return std::nullopt;
  const double count = std::ceil((*limit - *start) / *delta);
  if (!(count < 9e15)) {
    c.fail(c.about_node(Code::bad_attribute, "the range has no end")
               .because("start " + double_text(*start) + ", limit " + double_text(*limit) + ", delta " +
                        double_text(*delta)));
    return std::nullopt;
  }
  return Dim(count > 0 ? static_cast<int64_t>(count) : 0);
}

}  // namespace

Results lower_range(OpContext& c) {
  for (size_t i = 0; i < 3; ++i) {
    if (c.rank(c.in(i)) == 0) continue;
    return c.fail(c.about_input(i, Code::operand_rank, "'" + c.op().input_name(i) + "' must be a scalar")
                      .because("found " + c.describe(c.in(i))));
  }
  const auto count = is_float(c.dtype(c.in(0))) ? real_count(c) : integer_count(c);
  if (!count) return kNone;
  return arithmetic_sequence(c, *count);
}

}  // namespace ge

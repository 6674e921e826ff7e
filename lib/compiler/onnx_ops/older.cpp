// Operators as older opsets have them, in terms of their newer forms: attributes that became inputs, defaults
// that changed, the broadcast of before opset 7. Entry: the rows of ops.def that name these functions.
// Invariant: a node means what it meant in the version it was written for.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "compiler/onnx_ops/known_number.h"
#include "compiler/onnx_ops/op_context.h"

namespace ge {
namespace {

// Faults of the newer form, told of the node that was written: its name, and the places of its own inputs.
Error as_older(OpContext& c, const Node& newer, Error error) {
  const std::string label = node_label(newer) + ": ", inputs = pointer_below(newer, "/inputs/");
  for (Diagnostic& d : error.list()) {
    if (d.message.starts_with(label))
      d.message = node_label(c.node()) + ": " + d.message.substr(label.size());
    if (!d.path.starts_with(inputs)) continue;
    const auto index = static_cast<size_t>(std::atoi(d.path.c_str() + inputs.size()));
    const auto& own = c.node().operands;
    const auto at =
        index < newer.operands.size() ? std::find(own.begin(), own.end(), newer.operands[index]) : own.end();
    d.path = pointer_below(newer, at == own.end() ? "" : "/inputs/" + std::to_string(at - own.begin()));
  }
  return error;
}

// The node as `type` of opset `version`, with these operands and attributes; its outputs stay.
Results as_newer(OpContext& c, std::string_view type, int version, std::vector<ValueId> operands,
                 AttrMap attrs) {
  if (c.failed()) return kNone;
  Node node;
  node.onnx = std::make_unique<OnnxName>(OnnxName{"", std::string(type), version});
  node.operands = std::move(operands);
  node.results = c.node().results;
  node.attrs = std::move(attrs);
  node.sources = c.node().sources;
  const Operator* op = find_operator("", type, version);
  if (op == nullptr) return c.fail(c.about_node(Code::internal, "no newer form"));
  OpContext newer(c.graph(), node, *op);
  Results results = op->lower(newer);
  if (Status status = newer.build().take(); !status.ok())
    c.build().fail(as_older(c, node, std::move(status).take_error()));
  return results;
}

AttrMap kept(OpContext& c, std::initializer_list<std::string_view> names) {
  AttrMap attrs;
  for (const std::string_view name : names) {
    const auto at = c.node().attrs.find(std::string(name));
    if (at != c.node().attrs.end()) attrs.insert(*at);
  }
  return attrs;
}

// An attribute of integers as an operand; absent where it is not written.
ValueId as_input(OpContext& c, std::string_view name) {
  return c.has_attr(name) ? c.constant_ints(c.ints_attr(name)) : kNone;
}

// Before opset 7 operands have one shape, or broadcast = 1 lines B up with A's dims from `axis` on (the last
// ones without it).
ValueId lined_up(OpContext& c) {
  const ValueId a = c.in(0), b = c.in(1);
  if (c.int_attr("broadcast") == 0 || c.failed()) {
    if (c.rank(a) != c.rank(b)) {
      return c.fail(
          c.about_input(1, Code::broadcast_mismatch, "without broadcast = 1 the inputs have one shape")
              .because(c.describe(a) + " and " + c.describe(b)));
    }
    for (int64_t i = 0; i < c.rank(a); ++i)
      c.require_equal(c.dims(a)[i], c.dims(b)[i], "without broadcast = 1 the inputs have one shape");
    return b;
  }
  const int64_t spare = c.rank(a) - c.rank(b);
  const int64_t axis = c.has_attr("axis") ? c.axis_attr("axis", std::max<int64_t>(c.rank(a), 1), a) : spare;
  if (c.failed()) return kNone;
  if (spare < 0 || axis > spare) {
    return c.fail(
        c.about_input(1, Code::broadcast_mismatch, "'B' does not lie within 'A'")
            .because(c.describe(b) + " from axis " + std::to_string(axis) + " of " + c.describe(a)));
  }
  Dims shape = c.dims(b);
  shape.resize(static_cast<size_t>(c.rank(a) - axis), Dim(1));
  return c.build().reshape(b, shape);
}

// Softmax and its kin look at a matrix: dims before axis, dims from axis on.
Results as_matrix(OpContext& c, std::string_view type) {
  const ValueId x = c.in(0);
  const Dims shape = c.dims(x);
  const int64_t axis = c.axis_attr("axis", c.rank(x), x);
  if (c.failed()) return kNone;
  const auto at = static_cast<size_t>(axis);
  const ValueId matrix =
      axis + 1 == c.rank(x) ? x : c.build().reshape(x, {product(shape, 0, at), product(shape, at)});
  const Results y = as_newer(c, type, 13, {matrix}, {{"axis", int64_t{-1}}});
  return c.failed() || matrix == x ? y : Results(c.build().reshape(y.values[0], shape));
}

}  // namespace

Results lower_map_1(OpContext& c) {
  const ValueId b = lined_up(c);
  return c.failed() ? Results(kNone) : Results(c.build().map(c.op().row->core, {c.in(0), b}));
}
Results lower_pow_1(OpContext& c) {
  return as_newer(c, "Pow", 13, {c.in(0), lined_up(c)}, {});
}

Results lower_softmax_1(OpContext& c) {
  return as_matrix(c, "Softmax");
}
Results lower_log_softmax_1(OpContext& c) {
  return as_matrix(c, "LogSoftmax");
}
Results lower_hardmax_1(OpContext& c) {
  return as_matrix(c, "Hardmax");
}

// The limits' defaults are float32's ends: every other value they leave as it is, infinities they cut.
Results lower_clip_6(OpContext& c) {
  const ValueId x = c.in(0);
  return as_newer(c, "Clip", 11,
                  {x, c.scalar_like(x, c.float_attr("min")), c.scalar_like(x, c.float_attr("max"))}, {});
}

Results lower_slice_1(OpContext& c) {
  return as_newer(c, "Slice", 10, {c.in(0), as_input(c, "starts"), as_input(c, "ends"), as_input(c, "axes")},
                  {});
}

Results lower_split_2(OpContext& c) {
  if (!c.has_attr("split")) {
    const Dim extent = c.dims(c.in(0))[c.axis_attr("axis", c.rank(c.in(0)), c.in(0))];
    const auto parts = static_cast<int64_t>(c.output_count());
    if (!c.failed() && extent.is_static() && *extent.value() % parts != 0) {
      return c.fail(c.about_attr("split", Code::shape_mismatch, "the axis has no equal parts")
                        .because(extent.to_string() + " elements for " + std::to_string(parts) + " outputs"));
    }
  }
  return as_newer(c, "Split", 13, {c.in(0), as_input(c, "split")}, kept(c, {"axis"}));
}

Results lower_pad_2(OpContext& c) {
  const ValueId x = c.in(0);
  return as_newer(c, "Pad", 11, {x, as_input(c, "pads"), c.scalar_like(x, c.float_attr("value"))},
                  kept(c, {"mode"}));
}

Results lower_squeeze_1(OpContext& c) {
  return as_newer(c, "Squeeze", 13, {c.in(0), as_input(c, "axes")}, {});
}
Results lower_unsqueeze_1(OpContext& c) {
  return as_newer(c, "Unsqueeze", 13, {c.in(0), as_input(c, "axes")}, {});
}

Results lower_reduce_sum_1(OpContext& c) {
  return as_newer(c, "ReduceSum", 13, {c.in(0), as_input(c, "axes")}, kept(c, {"keepdims"}));
}

Results lower_top_k_1(OpContext& c) {
  return as_newer(c, "TopK", 11, {c.in(0), c.constant_ints({c.int_attr("k")})}, kept(c, {"axis"}));
}

namespace {

// Positions are scaled from the start of an axis; `rounding` says which pixel the nearest one is.
Results resized(OpContext& c, ValueId x, ValueId scales, const std::string& mode,
                const std::string& rounding) {
  return as_newer(c, "Resize", 13, {x, kNone, scales},
                  {{"mode", mode},
                   {"coordinate_transformation_mode", std::string("asymmetric")},
                   {"nearest_mode", rounding}});
}

ValueId scales_of(OpContext& c, const std::vector<double>& values) {
  std::vector<float> narrow;
  for (const double s : values) narrow.push_back(static_cast<float>(s));
  return c.build().constant(tensor_of_floats({static_cast<int64_t>(narrow.size())}, narrow));
}

}  // namespace

// Nearest is the pixel before along an axis that grows, the one after along an axis that shrinks.
Results lower_upsample(OpContext& c) {
  std::string mode = c.string_attr("mode");
  if (mode == "bilinear") mode = "linear";
  const bool by_attribute = c.op().attribute("scales") != nullptr;
  const auto values =
      by_attribute ? std::optional(c.floats_attr("scales")) : known_numbers(c.graph(), c.in(1));
  const ValueId scales = by_attribute ? scales_of(c, *values) : c.in(1);
  const auto shrinks = [](double s) { return s < 1; };
  if (mode != "nearest" || !values || std::none_of(values->begin(), values->end(), shrinks))
    return resized(c, c.in(0), scales, mode, "floor");
  std::vector<double> less = *values, more = *values;
  for (double& s : less) s = std::min(s, 1.0);
  for (double& s : more) s = std::max(s, 1.0);
  const Results small = resized(c, c.in(0), scales_of(c, less), mode, "ceil");
  return c.failed() ? Results(kNone) : resized(c, small.values[0], scales_of(c, more), mode, "floor");
}

// Inference: a copy. Before opset 7 is_test says so.
Results lower_dropout_6(OpContext& c) {
  if (c.op().attribute("is_test") && c.int_attr("is_test") == 0) {
    return c.fail(c.about_attr("is_test", Code::unsupported_feature, "only inference is supported")
                      .try_("export the model for inference: is_test = 1"));
  }
  return as_newer(c, "Dropout", 13, {c.in(0)}, {});
}

// A slope for each channel stands beside axis 1.
Results lower_p_relu_6(OpContext& c) {
  const ValueId slope = c.in(1);
  if (c.rank(slope) != 1 || c.rank(c.in(0)) < 2 || c.dims(slope)[0].is_value(1))
    return as_newer(c, "PRelu", 9, {c.in(0), slope}, {});
  Dims shape(c.dims(c.in(0)).size() - 1, Dim(1));
  shape[0] = c.dims(slope)[0];
  return as_newer(c, "PRelu", 9, {c.in(0), c.build().reshape(slope, shape)}, {});
}

}  // namespace ge

// Makers: movement of data, and shapes as values.
#include <algorithm>

#include "fuzz/node_makers.h"

namespace ge::test {
namespace {

using MaybeSpec = std::optional<NodeSpec>;

// A known shape as an int64 operand: an initializer, or what Shape of another value gives.
MaybeSpec with_shape(GraphMaker& m, ValueId x, const std::vector<int64_t>& shape) {
  return NodeSpec{{x, m.ints(shape)}, {}};
}

// Numbers where they are, 0 (copied) at symbolic dims.
std::vector<int64_t> copied_shape(GraphMaker& m, ValueId x) {
  std::vector<int64_t> shape;
  for (const Dim& d : m.type(x).dims) shape.push_back(d.is_static() && *d.value() > 0 ? *d.value() : 0);
  return shape;
}

// Shape -> Slice or Gather -> Concat with a constant: what exporters write for "keep these dims".
ValueId shape_chain(GraphMaker& m, ValueId x, int64_t keep) {
  const ValueId shape = m.add("Shape", {x});
  if (shape == kNone) return kNone;
  std::vector<int64_t> index;
  for (int64_t i = 0; i < keep; ++i) index.push_back(i);
  const ValueId head = m.random().chance(50) ? m.add("Gather", {shape, m.ints(index)})
                                             : m.add("Slice", {shape, m.ints({0}), m.ints({keep})});
  return m.add("Concat", {head, m.ints({-1})}, {{"axis", int64_t{0}}});
}

MaybeSpec make_reshape(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0));
  if (x == kNone) return std::nullopt;
  std::vector<int64_t> shape = copied_shape(m, x);
  const size_t rank = shape.size();
  if (rank > 0 && r.chance(20)) {
    const ValueId chain = shape_chain(m, x, r.in(0, m.rank(x) - 1));
    if (chain == kNone) return std::nullopt;
    return NodeSpec{{x, chain}, {}};
  }
  switch (r.in(0, 4)) {
    case 0:
      return with_shape(m, x, {-1});
    case 1:  // merge the last two
      if (rank >= 2) {
        shape.pop_back();
        shape.back() = -1;
      }
      return with_shape(m, x, shape);
    case 2:  // split one
      for (size_t i = 0; i < rank; ++i)
        if (shape[i] > 0 && shape[i] % 2 == 0) {
          shape[i] /= 2;
          shape.insert(shape.begin() + static_cast<int64_t>(i) + 1, 2);
          // 0 copies the dim of the same index: those behind have moved.
          const auto zeros = std::count(shape.begin() + static_cast<int64_t>(i) + 2, shape.end(), 0);
          if (zeros > 1) return std::nullopt;
          std::replace(shape.begin() + static_cast<int64_t>(i) + 2, shape.end(), int64_t{0}, int64_t{-1});
          return with_shape(m, x, shape);
        }
      return with_shape(m, x, shape);
    case 3:
      shape.insert(shape.end(), static_cast<size_t>(r.in(0, 2)), 1);
      return with_shape(m, x, shape);
    default:
      if (std::count(shape.begin(), shape.end(), 0) == 0) std::next_permutation(shape.begin(), shape.end());
      return with_shape(m, x, shape);
  }
}

MaybeSpec make_transpose(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0));
  if (x == kNone) return std::nullopt;
  NodeSpec spec{{x}, {}};
  if (r.chance(80)) {
    std::vector<int64_t> perm;
    for (int64_t a = 0; a < m.rank(x); ++a) perm.push_back(a);
    for (size_t i = perm.size(); i > 1; --i)
      std::swap(perm[i - 1], perm[static_cast<size_t>(r.in(0, static_cast<int64_t>(i) - 1))]);
    spec.attrs["perm"] = perm;
  }
  return spec;
}

MaybeSpec make_squeeze(GraphMaker& m, const Operator& op) {
  const ValueId x = m.any(allowed_for_input(op, 0));
  if (x == kNone) return std::nullopt;
  std::vector<int64_t> ones;
  for (int64_t a = 0; a < m.rank(x); ++a)
    if (m.extent(x, a) == 1) ones.push_back(m.random().chance(30) ? a - m.rank(x) : a);
  if (ones.empty()) return std::nullopt;
  if (m.random().chance(25)) return NodeSpec{{x}, {}};
  ones.resize(static_cast<size_t>(m.random().in(1, static_cast<int64_t>(ones.size()))));
  return NodeSpec{{x, m.ints(ones)}, {}};
}

MaybeSpec make_unsqueeze(GraphMaker& m, const Operator& op) {
  const ValueId x = m.any(allowed_for_input(op, 0), 0, 4);
  if (x == kNone) return std::nullopt;
  std::vector<int64_t> axes{m.random().in(-m.rank(x) - 1, m.rank(x))};
  if (m.random().chance(25)) axes = {0, m.rank(x) + 1};
  return NodeSpec{{x, m.ints(axes)}, {}};
}

MaybeSpec make_expand(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0), 0, 3);
  if (x == kNone) return std::nullopt;
  if (r.chance(25)) {
    const ValueId shape = m.add("Shape", {m.partner(x)});
    if (shape == kNone) return std::nullopt;
    return NodeSpec{{x, shape}, {}};
  }
  std::vector<int64_t> shape;
  for (const Dim& d : m.type(x).dims)
    shape.push_back(d.is_value(1) && r.chance(70)   ? r.in(1, 4)
                    : r.chance(30) && d.is_static() ? *d.value()
                                                    : 1);
  if (r.chance(30)) shape.insert(shape.begin(), r.in(1, 3));
  return with_shape(m, x, shape);
}

MaybeSpec make_tile(GraphMaker& m, const Operator& op) {
  const ValueId x = m.any(allowed_for_input(op, 0), 1, 3);
  if (x == kNone) return std::nullopt;
  std::vector<int64_t> repeats;
  for (int64_t a = 0; a < m.rank(x); ++a) repeats.push_back(m.random().chance(60) ? 1 : m.random().in(0, 3));
  return with_shape(m, x, repeats);
}

MaybeSpec make_concat(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0), 1, 4);
  if (x == kNone) return std::nullopt;
  const Type t = m.type(x);
  const int64_t axis = some_axis(m, m.rank(x));
  const auto at = static_cast<size_t>(axis < 0 ? axis + m.rank(x) : axis);
  NodeSpec spec{{x}, {{"axis", axis}}};
  for (int64_t i = r.in(0, 3); i > 0; --i) {
    Dims dims = t.dims;
    if (r.chance(50)) dims[at] = m.some_dims(1, 1)[0];
    spec.operands.push_back(r.chance(10) ? x : m.exactly(t.dtype, dims));
  }
  if (r.chance(30)) std::reverse(spec.operands.begin(), spec.operands.end());
  return spec;
}

MaybeSpec make_slice(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0), 1, 4);
  if (x == kNone) return std::nullopt;
  std::vector<int64_t> axes, starts, ends, steps;
  for (int64_t a = 0; a < m.rank(x); ++a) {
    if (!axes.empty() && r.chance(50)) continue;
    const int64_t extent = m.extent(x, a).value_or(r.in(1, 4));
    axes.push_back(r.chance(20) ? a - m.rank(x) : a);
    const int64_t step = r.chance(60) ? 1 : r.pick(std::vector<int64_t>{2, 3, -1, -2, -1});
    const int64_t low = r.in(0, extent), high = r.chance(40) ? INT64_MAX : r.in(low, extent + 1);
    if (step > 0) {
      starts.push_back(r.chance(25) && low > 0 ? -low : low);
      ends.push_back(high);
    } else {
      starts.push_back(r.chance(50) ? INT64_MAX : high == INT64_MAX ? -1 : high);
      ends.push_back(r.chance(50) ? INT64_MIN + 1 : low);
    }
    steps.push_back(step);
  }
  const DType index = r.chance(70) ? DType::int64 : DType::int32;
  const auto narrow = [&](std::vector<int64_t> list) {
    if (index == DType::int32)
      for (int64_t& v : list) v = std::clamp<int64_t>(v, INT32_MIN, INT32_MAX);
    return m.ints(list, index);
  };
  NodeSpec spec{{x, narrow(starts), narrow(ends), narrow(axes)}, {}};
  if (std::count(steps.begin(), steps.end(), 1) != static_cast<int64_t>(steps.size()) || r.chance(30))
    spec.operands.push_back(narrow(steps));
  return spec;
}

MaybeSpec make_split(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0), 1, 4);
  if (x == kNone) return std::nullopt;
  const int64_t axis = some_axis(m, m.rank(x));
  const auto extent = m.extent(x, axis < 0 ? axis + m.rank(x) : axis);
  if (!extent || *extent < 1) return std::nullopt;
  const int64_t parts = r.in(1, std::min<int64_t>(*extent, 4));
  NodeSpec spec{{x}, {{"axis", axis}}, static_cast<size_t>(parts)};
  if (r.chance(50)) {
    std::vector<int64_t> sizes;
    int64_t left = *extent;
    for (int64_t i = 1; i < parts; ++i) {
      sizes.push_back(r.in(0, left));
      left -= sizes.back();
    }
    sizes.push_back(left);
    spec.operands.push_back(m.ints(sizes));
  } else if (op.attribute("num_outputs") != nullptr) {
    spec.attrs["num_outputs"] = parts;
  } else if (*extent % parts != 0) {
    return std::nullopt;
  }
  return spec;
}

// Indices of `extent` things: known ones, or an input brought into range by Mod or Clip.
ValueId indices(GraphMaker& m, std::optional<int64_t> extent, const Dims& dims, DTypeSet allowed) {
  Random& r = m.random();
  if (extent && *extent < 1) return kNone;
  const DType dtype = allowed.contains(DType::int32) && r.chance(25) ? DType::int32 : DType::int64;
  const auto fixed = static_values(dims);
  if (!extent) return fixed ? m.constant(splat(dtype, *fixed, r.chance(50) ? -1 : 0)) : kNone;
  if (fixed && r.chance(60)) {
    int64_t count = 1;
    for (const int64_t d : *fixed) count *= d;
    std::vector<int64_t> list(static_cast<size_t>(count));
    for (int64_t& i : list) i = r.in(r.chance(30) ? -*extent : 0, *extent - 1);
    return m.constant([&] {
      TensorData data = tensor_of(list);
      data.dims = *fixed;
      return data;
    }());
  }
  const ValueId raw = m.exactly(dtype, dims);
  if (r.chance(50)) return m.add("Mod", {raw, m.number(dtype, static_cast<double>(*extent))});
  return m.add("Clip", {raw, m.number(dtype, static_cast<double>(-*extent)),
                        m.number(dtype, static_cast<double>(*extent - 1))});
}

MaybeSpec make_gather(GraphMaker& m, const Operator& op) {
  const ValueId x = m.any(allowed_for_input(op, 0), 1, 4);
  if (x == kNone) return std::nullopt;
  const int64_t axis = some_axis(m, m.rank(x)), at = axis < 0 ? axis + m.rank(x) : axis;
  const bool along = std::string_view(op.row->name) != "Gather";  // GatherElements, ScatterElements
  Dims dims = along ? m.type(x).dims : m.some_dims(0, 2);
  if (along && m.random().chance(50)) dims[static_cast<size_t>(at)] = m.random().in(1, 4);
  const ValueId i = indices(m, m.extent(x, at), dims, allowed_for_input(op, 1));
  if (i == kNone) return std::nullopt;
  NodeSpec spec{{x, i}, {}};
  if (axis != 0 || m.random().chance(30)) spec.attrs["axis"] = axis;
  if (op.inputs.size() > 2) spec.operands.push_back(m.exactly(m.type(x).dtype, dims));
  if (op.attribute("reduction") != nullptr)
    spec.attrs["reduction"] =
        std::string(m.random().pick(std::vector<const char*>{"add", "mul", "max", "min"}));
  return spec;
}

MaybeSpec make_gather_nd(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0), 1, 4);
  if (x == kNone) return std::nullopt;
  const int64_t depth = r.in(1, m.rank(x));
  int64_t extent = INT64_MAX;  // that every indexed axis has
  for (int64_t a = 0; a < depth; ++a) extent = std::min(extent, m.extent(x, a).value_or(0));
  Dims dims{r.in(1, 4)};
  Dims updates = dims;
  dims.emplace_back(depth);
  const ValueId i = indices(m, extent, dims, allowed_for_input(op, 1));
  if (i == kNone) return std::nullopt;
  NodeSpec spec{{x, i}, {}};
  if (op.inputs.size() > 2) {
    updates.insert(updates.end(), m.type(x).dims.begin() + depth, m.type(x).dims.end());
    spec.operands.push_back(m.exactly(m.type(x).dtype, updates));
    spec.attrs["reduction"] = std::string(r.pick(std::vector<const char*>{"add", "mul", "max", "min"}));
  }
  return spec;
}

MaybeSpec make_pad(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0), 1, 4);
  if (x == kNone) return std::nullopt;
  static const std::vector<const char*> kModes{"constant", "constant", "constant", "edge", "reflect", "wrap"};
  const std::string mode = op.row->since < 19 && r.chance(10) ? "constant" : r.pick(kModes);
  std::vector<int64_t> axes = some_axes(m, m.rank(x));
  const bool by_axes = op.inputs.size() > 3 && r.chance(30);
  const size_t count = by_axes ? axes.size() : static_cast<size_t>(m.rank(x));
  std::vector<int64_t> pads;
  for (size_t i = 0; i < 2 * count; ++i) pads.push_back(r.chance(50) ? 0 : r.in(r.chance(20) ? -2 : 0, 3));
  NodeSpec spec{{x, m.ints(pads)}, {}};
  const bool value = mode == "constant" && r.chance(50);
  if (value || by_axes) spec.operands.push_back(value ? m.leaf(m.type(x).dtype, {}, r.chance(80)) : kNone);
  if (by_axes) spec.operands.push_back(m.ints(axes));
  if (mode != "constant" || r.chance(30)) spec.attrs["mode"] = mode;
  return spec;
}

MaybeSpec make_trilu(GraphMaker& m, const Operator& op) {
  const ValueId x = m.any(allowed_for_input(op, 0), 2, 4);
  if (x == kNone) return std::nullopt;
  NodeSpec spec{{x}, {}};
  if (m.random().chance(60))
    spec.operands.push_back(m.random().chance(80)
                                ? m.number(DType::int64, static_cast<double>(m.random().in(-3, 3)))
                                : m.exactly(DType::int64, {}));
  if (m.random().chance(50)) spec.attrs["upper"] = int64_t{0};
  return spec;
}

MaybeSpec make_constant(GraphMaker& m, const Operator&) {
  Random& r = m.random();
  NodeSpec spec;
  switch (r.in(0, 4)) {
    case 0:
      spec.attrs["value_float"] = r.symmetric() * 4;
      break;
    case 1:
      spec.attrs["value_int"] = r.in(-3, 4);
      break;
    case 2:
      spec.attrs["value_ints"] = std::vector<int64_t>{r.in(-3, 4), r.in(0, 4)};
      break;
    case 3:
      spec.attrs["value_floats"] = std::vector<double>{0.5, -1, r.symmetric()};
      break;
    default:
      spec.attrs["value"] =
          TensorAttr{splat(r.pick(std::vector<DType>{DType::float32, DType::float16, DType::int32}),
                           {r.in(0, 3), 2}, static_cast<double>(r.in(-2, 2)))};
  }
  return spec;
}

MaybeSpec make_constant_of_shape(GraphMaker& m, const Operator&) {
  Random& r = m.random();
  NodeSpec spec;
  if (r.chance(40)) {
    const ValueId shape = m.add("Shape", {m.any(dtype_class("any"))});
    if (shape == kNone) return std::nullopt;
    spec.operands = {shape};
  } else {
    std::vector<int64_t> shape;
    for (int64_t i = r.in(0, 3); i > 0; --i) shape.push_back(r.in(0, 5));
    spec.operands = {m.ints(shape)};
  }
  if (r.chance(70))
    spec.attrs["value"] = TensorAttr{
        splat(r.pick(std::vector<DType>{DType::float32, DType::float16, DType::int64, DType::boolean}), {1},
              static_cast<double>(r.in(0, 2)))};
  return spec;
}

MaybeSpec make_range(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const DType dtype = m.some_dtype(allowed_for_input(op, 0));
  const int64_t start = r.in(-3, 3), step = r.chance(70) ? 1 : r.pick(std::vector<int64_t>{2, -1, 3});
  const auto number = [&](int64_t v) { return m.number(dtype, static_cast<double>(v)); };
  return NodeSpec{{number(start), number(start + step * r.in(0, 7)), number(step)}, {}};
}

MaybeSpec make_one_hot(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const int64_t depth = r.in(1, 5);
  const ValueId i = m.any(allowed_for_input(op, 0), 0, 2);
  if (i == kNone) return std::nullopt;
  const ValueId values = m.leaf(m.some_dtype(allowed_for_input(op, 2)), {2}, true);
  NodeSpec spec{{i, m.number(DType::int64, static_cast<double>(depth)), values}, {}};
  if (r.chance(60)) spec.attrs["axis"] = some_axis(m, m.rank(i) + 1);
  return spec;
}

MaybeSpec make_blocks(GraphMaker& m, const Operator& op) {  // DepthToSpace, SpaceToDepth
  Random& r = m.random();
  const int64_t block = r.in(1, 2);
  const bool to_space = std::string_view(op.row->name) == "DepthToSpace";
  const int64_t channels = r.in(1, 2) * (to_space ? block * block : 1), side = to_space ? 1 : block;
  const ValueId x = m.exactly(m.some_dtype(allowed_for_input(op, 0)),
                              {m.some_dims(1, 1)[0], channels, side * r.in(1, 3), side * r.in(1, 3)});
  NodeSpec spec{{x}, {{"blocksize", block}}};
  if (to_space && r.chance(50)) spec.attrs["mode"] = std::string(r.chance(50) ? "CRD" : "DCR");
  return spec;
}

MaybeSpec make_resize(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0), 2, 4);
  if (x == kNone) return std::nullopt;
  std::vector<float> scales;
  std::vector<int64_t> sizes;
  for (int64_t a = 0; a < m.rank(x); ++a) {
    const bool spatial = a >= 2 || m.rank(x) == 2;
    scales.push_back(spatial ? r.pick(std::vector<float>{1, 2, 0.5F, 1.5F, 0.6F}) : 1);
    sizes.push_back(spatial ? r.in(1, 7) : m.extent(x, a).value_or(1));
  }
  NodeSpec spec{{x, kNone}, {}};
  const bool by_sizes = r.chance(40) && static_values(m.type(x).dims);
  spec.operands.push_back(by_sizes ? kNone : m.constant(tensor_of_floats({m.rank(x)}, scales)));
  if (by_sizes) spec.operands.push_back(m.ints(sizes));
  const auto word = [&](const char* name, std::vector<const char*> list) {
    if (r.chance(60)) spec.attrs[name] = std::string(r.pick(list));
  };
  word("mode", {"nearest", "linear", "cubic"});
  word("coordinate_transformation_mode",
       {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"});
  word("nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  if (op.attribute("antialias") != nullptr && r.chance(15)) spec.attrs["antialias"] = int64_t{1};
  return spec;
}

MaybeSpec make_eye_like(GraphMaker& m, const Operator& op) {
  const ValueId x = m.any(allowed_for_input(op, 0), 2, 2);
  if (x == kNone) return std::nullopt;
  NodeSpec spec{{x}, {}};
  if (m.random().chance(60)) spec.attrs["k"] = m.random().in(-2, 3);
  if (m.random().chance(40)) spec.attrs["dtype"] = DType::float32;
  return spec;
}

MaybeSpec make_flatten(GraphMaker& m, const Operator& op) {
  const ValueId x = m.any(allowed_for_input(op, 0));
  if (x == kNone) return std::nullopt;
  return NodeSpec{{x}, {{"axis", m.random().in(-m.rank(x), m.rank(x))}}};
}

MaybeSpec make_dropout(GraphMaker& m, const Operator& op) {
  const ValueId x = m.any(allowed_for_input(op, 0));
  if (x == kNone) return std::nullopt;
  return NodeSpec{{x}, {}, static_cast<size_t>(m.random().chance(20) ? 2 : 1)};
}

}  // namespace

const NodeMakers& shape_makers() {
  static const NodeMakers table{{"Reshape", make_reshape},
                                {"Transpose", make_transpose},
                                {"Squeeze", make_squeeze},
                                {"Unsqueeze", make_unsqueeze},
                                {"Expand", make_expand},
                                {"Tile", make_tile},
                                {"Concat", make_concat},
                                {"Slice", make_slice},
                                {"Split", make_split},
                                {"Gather", make_gather},
                                {"GatherElements", make_gather},
                                {"ScatterElements", make_gather},
                                {"GatherND", make_gather_nd},
                                {"ScatterND", make_gather_nd},
                                {"Pad", make_pad},
                                {"Trilu", make_trilu},
                                {"Constant", make_constant},
                                {"ConstantOfShape", make_constant_of_shape},
                                {"Range", make_range},
                                {"OneHot", make_one_hot},
                                {"DepthToSpace", make_blocks},
                                {"SpaceToDepth", make_blocks},
                                {"Resize", make_resize},
                                {"EyeLike", make_eye_like},
                                {"Flatten", make_flatten},
                                {"Dropout", make_dropout}};
  return table;
}

}  // namespace ge::test

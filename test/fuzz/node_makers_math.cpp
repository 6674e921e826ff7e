// Makers: products, convolutions and windows, normalizations, reductions, numbers that choose a branch.
#include <algorithm>

#include "fuzz/node_makers.h"

namespace ge::test {
namespace {

constexpr int64_t kMaxWork = 400'000;  // multiplications of one node

using MaybeSpec = std::optional<NodeSpec>;

MaybeSpec make_mat_mul(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId a = m.any(allowed_for_input(op, 0), 1, 4);
  if (a == kNone) return std::nullopt;
  const Dims dims = m.type(a).dims;
  const Dim k = dims.back();
  Dims other{k};
  if (r.chance(90)) other.push_back(m.some_dims(1, 1)[0]);
  if (other.size() == 2 && dims.size() > 2 && r.chance(50)) {
    Dims batch(dims.begin(), dims.end() - 2);
    for (Dim& d : batch)
      if (r.chance(20)) d = 1;
    if (r.chance(20)) batch.erase(batch.begin());
    other.insert(other.begin(), batch.begin(), batch.end());
  }
  if (m.elements(dims) > kMaxWork / std::max<int64_t>(1, m.elements({other.back()}))) return std::nullopt;
  return NodeSpec{{a, m.exactly(m.type(a).dtype, other)}, {}};
}

MaybeSpec make_gemm(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId a = m.any(allowed_for_input(op, 0), 2, 2);
  if (a == kNone) return std::nullopt;
  const DType dtype = m.type(a).dtype;
  const bool ta = r.chance(30), tb = r.chance(40);
  const Dim k = m.type(a).dims[ta ? 0 : 1], rows = m.type(a).dims[ta ? 1 : 0];
  const Dim n = m.some_dims(1, 1)[0];
  if (m.elements({rows, k}) > kMaxWork / std::max<int64_t>(1, m.elements({n}))) return std::nullopt;
  NodeSpec spec{{a, m.exactly(dtype, tb ? Dims{n, k} : Dims{k, n})}, {}};
  if (r.chance(70)) spec.operands.push_back(m.partner_of(dtype, {rows, n}, true));
  if (ta) spec.attrs["transA"] = int64_t{1};
  if (tb) spec.attrs["transB"] = int64_t{1};
  if (r.chance(25)) spec.attrs["alpha"] = static_cast<double>(r.in(-1, 3)) / 2;
  if (r.chance(25)) spec.attrs["beta"] = static_cast<double>(r.in(-1, 3)) / 2;
  return spec;
}

// Attributes of a window over `rank` spatial axes, as Conv and the pools name them.
void window_attributes(GraphMaker& m, const Operator& op, size_t rank, AttrMap& attrs) {
  Random& r = m.random();
  const auto list = [&](size_t n, int64_t low, int64_t high) {
    std::vector<int64_t> values(n);
    for (int64_t& v : values) v = r.in(low, high);
    return values;
  };
  if (r.chance(50)) attrs["strides"] = list(rank, 1, 3);
  if (r.chance(30) && op.attribute("dilations") != nullptr) attrs["dilations"] = list(rank, 1, 2);
  if (r.chance(25)) {
    attrs["auto_pad"] =
        std::string(r.pick(std::vector<const char*>{"VALID", "SAME_UPPER", "SAME_LOWER", "NOTSET"}));
  } else if (r.chance(60)) {
    attrs["pads"] = list(2 * rank, 0, 1);
  }
  for (const char* flag : {"ceil_mode", "count_include_pad"})
    if (op.attribute(flag) != nullptr && r.chance(30)) attrs[flag] = int64_t{1};
}

// An image [N, C, spatial...]; its channels are a number.
ValueId image(GraphMaker& m, DTypeSet allowed) {
  Random& r = m.random();
  const ValueId x = m.any(allowed, 3, 5);
  if (x != kNone && m.extent(x, 1) && *m.extent(x, 1) > 0 && r.chance(60)) return x;
  Dims dims = m.some_dims(1, 1);
  dims.emplace_back(r.in(1, 8));
  for (int64_t i = r.pick(std::vector<int64_t>{1, 2, 2, 2, 2, 3}); i > 0; --i)
    dims.push_back(r.chance(20) ? m.some_dims(1, 1)[0] : Dim(r.in(2, 8)));
  if (m.elements(dims) > m.max_elements()) return kNone;
  return m.leaf(m.some_dtype(allowed), dims);
}

MaybeSpec make_conv(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = image(m, allowed_for_input(op, 0));
  if (x == kNone) return std::nullopt;
  const int64_t channels = *m.extent(x, 1);
  const size_t spatial = static_cast<size_t>(m.rank(x)) - 2;
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= channels; ++d)
    if (channels % d == 0) divisors.push_back(d);
  const int64_t groups = r.chance(55) ? 1 : r.pick(divisors);
  const bool transposed = std::string_view(op.row->name) == "ConvTranspose";
  const int64_t filters = groups * r.in(1, 4);
  Dims w = transposed ? Dims{channels, filters / groups} : Dims{filters, channels / groups};
  std::vector<int64_t> kernel;
  for (size_t i = 0; i < spatial; ++i) kernel.push_back(r.in(1, 3));
  w.insert(w.end(), kernel.begin(), kernel.end());
  if (m.elements(m.type(x).dims) > kMaxWork / std::max<int64_t>(1, m.elements(w))) return std::nullopt;
  const bool integer = std::string_view(op.row->name) == "ConvInteger";
  const DType dtype = integer ? m.some_dtype(allowed_for_input(op, 1)) : m.type(x).dtype;
  NodeSpec spec{{x, r.chance(80) ? m.leaf(dtype, w, true) : m.exactly(dtype, w)}, {}};
  if (!integer && r.chance(60)) spec.operands.push_back(m.exactly(dtype, {filters}));
  if (integer && r.chance(50)) spec.operands.push_back(m.leaf(m.type(x).dtype, {}, r.chance(70)));
  if (groups != 1) spec.attrs["group"] = groups;
  window_attributes(m, op, spatial, spec.attrs);
  if (r.chance(20)) spec.attrs["kernel_shape"] = kernel;
  return spec;
}

MaybeSpec make_pool(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = image(m, allowed_for_input(op, 0));
  if (x == kNone) return std::nullopt;
  const size_t spatial = static_cast<size_t>(m.rank(x)) - 2;
  NodeSpec spec{{x}, {}};
  std::vector<int64_t> kernel;
  for (size_t i = 0; i < spatial; ++i) kernel.push_back(r.in(1, 3));
  spec.attrs["kernel_shape"] = kernel;
  window_attributes(m, op, spatial, spec.attrs);
  if (op.attribute("p") != nullptr && r.chance(50)) spec.attrs["p"] = r.in(1, 3);
  if (op.max_outputs > 1 && r.chance(20)) {
    spec.outputs = 2;
    if (r.chance(30)) spec.attrs["storage_order"] = int64_t{1};
  }
  return spec;
}

MaybeSpec make_global_pool(GraphMaker& m, const Operator& op) {
  const ValueId x = image(m, allowed_for_input(op, 0));
  if (x == kNone) return std::nullopt;
  return NodeSpec{{x}, {}};
}

MaybeSpec make_reduce(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0), 0, 4);
  if (x == kNone) return std::nullopt;
  NodeSpec spec{{x}, {}};
  const std::vector<int64_t> axes = some_axes(m, m.rank(x), r.chance(10));
  if (r.chance(80)) {
    if (op.attribute("axes") != nullptr) spec.attrs["axes"] = axes;
    if (op.inputs.size() > 1) spec.operands.push_back(m.ints(axes));
  }
  if (r.chance(60)) spec.attrs["keepdims"] = r.in(0, 1);
  if (op.attribute("noop_with_empty_axes") != nullptr && r.chance(15))
    spec.attrs["noop_with_empty_axes"] = int64_t{1};
  return spec;
}

Dims tail_of(const Dims& dims, int64_t axis) {
  const auto rank = static_cast<int64_t>(dims.size());
  return Dims(dims.begin() + (axis < 0 ? axis + rank : axis), dims.end());
}

MaybeSpec make_row_normalization(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0), 1, 4);
  if (x == kNone) return std::nullopt;
  const DType dtype = m.type(x).dtype;
  const int64_t axis = r.chance(50) ? -1 : some_axis(m, m.rank(x));
  const Dims tail = tail_of(m.type(x).dims, axis);
  const auto parameter = [&] {
    return r.chance(60) ? m.exactly(dtype, tail) : m.partner_of(dtype, tail, true);
  };
  NodeSpec spec{{x, parameter()}, {}};
  if (op.inputs.size() > 2 && r.chance(60)) spec.operands.push_back(parameter());
  if (axis != -1 || r.chance(20)) spec.attrs["axis"] = axis;
  if (r.chance(40)) spec.attrs["epsilon"] = r.chance(50) ? 1e-2 : 1e-12;
  if (op.max_outputs > 1 && r.chance(15)) spec.outputs = static_cast<size_t>(r.in(2, 3));
  return spec;
}

// Scale, bias, mean and variance per channel.
MaybeSpec make_channel_normalization(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const bool wants_image = op.inputs.size() < 4;  // InstanceNormalization, GroupNormalization
  const ValueId x = wants_image || r.chance(50) ? image(m, allowed_for_input(op, 0))
                                                : m.any(allowed_for_input(op, 0), 2, 4);
  if (x == kNone || !m.extent(x, 1)) return std::nullopt;
  const int64_t channels = *m.extent(x, 1);
  NodeSpec spec{{x}, {}};
  for (size_t i = 1; i < op.inputs.size(); ++i) {
    const ValueId v = m.leaf(m.type(x).dtype, {channels}, r.chance(75));
    // A variance is not negative.
    spec.operands.push_back(i == 4 ? m.add("Abs", {v}) : v);
  }
  if (r.chance(30)) spec.attrs["epsilon"] = 1e-2;
  if (op.attribute("num_groups") != nullptr) {
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= channels; ++d)
      if (channels % d == 0) divisors.push_back(d);
    if (divisors.empty()) return std::nullopt;
    spec.attrs["num_groups"] = r.pick(divisors);
  }
  return spec;
}

MaybeSpec make_clip(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0));
  if (x == kNone) return std::nullopt;
  const DType dtype = m.type(x).dtype;
  const auto bound = [&](int64_t low, int64_t high) {
    return r.chance(85) ? m.number(dtype, static_cast<double>(r.in(low, high))) : m.leaf(dtype, {});
  };
  NodeSpec spec{{x}, {}};
  if (r.chance(90)) spec.operands.push_back(r.chance(85) ? bound(-2, 1) : kNone);
  if (spec.operands.size() == 2 && r.chance(80)) spec.operands.push_back(bound(0, 6));
  return spec;
}

MaybeSpec make_mod(GraphMaker& m, const Operator& op) {
  const ValueId a = m.any(allowed_for_input(op, 0));
  if (a == kNone) return std::nullopt;
  NodeSpec spec{{a, m.partner(a)}, {}};
  if (is_float(m.type(a).dtype) || m.random().chance(30)) spec.attrs["fmod"] = int64_t{1};
  return spec;
}

MaybeSpec make_pow(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0));
  if (x == kNone) return std::nullopt;
  const DType dtype = r.chance(60) ? m.type(x).dtype : m.some_dtype(allowed_for_input(op, 1));
  if (r.chance(60)) {
    static const std::vector<double> kExponents{2, 3, 0.5, -0.5, 1, 0, -1, 4};
    return NodeSpec{{x, m.number(dtype, r.pick(kExponents))}, {}};
  }
  return NodeSpec{{x, m.partner_of(dtype, m.type(x).dims, false)}, {}};
}

MaybeSpec make_p_relu(GraphMaker& m, const Operator& op) {
  const ValueId x = m.any(allowed_for_input(op, 0));
  if (x == kNone) return std::nullopt;
  return NodeSpec{{x, m.partner(x, true)}, {}};
}

MaybeSpec make_cum_sum(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0), 1, 4);
  if (x == kNone) return std::nullopt;
  NodeSpec spec{
      {x, m.number(r.chance(50) ? DType::int64 : DType::int32, static_cast<double>(some_axis(m, m.rank(x))))},
      {}};
  for (const char* flag : {"exclusive", "reverse"})
    if (r.chance(40)) spec.attrs[flag] = int64_t{1};
  return spec;
}

MaybeSpec make_top_k(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0), 1, 3);
  if (x == kNone) return std::nullopt;
  const int64_t axis = some_axis(m, m.rank(x));
  const auto extent = m.extent(x, axis < 0 ? axis + m.rank(x) : axis);
  // An axis of unknown size may be empty at the sizes that kernels are chosen for.
  NodeSpec spec{{x, m.ints({r.in(0, extent.value_or(0))})}, {{"axis", axis}}, 2};
  for (const char* flag : {"largest", "sorted"})
    if (r.chance(40)) spec.attrs[flag] = r.in(0, 1);
  return spec;
}

MaybeSpec make_einsum(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  struct Form {
    const char* equation;
    std::vector<std::string> axes;
  };
  static const std::vector<Form> kForms{{"ij,jk->ik", {"ij", "jk"}},
                                        {"bij,bkj->bik", {"bij", "bkj"}},
                                        {"ij->ji", {"ij"}},
                                        {"ii->i", {"ii"}},
                                        {"ij->", {"ij"}},
                                        {"i,j->ij", {"i", "j"}},
                                        {"bhid,bhjd->bhij", {"bhid", "bhjd"}},
                                        {"ij,ij->i", {"ij", "ij"}},
                                        {"ij,jk", {"ij", "jk"}}};
  const Form form = r.pick(kForms);
  const DType dtype = m.some_dtype(allowed_for_input(op, 0));
  std::map<char, Dim> extents;
  NodeSpec spec{{}, {{"equation", std::string(form.equation)}}};
  for (const std::string& axes : form.axes) {
    Dims dims;
    for (const char c : axes)
      dims.push_back(
          extents.try_emplace(c, r.chance(25) ? m.some_dims(1, 1)[0] : Dim(r.in(1, 6))).first->second);
    spec.operands.push_back(m.exactly(dtype, dims));
  }
  return spec;
}

// Scale and zero point: one for all, or one for each index of an axis.
MaybeSpec make_quantize(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId x = m.any(allowed_for_input(op, 0), 1, 3);
  if (x == kNone) return std::nullopt;
  const bool quantize = std::string_view(op.row->name) == "QuantizeLinear";
  const int64_t axis = some_axis(m, m.rank(x));
  const auto extent = m.extent(x, axis < 0 ? axis + m.rank(x) : axis);
  const Dims dims = extent && r.chance(40) ? Dims{*extent} : Dims{};
  const DTypeSet scales = allowed_for_input(op, 1);
  const DType scale = scales.contains(m.type(x).dtype) ? m.type(x).dtype : m.some_dtype(scales);
  static const std::vector<DType> kQuantized{DType::int8, DType::uint8, DType::int16, DType::uint16};
  const DType code = quantize ? r.pick(kQuantized) : m.type(x).dtype;
  NodeSpec spec{{x, m.constant(splat(scale, *static_values(dims), 0.05))}, {}};
  if (r.chance(70))
    spec.operands.push_back(m.constant(splat(code, *static_values(dims), static_cast<double>(r.in(0, 5)))));
  if (!dims.empty()) spec.attrs["axis"] = axis;
  return spec;
}

// Of integers alone: what bits a NaN has is left open, so those of computed floats cannot be compared.
MaybeSpec make_bit_cast(GraphMaker& m, const Operator& op) {
  if (m.random().chance(25)) {
    const bool negative = m.random().chance(50);
    return NodeSpec{{m.leaf(negative ? DType::int4 : DType::uint4, m.some_dims(1, 3))},
                    {{"to", negative ? DType::uint4 : DType::int4}}};
  }
  const ValueId x = m.any(allowed_for_input(op, 0));
  if (x == kNone || is_float(m.type(x).dtype)) return std::nullopt;
  std::vector<DType> same_width;
  for (int i = 0; i < kDTypeCount; ++i)
    if (bits_of(static_cast<DType>(i)) == bits_of(m.type(x).dtype))
      same_width.push_back(static_cast<DType>(i));
  return NodeSpec{{x}, {{"to", m.random().pick(same_width)}}};
}

}  // namespace

const NodeMakers& math_makers() {
  static const NodeMakers table = [] {
    NodeMakers t{{"MatMul", make_mat_mul},
                 {"Gemm", make_gemm},
                 {"Conv", make_conv},
                 {"ConvTranspose", make_conv},
                 {"ConvInteger", make_conv},
                 {"MaxPool", make_pool},
                 {"AveragePool", make_pool},
                 {"LpPool", make_pool},
                 {"GlobalAveragePool", make_global_pool},
                 {"GlobalMaxPool", make_global_pool},
                 {"GlobalLpPool", make_global_pool},
                 {"LayerNormalization", make_row_normalization},
                 {"RMSNormalization", make_row_normalization},
                 {"BatchNormalization", make_channel_normalization},
                 {"InstanceNormalization", make_channel_normalization},
                 {"GroupNormalization", make_channel_normalization},
                 {"BitCast", make_bit_cast},
                 {"Clip", make_clip},
                 {"Mod", make_mod},
                 {"Pow", make_pow},
                 {"PRelu", make_p_relu},
                 {"CumSum", make_cum_sum},
                 {"TopK", make_top_k},
                 {"Einsum", make_einsum},
                 {"QuantizeLinear", make_quantize},
                 {"DequantizeLinear", make_quantize}};
    for (const char* kind :
         {"Sum", "Prod", "Max", "Min", "Mean", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"})
      t[std::string("Reduce") + kind] = make_reduce;
    return t;
  }();
  return table;
}

}  // namespace ge::test

// Makers: what exporters and optimizers write for language models: attention with its caches and masks,
// rotary positions, and the operators of com.microsoft.
#include <algorithm>

#include "fuzz/node_makers.h"

namespace ge::test {
namespace {

using MaybeSpec = std::optional<NodeSpec>;

void set(std::vector<ValueId>& operands, size_t at, ValueId value) {
  if (operands.size() <= at) operands.resize(at + 1, kNone);
  operands[at] = value;
}

// Sizes of one attention: small, or in a large graph what fills tiles of queries and keys.
struct Sizes {
  Dim batch, queries, keys;
  int64_t shared, heads, size, width;
  explicit Sizes(GraphMaker& m) {
    Random& r = m.random();
    const bool large = m.is_large() && r.chance(70);
    batch = large || r.chance(60) ? Dim(r.in(1, 2)) : m.some_dims(1, 1)[0];
    const auto length = [&] { return large ? Dim(r.in(1, 140)) : m.some_dims(1, 1)[0]; };
    queries = length();
    keys = r.chance(40) ? queries : length();
    shared = r.in(1, 2);
    heads = shared * r.pick(std::vector<int64_t>{1, 1, 2, 3});
    size = large ? r.pick(std::vector<int64_t>{8, 32, 40, 64}) : r.in(1, 9);
    width = r.chance(70) ? size : r.in(1, 9);
  }
  bool fits(GraphMaker& m, const Dim& length) const {
    return m.elements({batch, Dim(heads), queries, length}) <= m.max_elements() &&
           m.elements({batch, Dim(heads), queries, Dim(size)}) <= m.max_elements() &&
           m.elements({batch, Dim(shared), length, Dim(std::max(size, width))}) <= m.max_elements();
  }
};

MaybeSpec make_attention(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const DType dtype = m.some_dtype(allowed_for_input(op, 0));
  const Sizes s(m);
  const bool flat = r.chance(40), past = r.chance(20);
  const int64_t before = past ? r.in(0, 4) : 0;
  const Dim length = s.keys + Dim(before);
  if (!s.fits(m, length)) return std::nullopt;
  const auto heads = [&](int64_t count, const Dim& rows, const Dim& of) {
    return flat ? m.exactly(dtype, {s.batch, rows, Dim(count) * of})
                : m.exactly(dtype, {s.batch, Dim(count), rows, of});
  };
  // The scale of a head whose size is a symbol is computed where it runs.
  const Dim size = !flat && r.chance(10) ? m.some_dims(1, 1)[0] : Dim(s.size);
  if (m.elements({s.batch, Dim(s.heads), Dim::max(s.queries, length), size}) > m.max_elements())
    return std::nullopt;
  NodeSpec spec{
      {heads(s.heads, s.queries, size), heads(s.shared, s.keys, size), heads(s.shared, s.keys, Dim(s.width))},
      {}};
  if (flat) spec.attrs = {{"q_num_heads", s.heads}, {"kv_num_heads", s.shared}};
  if (r.chance(45)) {
    const DType mask = r.chance(50) ? DType::boolean : dtype;
    set(spec.operands, 3, m.partner_of(mask, {s.batch, Dim(s.heads), s.queries, length}, true));
  }
  if (past) {
    set(spec.operands, 4, m.exactly(dtype, {s.batch, Dim(s.shared), Dim(before), size}));
    set(spec.operands, 5, m.exactly(dtype, {s.batch, Dim(s.shared), Dim(before), Dim(s.width)}));
    spec.outputs = 3;
  } else if (op.inputs.size() > 6 && s.batch.is_static() && r.chance(15)) {
    set(spec.operands, 6, m.integers(DType::int64, {*s.batch.value()}, 0, s.keys.value().value_or(1)));
  }
  if (r.chance(40)) spec.attrs["is_causal"] = int64_t{1};
  if (r.chance(30)) spec.attrs["scale"] = r.pick(std::vector<double>{1, 0.125, 0.35, 2});
  if (r.chance(12)) spec.attrs["softcap"] = r.pick(std::vector<double>{1, 5, 30});
  if (r.chance(8)) spec.attrs["softmax_precision"] = r.chance(50) ? DType::float32 : DType::float64;
  for (const char* window : {"left_window_size", "right_window_size"})
    if (op.attribute(window) != nullptr && r.chance(12)) spec.attrs[window] = r.in(-1, 3);
  if (r.chance(8)) {
    spec.outputs = 4;
    spec.attrs["qk_matmul_output_mode"] = r.in(0, 3);
  }
  return spec;
}

// Caches of cos and sin, one row a position.
MaybeSpec make_rotary_embedding(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const bool microsoft = std::string_view(op.row->domain) == "com.microsoft";
  const DType dtype = m.some_dtype(allowed_for_input(op, 0));
  const int64_t batch = r.in(1, 2), rows = r.in(1, 4), heads = r.in(1, 3), half = r.in(1, 4),
                rest = r.chance(25) ? r.in(1, 3) : 0, size = 2 * half + rest, positions = rows + r.in(0, 3);
  const bool flat = r.chance(50);
  const ValueId x = m.exactly(dtype, flat ? Dims{batch, rows, heads * size} : Dims{batch, heads, rows, size});
  NodeSpec spec{{x}, {{"interleaved", r.in(0, 1)}}};
  if (flat) spec.attrs["num_heads"] = heads;
  if (rest > 0) spec.attrs["rotary_embedding_dim"] = 2 * half;
  const bool by_position = microsoft || r.chance(60);
  const Dims cache = by_position ? Dims{positions, half} : Dims{batch, rows, half};
  const ValueId at = !by_position                ? kNone
                     : microsoft && r.chance(40) ? m.integers(DType::int64, {1}, 0, positions - rows)
                                                 : m.integers(DType::int64, {batch, rows}, 0, positions - 1);
  const ValueId cosine = m.exactly(dtype, cache), sine = m.exactly(dtype, cache);
  if (microsoft)
    spec.operands = {x, at, cosine, sine};
  else
    spec.operands = by_position ? std::vector<ValueId>{x, cosine, sine, at} : std::vector{x, cosine, sine};
  return spec;
}

MaybeSpec make_causal_conv(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const DType dtype = m.some_dtype(allowed_for_input(op, 0));
  const int64_t channels = r.in(1, 4), kernel = r.in(1, 4);
  const Dim batch = m.some_dims(1, 1)[0];
  const Dims dims{batch, channels, m.some_dims(1, 1)[0]};
  if (m.elements(dims) > m.max_elements()) return std::nullopt;
  NodeSpec spec{{m.exactly(dtype, dims), m.exactly(dtype, {channels, 1, kernel})}, {}, 2};
  if (r.chance(50)) set(spec.operands, 2, m.exactly(dtype, {channels}));
  if (r.chance(50)) set(spec.operands, 3, m.exactly(dtype, {batch, channels, kernel - 1}));
  spec.attrs["activation"] = std::string(r.pick(std::vector<const char*>{"none", "silu", "swish"}));
  return spec;
}

// -- com.microsoft --

MaybeSpec make_fused_mat_mul(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const ValueId a = m.any(allowed_for_input(op, 0), 2, 4);
  if (a == kNone) return std::nullopt;
  const Dims& dims = m.type(a).dims;
  const size_t rank = dims.size();
  const bool ta = r.chance(30), tb = r.chance(30), batch_last = rank > 2 && r.chance(20);
  // [M, batch..., K] with transBatchA; M and K change places with transA.
  Dims left = dims;
  if (batch_last) std::rotate(left.begin(), left.begin() + 1, left.end() - 1);
  if (ta) std::swap(left[rank - 1], left[rank - 2]);
  const Dim k = left.back(), n = m.some_dims(1, 1)[0];
  Dims other(left.begin(), left.end() - 2);
  if (r.chance(40)) other.clear();
  other.insert(other.end(), {tb ? n : k, tb ? k : n});
  if (m.elements(dims) > 400'000 / std::max<int64_t>(1, m.elements({n}))) return std::nullopt;
  NodeSpec spec{{a, m.exactly(m.type(a).dtype, other)}, {}};
  if (ta) spec.attrs["transA"] = int64_t{1};
  if (tb) spec.attrs["transB"] = int64_t{1};
  if (batch_last) spec.attrs["transBatchA"] = int64_t{1};
  if (r.chance(40)) spec.attrs["alpha"] = static_cast<double>(r.in(-1, 3)) / 2;
  return spec;
}

// Gemm or Conv, with an activation behind it and, of Conv, a residual before that.
MaybeSpec make_fused(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const bool conv = std::string_view(op.row->name) == "FusedConv";
  const auto plain = math_makers().find(conv ? "Conv" : "Gemm");
  auto spec = plain->second(m, op);
  if (!spec) return std::nullopt;
  static const std::vector<const char*> kNames{"Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "HardSigmoid"};
  const std::string name = r.pick(kNames);
  const auto parameter = [&](const char* of_gemm, double value) {
    if (!conv) spec->attrs[of_gemm] = value;
  };
  if (r.chance(70)) {
    spec->attrs["activation"] = name;
    const bool two = name == "Clip" || name == "HardSigmoid";
    const double first = name == "Clip" ? -0.5 : 0.25;
    if (conv && (two || name == "LeakyRelu"))
      spec->attrs["activation_params"] = two ? std::vector<double>{first, 0.75} : std::vector<double>{first};
    if (two || name == "LeakyRelu") parameter("activation_alpha", first);
    if (two) parameter("activation_beta", 0.75);
  }
  if (!conv || !r.chance(40)) return spec;
  const ValueId like =
      m.add("Conv", std::vector<ValueId>(spec->operands.begin(), spec->operands.begin() + 2), [&] {
        AttrMap attrs = spec->attrs;
        attrs.erase("activation");
        attrs.erase("activation_params");
        return attrs;
      }());
  if (like != kNone) set(spec->operands, 3, m.exactly(m.type(like).dtype, m.type(like).dims));
  return spec;
}

MaybeSpec make_skip_normalization(GraphMaker& m, const Operator& op) {
  const ValueId x = m.any(allowed_for_input(op, 0), 2, 3);
  if (x == kNone) return std::nullopt;
  const DType dtype = m.type(x).dtype;
  const Dims dims = m.type(x).dims, row{dims.back()};
  NodeSpec spec{{x, m.exactly(dtype, dims), m.exactly(dtype, row)}, {{"epsilon", 1e-5}}};
  for (size_t i = 3; i < op.inputs.size() && m.random().chance(60); ++i)
    spec.operands.push_back(m.exactly(dtype, row));
  if (m.random().chance(25)) spec.outputs = 4;
  return spec;
}

MaybeSpec make_biased(GraphMaker& m, const Operator& op) {
  const ValueId x = m.any(allowed_for_input(op, 0), 1, 4);
  if (x == kNone) return std::nullopt;
  return NodeSpec{{x, m.exactly(m.type(x).dtype, {m.type(x).dims.back()})}, {}};
}

MaybeSpec make_multi_head_attention(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const DType dtype = m.some_dtype(allowed_for_input(op, 0));
  Sizes s(m);
  s.shared = s.heads, s.width = s.size;
  const int64_t hidden = s.heads * s.size, before = r.chance(20) ? r.in(0, 3) : -1;
  const Dim length = s.keys + Dim(std::max<int64_t>(before, 0));
  if (!s.fits(m, length)) return std::nullopt;
  NodeSpec spec{{}, {{"num_heads", s.heads}}};
  const int packed = r.chance(25) ? static_cast<int>(r.in(1, 3)) : 0;  // qkv; kv; heads of their own
  const Dim rows = packed == 1 ? s.keys : s.queries;
  if (packed == 1) {
    spec.operands = {m.exactly(dtype, {s.batch, s.keys, s.heads, 3, s.size})};
  } else {
    spec.operands = {m.exactly(dtype, {s.batch, s.queries, hidden})};
    if (packed == 2) spec.operands.push_back(m.exactly(dtype, {s.batch, s.keys, s.heads, 2, s.size}));
    const Dims one = packed == 3 ? Dims{s.batch, s.heads, s.keys, s.size} : Dims{s.batch, s.keys, hidden};
    for (int i = 0; i < 2 && packed != 2; ++i) spec.operands.push_back(m.exactly(dtype, one));
  }
  if (packed == 0 && r.chance(40)) set(spec.operands, 3, m.exactly(dtype, {3 * hidden}));
  const auto batch = s.batch.value(), keys = length.value(), queries = rows.value();
  if (batch && keys && queries && r.chance(25)) {
    const auto shape =
        r.pick(std::vector<std::vector<int64_t>>{{*batch}, {*batch, *keys}, {*batch, *queries, *keys}});
    set(spec.operands, 4, m.integers(DType::int32, shape, 0, shape.size() == 1 ? *keys : 1));
  }
  if (r.chance(30))
    set(spec.operands, 5,
        m.exactly(dtype, {r.chance(50) ? s.batch : Dim(1), r.chance(50) ? s.heads : 1, rows, length}));
  if (before >= 0) {
    for (const size_t i : {6, 7}) set(spec.operands, i, m.exactly(dtype, {s.batch, s.heads, before, s.size}));
    spec.outputs = 3;
  }
  if (r.chance(30)) spec.attrs["unidirectional"] = int64_t{1};
  if (r.chance(30)) spec.attrs["scale"] = 0.3;
  return spec;
}

MaybeSpec make_group_query_attention(GraphMaker& m, const Operator& op) {
  Random& r = m.random();
  const DType dtype = m.some_dtype(allowed_for_input(op, 0));
  Sizes s(m);
  s.size = 2 * r.in(1, 4);
  const int64_t batch = r.in(1, 2), rows = r.in(1, 5), before = r.chance(50) ? r.in(1, 4) : -1,
                total = rows + std::max<int64_t>(before, 0);
  NodeSpec spec{{}, {{"num_heads", s.heads}, {"kv_num_heads", s.shared}}, 3};
  const auto hidden = [&](int64_t heads) { return m.exactly(dtype, {batch, rows, heads * s.size}); };
  if (r.chance(30))
    spec.operands = {hidden(s.heads + 2 * s.shared)};
  else
    spec.operands = {hidden(s.heads), hidden(s.shared), hidden(s.shared)};
  if (before >= 0)
    for (const size_t i : {3, 4}) set(spec.operands, i, m.exactly(dtype, {batch, s.shared, before, s.size}));
  set(spec.operands, 5, m.integers(DType::int32, {batch}, rows - 1, total - 1));
  set(spec.operands, 6, m.number(DType::int32, static_cast<double>(total)));
  if (r.chance(50)) {
    spec.attrs["do_rotary"] = int64_t{1};
    spec.attrs["rotary_interleaved"] = r.in(0, 1);
    for (const size_t i : {7, 8}) set(spec.operands, i, m.exactly(dtype, {total + 2, s.size / 2}));
  }
  if (r.chance(20)) set(spec.operands, 10, m.exactly(dtype, {1, r.chance(50) ? s.heads : 1, rows, total}));
  if (r.chance(15)) set(spec.operands, 11, m.exactly(dtype, {s.heads}));
  if (r.chance(20)) spec.attrs["local_window_size"] = r.in(1, 4);
  if (r.chance(15)) spec.attrs["softcap"] = 5.0;
  if (r.chance(15)) spec.attrs["smooth_softmax"] = int64_t{1};
  if (r.chance(30)) spec.attrs["scale"] = 0.3;
  return spec;
}

}  // namespace

const NodeMakers& model_makers() {
  static const NodeMakers table{{"Attention", make_attention},
                                {"RotaryEmbedding", make_rotary_embedding},
                                {"CausalConvWithState", make_causal_conv},
                                {"FusedMatMul", make_fused_mat_mul},
                                {"FusedGemm", make_fused},
                                {"FusedConv", make_fused},
                                {"SkipLayerNormalization", make_skip_normalization},
                                {"SkipSimplifiedLayerNormalization", make_skip_normalization},
                                {"FastGelu", make_biased},
                                {"BiasGelu", make_biased},
                                {"MultiHeadAttention", make_multi_head_attention},
                                {"GroupQueryAttention", make_group_query_attention}};
  return table;
}

}  // namespace ge::test

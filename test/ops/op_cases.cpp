#include "ops/op_cases.h"

#include <bit>
#include <cmath>

#include "compiler/ir/channels_last.h"
#include "contract/scalar_op.h"
#include "ops/case_builder.h"

namespace ge::test {
namespace {

const std::vector<std::vector<int64_t>>& shapes() {
  static const std::vector<std::vector<int64_t>> list{{},     {1},    {0},        {7},     {3, 5},
                                                      {0, 4}, {1, 9}, {2, 3, 17}, {33, 1}, {2, 1, 3, 5}};
  return list;
}

// Every shape for the dtypes that models compute in, every third for the others, whose loops are the same.
size_t shape_step(DType dtype) {
  switch (dtype) {
    case DType::float32:
    case DType::float16:
    case DType::bfloat16:
    case DType::int64:
    case DType::int32:
    case DType::boolean:
      return 1;
    default:
      return 3;
  }
}

// Ops that give one of their operands, or a number that every format has.
bool is_exact(ScalarOp op) {
  switch (op) {
    case ScalarOp::max:
    case ScalarOp::min:
    case ScalarOp::neg:
    case ScalarOp::abs:
    case ScalarOp::sign:
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::round:
    case ScalarOp::trunc:
    case ScalarOp::relu:
    case ScalarOp::thresholded_relu:
    case ScalarOp::clamp:
    case ScalarOp::select:
      return true;
    default:
      return scalar_op_info(static_cast<uint16_t>(op))->result == ScalarResult::boolean;
  }
}

OpGraph map_graph(const ScalarOpInfo& info, DType dtype, uint32_t seed) {
  CaseBuilder c(std::string(info.name), dtype, seed);
  if (is_exact(info.op)) c.exact();
  const Op op = *op_from_name(info.name);
  for (size_t s = 0; s < shapes().size(); s += shape_step(dtype)) {
    for (const Data data : {Data::kPlain, Data::kSpecial}) {
      std::vector<ValueId> operands;
      for (int i = 0; i < info.arity; ++i) {
        const DType t = info.op == ScalarOp::select && i == 0 ? DType::boolean : dtype;
        operands.push_back(c.view(shapes()[s], data, static_cast<int>((s + static_cast<size_t>(i)) % 4), t));
      }
      c.output(c.b().op(op, operands));
    }
  }
  return c.finish();
}

OpGraph cast_graph(DType from, uint32_t seed) {
  CaseBuilder c("cast", from, seed);
  c.exact();
  if (bits_of(from) < 8) {  // by way of 8 bits, as every conversion of packed elements goes
    const DType bytes = from == DType::int4 ? DType::int8 : DType::uint8;
    for (const auto& dims : shapes()) c.output(c.b().cast(c.view(dims, Data::kSpecial, 0, from), bytes));
    return c.finish();
  }
  for (const DType to : table_dtypes())
    for (size_t s = 0; bits_of(to) >= 8 && s < shapes().size(); s += to == from ? 1 : 3)
      c.output(c.b().cast(c.view(shapes()[s], Data::kSpecial, static_cast<int>(s % 4), from), to));
  return c.finish();
}

const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>>& reductions() {
  static const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> list{
      {{7}, {0}},        {{3, 5}, {1}},       {{3, 5}, {0}}, {{4, 0}, {1}},    {{0, 4}, {1}},
      {{2, 3, 33}, {2}}, {{2, 3, 4}, {0, 2}}, {{1, 1}, {0}}, {{5, 1025}, {1}}, {{2, 3, 4, 5}, {1, 2}}};
  return list;
}

OpGraph reduce_graph(const std::string& kind, DType dtype, uint32_t seed) {
  CaseBuilder c("reduce_" + kind, dtype, seed);
  const bool picks = kind != "sum" && kind != "mean" && kind != "prod";
  c.tolerance(kind == "prod" ? 1e-3 : 2e-5, 2e-5);
  if (picks) c.exact();
  int view = 0;
  for (const auto& [dims, axes] : reductions()) {
    const bool arg = kind.starts_with("arg");
    if (arg && (axes.size() != 1 || dims[static_cast<size_t>(axes[0])] == 0)) continue;
    const bool wraps = kind == "mean" && dtype == DType::uint64;  // its sum is one of 64 bits
    const Data data = picks                               ? Data::kSpecial
                      : wraps                             ? Data::kPositive
                      : kind == "prod" && is_float(dtype) ? Data::kPositive
                                                          : Data::kPlain;
    AttrMap attrs{{"kind", kind}, {"axes", axes}};
    if (arg) attrs["select_last"] = int64_t{view % 2};
    if (dims.size() == 2 && dims[1] > 100 && kind == "prod") continue;  // overflows everything
    c.output(c.b().op(Op::reduce, {c.view(dims, data, view++ % 4, dtype)}, attrs));
  }
  return c.finish();
}

OpGraph softmax_graph(Op op, DType dtype, uint32_t seed) {
  CaseBuilder c(std::string(name_of(op)), dtype, seed);
  c.tolerance(2e-5, 2e-6);
  int view = 0;
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{5},
                                           {3, 7},
                                           {2, 1},
                                           {0, 4},
                                           {4, 3, 65},
                                           {13, 131},
                                           {2, 1000},
                                           {3, 2049},
                                           {1, 5000}})
    for (int64_t axis = 0; axis < static_cast<int64_t>(dims.size()); ++axis)
      for (const Data data : {Data::kPlain, Data::kSpecial})
        c.output(c.b().op(op, {c.view(dims, data, view++ % 4, dtype)}, {{"axis", axis}}));
  return c.finish();
}

OpGraph normalize_graph(const std::string& kind, DType dtype, uint32_t seed) {
  CaseBuilder c("normalize_" + kind, dtype, seed);
  c.tolerance(1e-4, 1e-4);
  int view = 0;
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{3, 7},
                                           {1, 1},
                                           {0, 4},
                                           {2, 3, 64},
                                           {13, 257},
                                           {5, 1031},
                                           {2, 768},
                                           {3, 2049},
                                           {1, 4100}}) {
    for (int64_t axis = 0; axis < static_cast<int64_t>(dims.size()); ++axis) {
      const ValueId x = c.view(dims, Data::kPlain, view % 4, dtype);
      std::vector<ValueId> operands{x};
      const std::vector<int64_t> tail(dims.begin() + axis, dims.end());
      if (view % 3 != 0) operands.push_back(c.b().broadcast(c.input(tail), c.b().type(x).dims));
      if (view % 3 == 2 && kind == "layer")
        operands.push_back(c.b().broadcast(c.input(tail), c.b().type(x).dims));
      c.output(c.b().op(Op::normalize, operands, {{"kind", kind}, {"axis", axis}, {"epsilon", 1e-5}}));
      ++view;
    }
  }
  return c.finish();
}

OpGraph attention_graph(DType dtype, uint32_t seed) {
  CaseBuilder c("attention", dtype, seed);
  c.of_terms(1e-5, 1e-5, true);
  struct Sizes {
    int64_t batch, heads, shared, queries, keys, size, width, causal;
  };
  int view = 0;
  for (const Sizes& s : std::vector<Sizes>{{2, 3, 3, 17, 17, 8, 8, 0},
                                           {1, 4, 2, 63, 65, 64, 32, 2},
                                           {2, 2, 1, 64, 128, 32, 64, 1},
                                           {1, 2, 2, 130, 300, 64, 64, 0},
                                           {1, 1, 1, 1, 1, 1, 1, 1},
                                           {1, 2, 2, 33, 70, 96, 128, 0},
                                           {0, 2, 2, 4, 3, 8, 8, 0},
                                           {1, 2, 2, 4, 0, 8, 8, 0}}) {
    for (int mask = 0; mask < 3; ++mask, ++view) {
      const auto in = [&](std::vector<int64_t> dims) {
        return c.view(std::move(dims), Data::kPlain, view % 4, dtype);
      };
      std::vector<ValueId> operands{in({s.batch, s.heads, s.queries, s.size}),
                                    in({s.batch, s.shared, s.keys, s.size}),
                                    in({s.batch, s.shared, s.keys, s.width})};
      const Dims scores{s.batch, s.heads, s.queries, s.keys};
      if (mask == 1) operands.push_back(c.b().broadcast(in({s.queries, s.keys}), scores));
      if (mask == 2)
        operands.push_back(
            c.b().broadcast(c.input_of(DType::boolean, {1, s.queries, 1}, Data::kPlain), scores));
      c.output(c.b().op(Op::attention, operands,
                        {{"scale", 0.125}, {"causal", s.causal}, {"zero_empty", int64_t{mask == 2}}}));
    }
  }
  return c.finish();
}

OpGraph dot_graph(DType dtype, uint32_t seed) {
  CaseBuilder c("dot", dtype, seed);
  c.of_terms(1e-5, 2e-6);
  struct Sizes {
    std::vector<int64_t> batch;
    int64_t m, k, n;
  };
  const std::vector<Sizes> sizes{{{}, 1, 1, 1},     {{}, 3, 5, 7},      {{}, 0, 4, 5},     {{}, 4, 0, 5},
                                 {{}, 17, 33, 65},  {{2}, 5, 8, 16},    {{2, 3}, 4, 7, 9}, {{0}, 2, 3, 4},
                                 {{}, 64, 128, 64}, {{}, 129, 64, 200}, {{}, 1, 256, 96},  {{3}, 16, 64, 32},
                                 {{}, 96, 1, 1}};
  int view = 0;
  for (const Sizes& s : sizes) {
    std::vector<int64_t> lhs = s.batch, rhs = s.batch;
    lhs.insert(lhs.end(), {s.m, s.k});
    rhs.insert(rhs.end(), {s.k, s.n});
    for (int round = 0; round < 3; ++round, ++view) {
      const int kind = round == 0 ? 0 : round;
      const auto operand = [&](std::vector<int64_t> dims) {
        if (kind != 1) return c.view(dims, Data::kPlain, kind == 2 && !s.batch.empty() ? 2 : 0, dtype);
        std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);  // the last two axes transposed
        std::vector<int64_t> perm;
        for (size_t a = 0; a < dims.size(); ++a) perm.push_back(static_cast<int64_t>(a));
        std::swap(perm[dims.size() - 1], perm[dims.size() - 2]);
        return c.b().transpose(c.input(dims), perm);
      };
      c.output(c.b().op(Op::dot, {operand(lhs), operand(rhs)}));
    }
  }
  return c.finish();
}

OpGraph conv_graph(DType dtype, uint32_t seed) {
  CaseBuilder c("conv", dtype, seed);
  c.of_terms(1e-5, 2e-6);
  struct Sizes {
    std::vector<int64_t> x, w, strides, begin, end, dilations;
    int64_t groups;
  };
  const std::vector<Sizes> sizes{
      {{1, 1, 5, 5}, {1, 1, 3, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, 1},
      {{2, 3, 9, 7}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
      {{1, 8, 10, 11}, {16, 8, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 1},
      {{1, 6, 8, 8}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 6},
      {{1, 4, 9, 9}, {6, 2, 3, 3}, {1, 1}, {2, 2}, {2, 2}, {2, 2}, 2},
      {{1, 16, 6, 6}, {8, 16, 1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, 1},
      {{0, 3, 4, 4}, {2, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1},
      {{1, 3, 12, 5}, {4, 3, 5, 1}, {3, 1}, {2, 0}, {1, 0}, {1, 1}, 1},
      {{2, 5, 13}, {7, 5, 3}, {1}, {1}, {1}, {1}, 1},
      {{1, 2, 4, 5, 6}, {3, 2, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 1},
      {{2, 24, 9, 10}, {19, 24, 3, 3}, {1, 2}, {1, 1}, {1, 1}, {1, 1}, 1},
      {{1, 32, 7, 7}, {24, 16, 3, 2}, {1, 1}, {2, 1}, {2, 0}, {2, 1}, 2},
      {{1, 64, 5, 5}, {40, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 1}};
  int view = 0;
  for (Sizes s : sizes) {
    for (int variant = 0; variant < 4; ++variant, ++view) {
      const int bias = variant % 2;
      const int64_t last = variant / 2;
      if (variant == 2) s.x = channels_last_order(s.x), s.w = channels_last_order(s.w);
      std::vector<ValueId> operands{c.view(s.x, Data::kPlain, view % 3 == 1 ? 1 : 0, dtype), c.input(s.w)};
      if (bias == 1) operands.push_back(c.input({s.w[0]}));
      c.output(c.b().op(Op::conv, operands,
                        {{"strides", s.strides},
                         {"channels_last", last},
                         {"pads_begin", s.begin},
                         {"pads_end", s.end},
                         {"dilations", s.dilations},
                         {"groups", s.groups}}));
    }
  }
  return c.finish();
}

OpGraph pool_graph(const std::string& kind, DType dtype, uint32_t seed) {
  CaseBuilder c("pool_" + kind, dtype, seed);
  if (kind == "max") c.exact();
  struct Sizes {
    std::vector<int64_t> x, kernel, strides, begin, end, dilations;
    int64_t ceil, include;
  };
  const std::vector<Sizes> sizes{{{1, 1, 4, 4}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, 0, 0},
                                 {{2, 3, 7, 9}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 0, 0},
                                 {{1, 2, 8, 7}, {3, 2}, {2, 3}, {1, 0}, {1, 1}, {1, 1}, 1, 1},
                                 {{0, 2, 4, 4}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, 0, 0},
                                 {{1, 4, 6, 6}, {6, 6}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, 0, 0},
                                 {{2, 3, 11}, {3}, {2}, {1}, {1}, {1}, 0, 1}};
  int view = 0;
  for (int64_t last = 0; last < 2; ++last)
    for (const Sizes& s : sizes)
      c.output(c.b().op(Op::pool,
                        {c.view(last != 0 ? channels_last_order(s.x) : s.x,
                                kind == "max" ? Data::kSpecial : Data::kPlain, view++ % 4, dtype)},
                        {{"kind", kind},
                         {"channels_last", last},
                         {"kernel", s.kernel},
                         {"strides", s.strides},
                         {"pads_begin", s.begin},
                         {"pads_end", s.end},
                         {"dilations", s.dilations},
                         {"ceil_mode", s.ceil},
                         {"count_include_pad", s.include}}));
  return c.finish();
}

OpGraph gather_graph(DType dtype, uint32_t seed) {
  CaseBuilder c("gather", dtype, seed);
  c.exact();
  struct Sizes {
    std::vector<int64_t> data, indices;
    int64_t axis;
  };
  const std::vector<Sizes> sizes{{{5}, {}, 0},     {{5, 3}, {4}, 0}, {{5, 3}, {2, 2}, 1}, {{2, 6, 4}, {3}, 1},
                                 {{7, 1}, {0}, 0}, {{1, 3}, {5}, 0}, {{300, 33}, {17}, 0}};
  int view = 0;
  for (const Sizes& s : sizes) {
    const int64_t extent = s.data[static_cast<size_t>(s.axis)];
    const DType index_type = view % 2 == 0 ? DType::int64 : DType::int32;
    c.output(c.b().op(
        Op::gather,
        {c.view(s.data, Data::kSpecial, view % 4, dtype), c.indices(s.indices, -extent, extent, index_type)},
        {{"axis", s.axis}}));
    ++view;
  }
  return c.finish();
}

struct IndexedSizes {
  std::vector<int64_t> data, indices;
  int64_t axis;
};
// An index for each element: no more of them than elements on the other axes.
const std::vector<IndexedSizes>& element_sizes() {
  static const std::vector<IndexedSizes> list{
      {{5}, {3}, 0},       {{5, 3}, {9, 3}, 0},      {{5, 3}, {2, 2}, 1},   {{2, 6, 4}, {2, 3, 1}, 1},
      {{7, 1}, {0, 1}, 0}, {{300, 33}, {17, 33}, 0}, {{40, 5}, {200, 5}, 0}};
  return list;
}

OpGraph gather_elements_graph(DType dtype, uint32_t seed) {
  CaseBuilder c("gather_elements", dtype, seed);
  c.exact();
  int view = 0;
  for (const IndexedSizes& s : element_sizes()) {
    const int64_t extent = s.data[static_cast<size_t>(s.axis)];
    c.output(c.b().op(Op::gather,
                      {c.view(s.data, Data::kSpecial, view % 4, dtype),
                       c.indices(s.indices, -extent, extent, view % 2 == 0 ? DType::int64 : DType::int32)},
                      {{"axis", s.axis}, {"elements", int64_t{1}}}));
    ++view;
  }
  return c.finish();
}

// Many updates of one element; the order of them is the same everywhere, so are the bits.
OpGraph scatter_graph(const std::string& kind, DType dtype, uint32_t seed) {
  CaseBuilder c("scatter_" + kind, dtype, seed);
  if (kind == "none" || kind == "max" || kind == "min") c.exact();
  int view = 0;
  const auto add = [&](const std::vector<int64_t>& data, const std::vector<int64_t>& indices,
                       const std::vector<int64_t>& updates, int64_t axis, int64_t elements) {
    const int64_t extent = data[static_cast<size_t>(axis)];
    const Data numbers = kind == "none" || kind.starts_with("m") ? Data::kSpecial : Data::kPlain;
    const Data values = kind == "mul" ? Data::kSmallInteger : numbers;
    c.output(c.b().op(Op::scatter,
                      {c.view(data, values, view % 4, dtype),
                       c.indices(indices, -extent, extent, view % 2 == 0 ? DType::int64 : DType::int32),
                       c.view(updates, values, (view + 1) % 4, dtype)},
                      {{"kind", kind}, {"axis", axis}, {"elements", elements}}));
    ++view;
  };
  for (const IndexedSizes& s : element_sizes()) add(s.data, s.indices, s.indices, s.axis, 1);
  add({5}, {}, {}, 0, 0);
  add({5, 3}, {4}, {4, 3}, 0, 0);
  add({5, 3}, {2, 2}, {5, 2, 2}, 1, 0);
  add({2, 6, 4}, {9}, {2, 9, 4}, 1, 0);
  add({7, 1}, {0}, {0, 1}, 0, 0);
  add({3000}, {700}, {700}, 0, 0);
  add({1}, {40}, {40}, 0, 0);
  return c.finish();
}

OpGraph scan_graph(DType dtype, uint32_t seed) {
  CaseBuilder c("scan", dtype, seed);
  c.tolerance(2e-5, 2e-5);
  int view = 0;
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{7}, {0}, {3, 5}, {4, 1}, {0, 4}, {2, 3, 17}, {3, 1000}, {70, 66}})
    for (int64_t axis = 0; axis < static_cast<int64_t>(dims.size()); ++axis, ++view)
      c.output(c.b().op(Op::scan, {c.view(dims, Data::kPlain, view % 4, dtype)},
                        {{"kind", std::string("sum")},
                         {"axis", axis},
                         {"exclusive", int64_t{view / 2 % 2}},
                         {"reverse", int64_t{view % 2}}}));
  return c.finish();
}

OpGraph sort_topk_graph(DType dtype, uint32_t seed) {
  CaseBuilder c("sort_topk", dtype, seed);
  c.exact();
  int view = 0;
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{7}, {3, 5}, {4, 1}, {0, 4}, {2, 3, 17}, {2, 1000}, {70, 3}})
    for (int64_t axis = 0; axis < static_cast<int64_t>(dims.size()); ++axis, ++view) {
      const int64_t extent = dims[static_cast<size_t>(axis)];
      for (const int64_t k : {int64_t{0}, (extent + 2) / 3, extent})
        c.output(c.b().op(Op::sort_topk, {c.view(dims, Data::kSpecial, view % 4, dtype)},
                          {{"axis", axis}, {"k", Dims{k}}, {"largest", int64_t{view % 2}}}));
    }
  return c.finish();
}

// 8-bit values of the dtype's sign packed to 4 bits, moved, and unpacked.
OpGraph nibbles_graph(DType bytes, uint32_t seed) {
  CaseBuilder c("cast_nibbles", bytes, seed);
  c.exact();
  Builder& b = c.b();
  const DType nibbles = class_of(bytes) == DTypeClass::kSigned ? DType::int4 : DType::uint4;
  for (size_t s = 0; s < shapes().size(); ++s) {
    const ValueId packed =
        b.cast(c.view(shapes()[s], Data::kSpecial, static_cast<int>(s % 4), bytes), nibbles);
    c.output(packed);
    c.output(b.cast(packed, bytes));
  }
  const ValueId packed = b.cast(c.view({3, 5}, Data::kSpecial, 0, bytes), nibbles);
  c.output(b.transpose(packed, {1, 0}));
  c.output(b.cast(b.broadcast(packed, {2, 3, 5}), bytes));
  return c.finish();
}

OpGraph movement_graph(const std::string& op, DType dtype, uint32_t seed) {
  CaseBuilder c(op, dtype, seed);
  c.exact();
  Builder& b = c.b();
  for (int view = 0; view < (bits_of(dtype) < 8 ? 1 : 4); ++view) {
    const auto in = [&](std::vector<int64_t> dims) {
      return c.view(std::move(dims), Data::kSpecial, view, dtype);
    };
    if (op == "reshape") {
      c.output(b.reshape(in({4, 6}), {3, 8}));
      c.output(b.reshape(in({2, 3, 4}), {6, 4}));
      c.output(b.reshape(in({0, 3}), {0}));
      c.output(b.reshape(in({1}), {}));
    }
    if (op == "transpose") {
      c.output(b.transpose(in({3, 5}), {1, 0}));
      c.output(b.transpose(in({2, 3, 4, 5}), {0, 2, 1, 3}));
      c.output(b.transpose(in({0, 3}), {1, 0}));
      c.output(b.transpose(in({70, 67}), {1, 0}));
    }
    if (op == "broadcast") {
      c.output(b.broadcast(in({1, 5}), {3, 5}));
      c.output(b.broadcast(in({3, 1}), {2, 3, 4}));
      c.output(b.broadcast(in({1}), {0, 4}));
    }
    if (op == "slice") {
      c.output(b.op(Op::slice, {in({9, 5})},
                    {{"starts", Dims{8, 1}}, {"steps", std::vector<int64_t>{-3, 2}}, {"shape", Dims{3, 2}}}));
      c.output(b.op(Op::slice, {in({4, 5})},
                    {{"starts", Dims{2, 0}}, {"steps", std::vector<int64_t>{1, 1}}, {"shape", Dims{0, 5}}}));
    }
    if (op == "concat") {
      c.output(b.op(Op::concat, {in({2, 3}), in({2, 4}), in({2, 0})}, {{"axis", int64_t{1}}}));
      c.output(b.op(Op::concat, {in({1, 3, 2}), in({5, 3, 2})}, {{"axis", int64_t{0}}}));
    }
    if (op == "pad") {
      c.output(b.op(Op::pad, {in({3, 4})},
                    {{"low", std::vector<int64_t>{1, 0}}, {"high", std::vector<int64_t>{2, 3}}}));
    }
  }
  return c.finish();
}

// The bits of floats are integers; integers of any bits are floats.
OpGraph bitcast_graph(DType from, uint32_t seed) {
  CaseBuilder c("bitcast", from, seed);
  c.exact();
  for (const DType to : table_dtypes()) {
    if (bits_of(to) != bits_of(from) || is_bool(to)) continue;
    for (size_t s = 0; s < shapes().size(); ++s)
      c.output(c.b().op(Op::bitcast, {c.view(shapes()[s], Data::kSpecial, static_cast<int>(s % 4), from)},
                        {{"to", to}}));
  }
  return c.finish();
}

OpGraph iota_graph(DType dtype, uint32_t seed) {
  CaseBuilder c("iota", dtype, seed);
  c.exact();
  for (const auto& dims : {Dims{5}, Dims{0}, Dims{3, 4}, Dims{1000}})
    for (int64_t axis = 0; axis < static_cast<int64_t>(dims.size()); ++axis)
      c.output(c.b().op(Op::iota, {}, {{"shape", dims}, {"axis", axis}, {"dtype", dtype}}));
  return c.finish();
}

}  // namespace

std::vector<DType> table_dtypes() {
  return {DType::float64,    DType::float32, DType::float16, DType::bfloat16, DType::float8e4m3fn,
          DType::float8e5m2, DType::int64,   DType::int32,   DType::int16,    DType::int8,
          DType::int4,       DType::uint64,  DType::uint32,  DType::uint16,   DType::uint8,
          DType::uint4,      DType::boolean};
}

namespace {

// The rows that the ops of one dtype have; what a lowering never makes in a dtype is no row of it.
void add_rows(DType dtype, uint32_t& seed, std::vector<OpGraph>& graphs) {
  const bool real = is_float(dtype), boolean = is_bool(dtype);
  const bool float8 =
      real && bits_of(dtype) == 8;  // multiplied, pooled, combined and summed up by no operator
  const auto add = [&](OpGraph g) { graphs.push_back(std::move(g)); };
  if (bits_of(dtype) < 8) {  // every other operator unpacks them to 8 bits
    add(cast_graph(dtype, seed++));
    for (const char* op : {"reshape", "transpose"}) add(movement_graph(op, dtype, seed++));
    return;
  }
  for (const ScalarOpInfo& info : scalar_ops())
    if (accepts(info.domain, dtype)) add(map_graph(info, dtype, seed++));
  add(cast_graph(dtype, seed++));
  add(bitcast_graph(dtype, seed++));
  if (!boolean)
    for (const char* kind : {"sum", "prod", "max", "min", "mean", "argmax", "argmin"})
      add(reduce_graph(kind, dtype, seed++));
  if (real) {
    add(softmax_graph(Op::softmax, dtype, seed++));
    add(softmax_graph(Op::log_softmax, dtype, seed++));
    add(normalize_graph("layer", dtype, seed++));
    add(normalize_graph("rms", dtype, seed++));
    if (!float8) add(conv_graph(dtype, seed++));
    if (!float8) add(pool_graph("average", dtype, seed++));
    if (!float8) add(attention_graph(dtype, seed++));
  }
  if (!boolean && bits_of(dtype) >= (real ? 16 : 32)) add(dot_graph(dtype, seed++));
  if ((real && !float8) || dtype == DType::int8 || dtype == DType::uint8)
    add(pool_graph("max", dtype, seed++));
  add(gather_graph(dtype, seed++));
  add(gather_elements_graph(dtype, seed++));
  for (const char* kind : {"none", "add", "mul", "max", "min"})
    if (!float8 || kind == std::string("none")) add(scatter_graph(kind, dtype, seed++));
  if (!boolean && !float8) add(scan_graph(dtype, seed++));
  add(sort_topk_graph(dtype, seed++));
  for (const char* op : {"reshape", "transpose", "broadcast", "slice", "concat", "pad"})
    add(movement_graph(op, dtype, seed++));
  if (dtype == DType::int64 || dtype == DType::int32 || dtype == DType::float32)
    add(iota_graph(dtype, seed++));
}

}  // namespace

std::vector<OpGraph> op_graphs() {
  std::vector<OpGraph> graphs;
  uint32_t seed = 1;
  for (const DType dtype : table_dtypes()) add_rows(dtype, seed, graphs);
  for (const DType bytes : {DType::int8, DType::uint8}) graphs.push_back(nibbles_graph(bytes, seed++));
  return graphs;
}

}  // namespace ge::test

// assign_layouts: convolutions, pools and what stands between them keep their channels last.
//   before   %a = conv(%x, %w); %b = relu(%a); %y = conv(%b, %v)                     %w, %v constant
//   after    %p = transpose(%x); %a = conv(%p, %w') {channels_last = 1}; %b = relu(%a);
//            %c = conv(%b, %v') {channels_last = 1}; %y = transpose(%c)          %w' = transpose of %w,
//            folded
// A convolution of one position and step 1 becomes the dot that it is, over all positions of all images.
// Precondition: a GPU's copy of the graph (PassContext::for_cuda; the CPU's kernels want planes, so its copy
// stays as it is); one or two spatial axes, a constant weight; two or more convolutions joined by ops that
// transposes can pass (maps, pools, pad, slice, concat), most of them of a multiple of 8 channels (float32:
// 4) a group or depthwise. Gain: a thread reads 16 bytes of a position's channels at once; products of one
// position go to the product kernels. Cost: what leaves the region in the old order is a strided view there,
// or a copy where it is an output. Class: rounding (a dot may sum in another order); off with --exact. Here:
// batch norms are folded, so weights are final; before epilogues and loops, which group in the new order.
#include <algorithm>
#include <map>
#include <numeric>

#include "compiler/ir/builder.h"
#include "compiler/ir/channels_last.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace ge {
namespace {

constexpr int64_t kVectorBits = 128;               // of a position's channels that kernels read at once
constexpr int64_t kSmallBytes = int64_t{1} << 16;  // of weights that are written out in the new order at once

// Convolutions whose order may change, and what a transpose can pass on the way between them.
class Regions {
 public:
  explicit Regions(const Graph& graph) : graph_(graph), parent_(graph.value_capacity()) {
    std::iota(parent_.begin(), parent_.end(), 0u);
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      if (!is_candidate(node) && !passes_through(node)) continue;
      for (const ValueId v : node.operands)
        if (v != kNone && same_rank(v, node.results[0]) && !is_spread(v) &&
            !(node.op == Op::conv && v == node.operands[1]))
          parent_[root(v)] = root(node.results[0]);
    }
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      if (!is_candidate(node)) continue;
      Count& count = counts_[root(node.results[0])];
      ++count.all;
      if (reads_vectors(node)) ++count.vectors;
    }
  }
  bool wants(const Node& node) {
    if (!is_candidate(node)) return false;
    const Count& count = counts_[root(node.results[0])];
    return count.all >= 2 && count.vectors * 2 >= count.all;
  }

 private:
  struct Count {
    size_t all = 0, vectors = 0;
  };
  bool is_candidate(const Node& node) const {
    if (node.op != Op::conv || attr_int(node, "channels_last") != 0) return false;
    const Type& x = graph_.type(node.operands[0]);
    const bool known = x.dtype == DType::float32 || x.dtype == DType::float16 || x.dtype == DType::bfloat16;
    return known && (x.dims.size() == 3 || x.dims.size() == 4) && graph_.is_constant(node.operands[1]);
  }
  bool reads_vectors(const Node& node) const {
    const Dims& w = graph_.type(node.operands[1]).dims;
    const int64_t vector = kVectorBits / bits_of(graph_.type(node.operands[1]).dtype);
    const auto divides = [&](const Dim& d) { return d.is_static() && *d.value() % vector == 0; };
    return divides(w[1]) || (w[1].is_value(1) && divides(w[0]));
  }
  static bool passes_through(const Node& node) {
    return is_map(node.op) || node.op == Op::cast || node.op == Op::pool || node.op == Op::concat ||
           node.op == Op::pad || node.op == Op::slice;
  }
  bool same_rank(ValueId a, ValueId b) const {
    return graph_.type(a).dims.size() == graph_.type(b).dims.size();
  }
  bool is_spread(ValueId v) const {
    const Node* producer = graph_.producer(v);
    return producer != nullptr && (producer->op == Op::broadcast || producer->op == Op::constant);
  }
  ValueId root(ValueId v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }

  const Graph& graph_;
  std::vector<ValueId> parent_;
  std::map<ValueId, Count> counts_;
};

class Assignment {
 public:
  explicit Assignment(Graph& graph) : graph_(graph), regions_(graph) {}

  Result<bool> run() {
    for (const NodeId id : graph_.order()) GE_TRY(visit(id));
    return changed_;
  }

 private:
  Status visit(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.results.size() != 1) return {};
    Builder b(graph_, node.sources);
    ValueId twin = kNone;
    if (regions_.wants(node))
      twin = convolution(b, node);
    else if (node.op == Op::reduce && twin_of(node.operands[0]) != kNone)
      return reduction(b, node);
    else if (is_carried(node))
      twin = carried(b, node);
    GE_TRY(b.take());
    if (twin != kNone) leave(b, graph_.node(id).results[0], twin);
    return b.take();
  }

  // The same tensor with its channels last; kNone where none is known.
  ValueId twin_of(ValueId v) const {
    const auto it = twins_.find(v);
    return it == twins_.end() ? kNone : it->second;
  }
  // `twin` stands for `old` from here on: users that are not carried along read it transposed.
  void leave(Builder& b, ValueId old, ValueId twin) {
    const ValueId back = moved(b, twin, channels_second_perm(graph_.type(twin).dims.size()));
    if (b.failed() || !replace_value(graph_, old, back)) return;
    twins_[back] = twin;
    changed_ = true;
  }
  // A transpose; where it moves extents of 1 alone, a reshape, which is a view of anything dense.
  static ValueId moved(Builder& b, ValueId v, std::vector<int64_t> perm) {
    if (b.failed()) return kNone;
    const Dims& dims = b.type(v).dims;
    Dims to;
    std::vector<int64_t> large;
    for (const int64_t axis : perm) {
      to.push_back(dims[static_cast<size_t>(axis)]);
      if (!to.back().is_value(1)) large.push_back(axis);
    }
    return std::is_sorted(large.begin(), large.end()) ? b.reshape(v, to) : b.transpose(v, std::move(perm));
  }
  // Large weights are not written out here: a copy of them for each target would stand in memory. Those of
  // one position keep their bytes.
  ValueId moved_weights(Builder& b, ValueId w) const {
    const TensorData& data = *graph_.constant(w);
    std::vector<int64_t> perm = channels_last_perm(data.dims.size());
    if (data.splat || data.size_bytes() < kSmallBytes) return moved(b, w, std::move(perm));
    const bool one = std::all_of(data.dims.begin() + 2, data.dims.end(), [](int64_t d) { return d == 1; });
    return b.constant(one ? reshaped(data, channels_last_order(data.dims)) : transposed(data, perm));
  }
  ValueId channels_last(Builder& b, ValueId v) {
    if (const ValueId twin = twin_of(v); twin != kNone) return twin;
    const auto [it, fresh] = entered_.try_emplace(v, kNone);
    if (fresh) it->second = moved(b, v, channels_last_perm(graph_.type(v).dims.size()));
    return it->second;
  }

  ValueId convolution(Builder& b, const Node& node) {
    const ValueId x = channels_last(b, node.operands[0]), w = node.operands[1],
                  bias = has_operand(node, 2) ? node.operands[2] : kNone;
    if (b.failed()) return kNone;
    std::vector<ValueId> operands{x, moved_weights(b, w)};
    if (bias != kNone) operands.push_back(bias);
    AttrMap attrs = node.attrs;
    attrs["channels_last"] = int64_t{1};
    return b.op(Op::conv, std::move(operands), std::move(attrs));
  }
  bool is_carried(const Node& node) const {
    switch (node.op) {
      case Op::pool:
      case Op::pad:
      case Op::slice:
        return twin_of(node.operands[0]) != kNone;
      case Op::cast:
      case Op::concat:
        break;
      default:
        if (!is_map(node.op)) return false;
    }
    const size_t rank = graph_.type(node.results[0]).dims.size();
    bool any = false;
    for (const ValueId v : node.operands) {
      if (v == kNone || graph_.type(v).dims.size() != rank) return false;
      const bool twin = twin_of(v) != kNone;
      any = any || twin;
      if (!twin && !graph_.is_constant(v) && graph_.producer(v) != nullptr &&
          graph_.producer(v)->op == Op::broadcast && node.op != Op::concat)
        continue;
      if (!twin && !graph_.is_constant(v)) return false;
    }
    return any;
  }

  ValueId carried(Builder& b, const Node& node) {
    AttrMap attrs = node.attrs;
    std::vector<ValueId> operands;
    const size_t rank = graph_.type(node.operands[0]).dims.size();
    switch (node.op) {
      case Op::pool:
        attrs["channels_last"] = int64_t{1};
        operands = {twin_of(node.operands[0])};
        break;
      case Op::pad:
        operands = node.operands;
        operands[0] = twin_of(node.operands[0]);
        permute<std::vector<int64_t>>(attrs, "low");
        permute<std::vector<int64_t>>(attrs, "high");
        break;
      case Op::slice:
        operands = {twin_of(node.operands[0])};
        permute<Dims>(attrs, "starts");
        permute<std::vector<int64_t>>(attrs, "steps");
        permute<Dims>(attrs, "shape");
        break;
      case Op::concat:
        attrs["axis"] = channels_last_axis(attr_int(node, "axis"), rank);
        [[fallthrough]];
      default:
        for (const ValueId v : node.operands) operands.push_back(map_operand(b, v));
    }
    return b.op(node.op, std::move(operands), std::move(attrs));
  }
  template <class List>
  static void permute(AttrMap& attrs, const char* name) {
    const auto it = attrs.find(name);
    if (it != attrs.end()) it->second = channels_last_order(std::get<List>(it->second));
  }

  // A twin, a constant, or what is broadcast, spread in the new order.
  ValueId map_operand(Builder& b, ValueId v) {
    const Node* spread = graph_.producer(v);
    if (twin_of(v) != kNone || spread->op != Op::broadcast) return channels_last(b, v);
    const Dims shape = channels_last_order(graph_.type(v).dims);
    ValueId small = spread->operands[0];
    if (graph_.type(small).dims.empty()) return b.broadcast(small, shape);
    if (twin_of(small) == kNone) {
      Dims dims = graph_.type(small).dims;
      dims.insert(dims.begin(), shape.size() - dims.size(), Dim(1));
      small = b.reshape(small, dims);
    }
    return b.broadcast(b.failed() ? kNone : channels_last(b, small), shape);
  }

  // Over all spatial axes, or over the channels: what is left stands in the same order either way.
  Status reduction(Builder& b, const Node& node) {
    const size_t rank = graph_.type(node.operands[0]).dims.size();
    std::vector<int64_t> axes = attr_ints(node, "axes");
    const bool channels = std::find(axes.begin(), axes.end(), int64_t{1}) != axes.end();
    const auto spatial =
        static_cast<size_t>(std::count_if(axes.begin(), axes.end(), [](int64_t a) { return a > 1; }));
    if (!channels && spatial != rank - 2) return {};
    for (int64_t& axis : axes) axis = channels_last_axis(axis, rank);
    std::sort(axes.begin(), axes.end());
    AttrMap attrs = node.attrs;
    attrs["axes"] = axes;
    const ValueId old = node.results[0],
                  reduced = b.op(Op::reduce, {twin_of(node.operands[0])}, std::move(attrs));
    GE_TRY(b.take());
    replace_value(graph_, old, reduced);
    return {};
  }

  Graph& graph_;
  Regions regions_;
  std::map<ValueId, ValueId> twins_;    // by what users outside the region read
  std::map<ValueId, ValueId> entered_;  // what comes in from outside, transposed
  bool changed_ = false;
};

// A convolution, channels last, of one position and step 1.
bool is_product(const Graph& graph, const Node& node) {
  if (node.op != Op::conv || attr_int(node, "channels_last") == 0 || attr_int(node, "groups", 1) != 1)
    return false;
  const Dims& w = graph.type(node.operands[1]).dims;
  const bool one = std::all_of(w.begin() + 1, w.end() - 1, [](const Dim& d) { return d.is_value(1); });
  return one && attr_ints_are(node, "strides", 1) && attr_ints_are(node, "pads_begin", 0) &&
         attr_ints_are(node, "pads_end", 0);
}

// x [N, spatial..., C] times w [M, 1..., C] transposed, the same for every image and row. The transpose stays
// a view: product kernels like their right side so, and the weights keep the bytes that other targets' copies
// have.
Status make_product(Graph& graph, const Node& node) {
  Builder b(graph, node.sources);
  const ValueId x = node.operands[0], w = node.operands[1];
  const TensorData* data = graph.constant(w);
  if (data == nullptr) return {};  // over a bound of folding: the convolution stays
  const Dim filters = graph.type(w).dims.front(), channels = graph.type(w).dims.back();
  Dims batch = graph.type(x).dims;
  batch.resize(batch.size() - 2);
  batch.push_back(channels);
  batch.push_back(filters);
  TensorData planes = *data;  // [M, C, 1...], as they came
  planes.dims = channels_second_order(planes.dims);
  const ValueId matrix = b.transpose(b.reshape(b.constant(std::move(planes)), {filters, channels}), {1, 0});
  ValueId y = b.op(Op::dot, {x, b.broadcast(matrix, batch)});
  if (has_operand(node, 2) && !b.failed())
    y = b.op(Op::add, {y, b.broadcast(node.operands[2], b.type(y).dims)});
  GE_TRY(b.take());
  replace_value(graph, node.results[0], y);
  return {};
}

}  // namespace

Status assign_layouts(Graph& graph, PassContext& context) {
  if (context.exact || !context.for_cuda) return {};
  GE_ASSIGN(const bool changed, Assignment(graph).run());
  if (!changed) return {};
  remove_dead_nodes(graph);
  GE_TRY(fold_constants(graph, context));
  for (const NodeId id : graph.order())
    if (is_product(graph, graph.node(id))) GE_TRY(make_product(graph, graph.node(id)));
  remove_dead_nodes(graph);
  return {};
}

}  // namespace ge

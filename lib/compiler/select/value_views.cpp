#include "compiler/select/value_views.h"

#include <algorithm>

namespace ge {
namespace {

// Strides of `to` for the same elements in row-major order, where the view allows it without moving any.
std::optional<Dims> reshape_strides(const StridedView& from, const Dims& to) {
  if (is_dense(from)) return dense_strides(to);
  Dims strides(to.size());
  size_t i = 0, j = 0;
  const auto skip_units = [](const Dims& dims, size_t& k) {
    while (k < dims.size() && dims[k].is_value(1)) ++k;
  };
  while (
      true) {  // match groups of axes with equal products, merging only axes that are dense among themselves
    skip_units(from.dims, i);
    skip_units(to, j);
    if (i == from.dims.size() || j == to.size()) break;
    size_t i_end = i + 1, j_end = j + 1;
    Dim left = from.dims[i], right = to[j];
    while (!(left == right)) {
      const auto l = left.value(), r = right.value();
      const bool grow_left = l && r ? *l < *r : i_end - i <= j_end - j;
      if (grow_left && i_end < from.dims.size())
        left = left * from.dims[i_end++];
      else if (j_end < to.size())
        right = right * to[j_end++];
      else if (i_end < from.dims.size())
        left = left * from.dims[i_end++];
      else
        return std::nullopt;
    }
    for (size_t a = i; a + 1 < i_end; ++a)
      if (!(from.strides[a] == from.strides[a + 1] * from.dims[a + 1])) return std::nullopt;
    Dim stride = from.strides[i_end - 1];
    for (size_t a = j_end; a-- > j;) {
      strides[a] = stride;
      stride = stride * to[a];
    }
    i = i_end;
    j = j_end;
  }
  return i == from.dims.size() && j == to.size() ? std::optional(strides) : std::nullopt;
}

}  // namespace

Dims dense_strides(const Dims& dims) {
  Dims strides(dims.size());
  Dim stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride = stride * dims[i];
  }
  return strides;
}

bool is_dense(const StridedView& view) {
  const Dims dense = dense_strides(view.dims);
  for (size_t i = 0; i < dense.size(); ++i)
    if (!view.dims[i].is_value(1) && !(view.strides[i] == dense[i])) return false;
  return true;
}

StridedView ValueViews::through(const OperandView& operand) const {
  const StridedView& base = of(operand.value);
  StridedView out{base.root, base.offset, operand.domain, Dims(operand.domain.size())};
  for (size_t a = 0; a < operand.axes.size(); ++a) {
    const AxisMap& m = operand.axes[a];
    out.offset = out.offset + m.offset * base.strides[a];
    if (m.axis < 0) continue;
    Dim& stride = out.strides[static_cast<size_t>(m.axis)];
    stride = stride + Dim(m.step) * base.strides[a];
  }
  return out;
}

bool ValueViews::make_view(const Node& node, StridedView& out) const {
  const ValueId operand = node.operands.empty() ? kNone : node.operands[0];
  const Dims& dims = graph_.type(node.results[0]).dims;
  const auto mapped = [&](AxisMaps axes) {
    out = through({operand, dims, std::move(axes)});
    return true;
  };
  switch (node.op) {
    case Op::transpose:
      return mapped(through_transpose(identity_map(dims.size()), attr_ints(node, "perm")));
    case Op::broadcast:
      return mapped(through_broadcast(identity_map(dims.size()), graph_.type(operand).dims, dims));
    case Op::slice:
      return mapped(
          through_slice(identity_map(dims.size()), attr_dims(node, "starts"), attr_ints(node, "steps")));
    case Op::reshape: {
      const StridedView& from = of(operand);
      const auto strides = reshape_strides(from, dims);
      if (strides) out = {from.root, from.offset, dims, *strides};
      return strides.has_value();
    }
    default:
      return false;
  }
}

// A loop's or concat's result that only concats and loops read is written into its slice of the (first)
// concat.
void ValueViews::place_concat_operands() {
  for (const NodeId id : graph_.order()) {
    const Node& node = graph_.node(id);
    if (node.op != Op::concat) continue;
    const size_t axis = static_cast<size_t>(attr_int(node, "axis"));
    Dim start;
    for (const ValueId v : node.operands) {
      const Node* producer = graph_.producer(v);
      const bool writes_anywhere =
          producer != nullptr && (producer->op == Op::concat ||
                                  (producer->op == Op::fused && attr_string(*producer, "kind") == "loop"));
      const auto& uses = graph_.uses(v);
      const bool read_anywhere = std::all_of(uses.begin(), uses.end(), [&](const Graph::Use& u) {
        return u.node == id || (u.node != kNone && graph_.node(u.node).op == Op::fused &&
                                attr_string(graph_.node(u.node), "kind") == "loop");
      });
      if (writes_anywhere && read_anywhere && std::count(node.operands.begin(), node.operands.end(), v) == 1)
        placed_.emplace(v, Slice{node.results[0], start, axis});
      start = start + graph_.type(v).dims[axis];
    }
  }
}

ValueViews::ValueViews(const Graph& graph)
    : graph_(graph), views_(graph.value_capacity()), view_nodes_(graph.node_capacity(), false) {
  place_concat_operands();
  const auto dense = [&](ValueId v) {
    views_[v] = {v, 0, graph.type(v).dims, dense_strides(graph.type(v).dims)};
  };
  for (const ValueId v : graph.inputs) dense(v);
  const auto order = graph.order();
  for (const NodeId id : order)  // concat results first: what is placed into them stands earlier in the order
    for (const ValueId v : graph.node(id).results) dense(v);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    for (const ValueId v : graph.node(*it).results) {
      const auto placed = placed_.find(v);
      if (placed == placed_.end()) continue;
      const StridedView& whole = views_[placed->second.concat];
      views_[v] = {whole.root, whole.offset + placed->second.start * whole.strides[placed->second.axis],
                   graph.type(v).dims, whole.strides};
    }
  }
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    StridedView view;
    if (node.results.size() == 1 && make_view(node, view)) {
      views_[node.results[0]] = std::move(view);
      view_nodes_[id] = true;
    }
  }
  claim_outputs();
}

void ValueViews::claim_outputs() {
  output_roots_.assign(graph_.outputs.size(), kNone);
  for (size_t i = 0; i < graph_.outputs.size(); ++i) {
    const StridedView& view = of(graph_.outputs[i]);
    const Node* producer = graph_.producer(view.root);
    const bool written = producer != nullptr && producer->op != Op::constant;
    const bool whole = view.offset.is_value(0) && is_dense(view) &&
                       product(view.dims) == product(graph_.type(view.root).dims);
    const bool free = std::find(output_roots_.begin(), output_roots_.end(), view.root) == output_roots_.end();
    if (written && whole && free) output_roots_[i] = view.root;
  }
}

}  // namespace ge

// multiply_patches: a convolution of few channels whose windows lie side by side becomes a product, on a GPU.
//   before   %y = conv(%x, %w, %b) {strides = [16, 16]}, %x: [n, 3, 224, 224], %w: [768, 3, 16, 16]
//   after    %p = reshape(transpose(reshape(%x))) : [n * 196, 768]
//            %d = dot(%p, transpose(reshape(%w))) + %b; %y = transpose(reshape(%d))
// Precondition: strides are the kernel, no padding, dilation or groups, and extents that windows fill; one
// group of fewer channels than a kernel of channels-last convolution takes in one access.
// Gain: a matrix product's speed (the first layer of vision transformers: 102 us as a convolution on an
// H200). Cost: the patches stand in memory. Class: rounding (the order of a sum). Here: before layouts, which
// would keep the channels of such a convolution last.
#include <algorithm>

#include "compiler/ir/builder.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace ge {
namespace {

constexpr int64_t kFewChannels = 8;
constexpr size_t kMostAxes = 5;  // taken apart they are as many as a tensor may have

bool is_patches(const Graph& graph, const Node& node) {
  if (node.op != Op::conv || attr_int(node, "groups", 1) != 1 || attr_int(node, "channels_last") != 0 ||
      !attr_ints_are(node, "pads_begin", 0) || !attr_ints_are(node, "dilations", 1))
    return false;
  const Type &x = graph.type(node.operands[0]), &w = graph.type(node.operands[1]);
  const Dims& y = graph.type(node.results[0]).dims;
  const std::vector<int64_t> strides = attr_ints(node, "strides");
  const auto channels = x.dims[1].value();
  if (!is_float(x.dtype) || !channels || *channels >= kFewChannels || w.dims[0].is_value(0)) return false;
  if (has_operand(node, 2) && graph.type(node.operands[2]).dims.size() != 1) return false;
  bool windows = false;
  for (size_t a = 2; a < x.dims.size(); ++a) {
    const int64_t stride = strides[a - 2];
    if (!w.dims[a].is_value(stride) || !(y[a] * Dim(stride) == x.dims[a])) return false;
    windows |= stride > 1;
  }
  return windows && x.dims.size() <= kMostAxes;
}

// [n, c, h, w] as [n, h / kh, w / kw, c, kh, kw], then as a matrix of a row for each window.
ValueId patches(Builder& b, ValueId x, const Dims& windows, const Dims& kernel) {
  const Dims dims = b.type(x).dims;  // a copy: the graph grows
  const auto spatial = static_cast<int64_t>(windows.size());
  Dims apart{dims[0], dims[1]};
  std::vector<int64_t> order{0};
  for (int64_t a = 0; a < spatial; ++a) {
    apart.push_back(windows[static_cast<size_t>(a)]);
    apart.push_back(kernel[static_cast<size_t>(a)]);
    order.push_back(2 + 2 * a);
  }
  order.push_back(1);
  for (int64_t a = 0; a < spatial; ++a) order.push_back(3 + 2 * a);
  const ValueId turned = b.transpose(b.reshape(x, apart), order);
  return b.reshape(turned, {dims[0] * product(windows), dims[1] * product(kernel)});
}

ValueId as_product(Builder& b, const Node& node) {
  const std::vector<ValueId> operands = node.operands;  // a copy: the graph grows
  const bool has_bias = has_operand(node, 2);
  const Dims x = b.type(operands[0]).dims, w = b.type(operands[1]).dims, y = b.type(node.results[0]).dims;
  const Dims windows(y.begin() + 2, y.end()), kernel(w.begin() + 2, w.end());
  const ValueId rows = patches(b, operands[0], windows, kernel);
  const ValueId matrix = b.transpose(b.reshape(operands[1], {w[0], x[1] * product(kernel)}), {1, 0});
  if (b.failed()) return kNone;
  ValueId sums = b.op(Op::dot, {rows, matrix});
  if (has_bias && !b.failed()) sums = b.map(Op::add, {sums, operands[2]});
  Dims last{y[0]};
  last.insert(last.end(), windows.begin(), windows.end());
  last.push_back(y[1]);
  std::vector<int64_t> order{0, static_cast<int64_t>(last.size()) - 1};
  for (size_t a = 1; a + 1 < last.size(); ++a) order.push_back(static_cast<int64_t>(a));
  return b.transpose(b.reshape(sums, last), order);
}

}  // namespace

Status multiply_patches(Graph& graph, PassContext& context) {
  if (!context.for_cuda || context.exact) return {};
  bool changed = false;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!is_patches(graph, node)) continue;
    Builder b(graph, node.sources);
    const ValueId y = as_product(b, node);
    GE_TRY(b.take());
    changed |= replace_value(graph, node.results[0], y);
  }
  if (changed) remove_dead_nodes(graph);
  return {};
}

}  // namespace ge

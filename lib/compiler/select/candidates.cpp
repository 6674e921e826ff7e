#include "compiler/select/candidates.h"

#include <algorithm>
#include <limits>

#include "compiler/ir/builder.h"
#include "compiler/ir/channels_last.h"
#include "compiler/passes/epilogue.h"
#include "compiler/passes/grouping.h"
#include "compiler/select/cost.h"
#include "compiler/select/loop_work.h"

namespace ge {
namespace {

using Works = std::vector<Work>;

class Describer {
 public:
  Describer(const Graph& graph, const ValueViews& views, NodeId id, bool prefer_loops, bool exact)
      : graph_(graph),
        views_(views),
        id_(id),
        node_(graph.node(id)),
        prefer_loops_(prefer_loops),
        exact_(exact) {}

  Result<Works> describe() {
    switch (node_.op) {
      case Op::fused:
        return fused();
      case Op::dot:
        return one(dot(node_.operands, kNone, result(), {}));
      case Op::conv:
        return one(conv(node_, node_.operands, kNone, result(), {}));
      case Op::pool:
        return one(pool());
      case Op::gather:
        return one(gather());
      case Op::scatter:
        return one(scatter());
      case Op::scan:
        return one(scan());
      case Op::sort_topk:
        return one(sort_topk());
      case Op::attention:
        return one(attention());
      case Op::bitcast:
        return one(work("copy", {operand(node_.operands[0]), operand(result())}, {}));
      case Op::pad:
        return one(pad());
      case Op::concat:
        return concat();
      case Op::dims:
        return dims();
      case Op::constant:
        return Works{};
      case Op::reshape:
      case Op::transpose:
      case Op::broadcast:
      case Op::slice:
        return one(copy_of_view());
      default:
        return loop_or_reference();
    }
  }

 private:
  ValueId result() const { return node_.results[0]; }
  LaunchOperand operand(ValueId v) const {
    return v == kNone ? LaunchOperand{} : LaunchOperand{v, views_.of(v)};
  }
  LaunchOperand operand(const OperandView& view) const {
    return view.value == kNone ? LaunchOperand{} : LaunchOperand{view.value, views_.through(view)};
  }
  LaunchOperand spread(ValueId v, const Dims& shape) const { return operand(broadcast_to(graph_, v, shape)); }
  Result<Works> one(Result<Work> work) const {
    if (!work.ok()) return std::move(work).take_error();
    Works works;
    works.push_back(std::move(work).value());
    return works;
  }
  Work work(std::string_view family, std::vector<LaunchOperand> operands, Attrs attrs) const {
    Work w{family, {}, {}, {}};
    w.spec.operands = std::move(operands);
    std::sort(attrs.begin(), attrs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    w.spec.attrs = std::move(attrs);
    w.spec.sources = node_.sources;
    set_flops(w, product(graph_.type(result()).dims));
    return w;
  }
  void set_flops(Work& w, const Dim& flops) const {
    w.spec.flops_dim = flops;
    w.spec.flops = static_cast<double>(opt_value(graph_, flops));
  }

  Result<Works> fused() {
    const std::string kind = attr_string(node_, "kind");
    if (kind != "loop") return one(epilogue(kind));
    Result<Work> w = loop_work(graph_, views_, *node_.body, node_.operands, node_.results, exact_);
    if (w.ok()) w->spec.sources = node_.sources;
    return one(std::move(w));
  }

  // What an epilogue's body says: act(product + bias + residual); values of this graph.
  struct Epilogue {
    const Node* core = nullptr;
    ValueId bias = kNone, residual = kNone;
    const Node* activate = nullptr;
    EpilogueActivation activation;
  };

  ValueId outside(ValueId v) const {  // of a body value that is an input, seen through broadcasts
    const Graph& body = *node_.body;
    while (body.producer(v) != nullptr && body.producer(v)->op == Op::broadcast)
      v = body.producer(v)->operands[0];
    const auto it = std::find(body.inputs.begin(), body.inputs.end(), v);
    return it == body.inputs.end() ? kNone : node_.operands[static_cast<size_t>(it - body.inputs.begin())];
  }

  Result<Epilogue> read_epilogue(const std::string& kind) const {
    const Graph& body = *node_.body;
    Epilogue e;
    ValueId value = kNone;
    for (const NodeId id : body.order()) {
      const Node& n = body.node(id);
      if (n.op == Op::dot || n.op == Op::conv) {
        e.core = &n;
      } else if (n.op == Op::add && e.core != nullptr && e.activate == nullptr) {
        const ValueId other = n.operands[n.operands[0] == value ? 1 : 0];
        const bool spread = body.producer(other) != nullptr;
        ValueId& added = spread ? e.bias : e.residual;
        if (added != kNone || outside(other) == kNone)
          return fail(Code::internal).say("what fused{" + kind + "} adds is none of its operands");
        added = outside(other);
      } else if (const auto a = e.core == nullptr ? std::nullopt : epilogue_activation(body, n, value)) {
        e.activation = *a;
        e.activate = &n;
      } else {
        continue;
      }
      value = n.results[0];
    }
    if (e.core == nullptr || value != body.outputs[0])
      return fail(Code::internal).say("fused{" + kind + "} does not hold a " + kind + " and its epilogue");
    return e;
  }

  // A dot or conv with its bias, residual and activation: the body's inputs are this node's operands. The
  // split keeps the product and its bias, and leaves the rest to a loop over the result in place.
  Result<Work> epilogue(const std::string& kind) {
    GE_ASSIGN(const Epilogue e, read_epilogue(kind));
    std::vector<ValueId> operands;
    for (const ValueId v : e.core->operands) operands.push_back(v == kNone ? kNone : outside(v));
    operands.resize(3, kNone);
    if (e.bias != kNone) operands[2] = e.bias;
    const auto product = [&](ValueId residual, const EpilogueActivation& activation) {
      return kind == "conv" ? conv(*e.core, operands, residual, result(), activation)
                            : dot(operands, residual, result(), activation);
    };
    GE_ASSIGN(Work w, product(e.residual, e.activation));
    const bool splits = e.residual != kNone || (kind == "dot" && e.activation.scalar_op != 0);
    if (!prefer_loops_ || !splits) return w;
    GE_ASSIGN(std::optional<Work> rest, rest_of_epilogue(e, e.residual));
    if (!rest) return w;
    GE_ASSIGN(Work bare, product(kNone, {}));
    w.split.push_back(std::move(bare));
    w.split.push_back(std::move(*rest));
    return w;
  }

  // activation(result + residual) into the result, as a loop.
  Result<std::optional<Work>> rest_of_epilogue(const Epilogue& e, ValueId residual) const {
    const Graph& body = *node_.body;
    const Type type = graph_.type(result());
    Graph alone;
    alone.symbols = graph_.symbols;
    Builder b(alone, {});
    ValueId value = alone.add_input("x", type);
    std::vector<ValueId> operands{result()};
    if (residual != kNone) {
      value = b.op(Op::add, {value, alone.add_input("residual", type)});
      operands.push_back(residual);
    }
    if (e.activate != nullptr) {
      std::vector<ValueId> inner{value};
      for (size_t i = 1; i < e.activate->operands.size(); ++i) {
        const auto bound = scalar_value(body, e.activate->operands[i]);
        if (!bound) return std::optional<Work>();
        inner.push_back(b.broadcast(b.scalar(type.dtype, *bound), type.dims));
      }
      value = b.op(e.activate->op, std::move(inner));
    }
    GE_TRY(b.take());
    alone.add_output(value, "y");
    GE_ASSIGN(Work loop, loop_work(graph_, views_, alone, operands, {result()}, exact_));
    loop.spec.sources = node_.sources;
    return std::optional<Work>(std::move(loop));
  }

  static Attrs activation_attrs(const EpilogueActivation& a) {
    if (a.scalar_op == 0) return {};
    return {{"activation", int64_t{a.scalar_op}}, {"activation_alpha", a.alpha}, {"activation_beta", a.beta}};
  }

  Result<Work> dot(const std::vector<ValueId>& operands, ValueId residual, ValueId out,
                   const EpilogueActivation& activation) const {
    const Dims& shape = graph_.type(out).dims;
    const ValueId bias = operands.size() > 2 ? operands[2] : kNone;
    std::vector<LaunchOperand> list{operand(operands[0]), operand(operands[1]), spread(bias, shape),
                                    operand(out)};
    if (residual != kNone) list.push_back(operand(residual));
    const Dim k = graph_.type(operands[0]).dims.back();
    fold_batch(list);
    Work w = work("dot", std::move(list), activation_attrs(activation));
    set_flops(w, product(shape) * k * Dim(2));
    return w;
  }

  // Batch axes that the right operand does not follow become rows of the left one; batch axes that all
  // operands walk as one are merged.
  static void fold_batch(std::vector<LaunchOperand>& list) {
    StridedView &rhs = list[1].view, &out = list[3].view;
    const auto merge = [](StridedView& v, size_t a) {
      v.dims[a + 1] = v.dims[a] * v.dims[a + 1];
      erase_axis(v, a);
    };
    const auto mergeable = [](const StridedView& v, size_t a) {
      return v.dims[a].is_value(1) || v.dims[a + 1].is_value(1)
                 ? false
                 : v.strides[a] == v.strides[a + 1] * v.dims[a + 1];
    };
    for (size_t a = out.dims.size() - 2; a-- > 0;) {
      const size_t last = out.dims.size() - 3;  // index of the last batch axis
      const bool unit = out.dims[a].is_value(1), rows = a == last && rhs.strides[a].is_value(0);
      const bool all_merge = std::all_of(list.begin(), list.end(), [&](const LaunchOperand& o) {
        return o.value == kNone || (rows && &o == &list[1]) || mergeable(o.view, a);
      });
      if (!unit && !(all_merge && (rows || a < last))) continue;
      for (LaunchOperand& o : list) {
        if (o.value == kNone) continue;
        if (unit || (rows && &o == &list[1]))
          erase_axis(o.view, a);
        else
          merge(o.view, a);
      }
    }
  }
  static void erase_axis(StridedView& v, size_t a) {
    v.dims.erase(v.dims.begin() + static_cast<long>(a));
    v.strides.erase(v.strides.begin() + static_cast<long>(a));
  }

  Result<Work> conv(const Node& node, const std::vector<ValueId>& operands, ValueId residual, ValueId out,
                    const EpilogueActivation& activation) const {
    const ValueId bias = operands.size() > 2 ? operands[2] : kNone;
    Attrs attrs = activation_attrs(activation);
    for (const char* name : {"strides", "dilations", "pads_begin"})
      attrs.emplace_back(name, attr_ints(node, name));
    attrs.emplace_back("groups", attr_int(node, "groups", 1));
    const bool last = attr_int(node, "channels_last") != 0;
    LaunchOperand bias_operand = operand(bias);
    if (bias != kNone && graph_.type(bias).dims.size() > 1) {  // [M, 1, 1]: the channel axis alone
      const Dims& dims = graph_.type(bias).dims;
      const size_t channel =
          dims.size() + (last ? graph_.type(out).dims.size() - 1 : 1) - graph_.type(out).dims.size();
      bias_operand.view.strides = {bias_operand.view.strides[channel]};
      bias_operand.view.dims = {dims[channel]};
    }
    std::vector<LaunchOperand> list{operand(operands[0]), operand(operands[1]), bias_operand, operand(out)};
    if (residual != kNone) list.push_back(operand(residual));
    for (const size_t i : {0, 1, 3, 4})
      if (last && i < list.size()) see_channels_second(list[i]);
    Work w = work("conv", std::move(list), std::move(attrs));
    set_flops(w, product(graph_.type(out).dims) * product(graph_.type(operands[1]).dims, 1) *
                     Dim(2));  // [M, C/groups, kernel...] without M
    return w;
  }

  // Kernels know [N, C, spatial...]; where C stands in memory is a matter of strides.
  static void see_channels_second(LaunchOperand& operand) {
    operand.view.dims = channels_second_order(std::move(operand.view.dims));
    operand.view.strides = channels_second_order(std::move(operand.view.strides));
  }

  Result<Work> pool() const {
    Attrs attrs{{"kind", int64_t{attr_string(node_, "kind") == "average"}},
                {"count_include_pad", attr_int(node_, "count_include_pad")}};
    for (const char* name : {"kernel", "strides", "dilations", "pads_begin", "pads_end"})
      attrs.emplace_back(name, attr_ints(node_, name));
    Work w = work("pool", {operand(node_.operands[0]), operand(result())}, std::move(attrs));
    if (attr_int(node_, "channels_last") != 0)
      for (LaunchOperand& o : w.spec.operands) see_channels_second(o);
    int64_t window = 1;
    for (const int64_t k : attr_ints(node_, "kernel")) window *= k;
    set_flops(w, product(graph_.type(result()).dims) * Dim(window));
    return w;
  }

  Result<Work> gather() const {
    return work("gather", {operand(node_.operands[0]), operand(node_.operands[1]), operand(result())},
                {{"axis", attr_int(node_, "axis")}, {"elements", attr_int(node_, "elements")}});
  }

  Result<Work> scatter() const {
    static constexpr std::string_view kKinds[] = {"none", "add", "mul", "max", "min"};
    const auto kind =
        std::find(std::begin(kKinds), std::end(kKinds), attr_string(node_, "kind")) - std::begin(kKinds);
    return work("scatter",
                {operand(node_.operands[0]), operand(node_.operands[1]), operand(node_.operands[2]),
                 operand(result())},
                {{"axis", attr_int(node_, "axis")},
                 {"elements", attr_int(node_, "elements")},
                 {"kind", int64_t{kind}}});
  }

  Result<Work> scan() const {
    return work("scan", {operand(node_.operands[0]), operand(result())},
                {{"axis", attr_int(node_, "axis")},
                 {"exclusive", attr_int(node_, "exclusive")},
                 {"reverse", attr_int(node_, "reverse")}});
  }

  Result<Work> sort_topk() const {
    Work w = work("sort_topk", {operand(node_.operands[0]), operand(result())},
                  {{"axis", attr_int(node_, "axis")}, {"largest", attr_int(node_, "largest")}});
    set_flops(w, product(graph_.type(node_.operands[0]).dims) * Dim(8));
    return w;
  }

  Result<Work> attention() const {
    const ValueId mask = node_.operands.size() > 3 ? node_.operands[3] : kNone;
    Work w = work("attention",
                  {operand(node_.operands[0]), operand(node_.operands[1]), operand(node_.operands[2]),
                   operand(mask), operand(result())},
                  {{"scale", attr_double(node_, "scale", 1)},
                   {"fill", attr_double(node_, "fill", -std::numeric_limits<double>::infinity())},
                   {"causal", attr_int(node_, "causal")},
                   {"zero_empty", attr_int(node_, "zero_empty")}});
    const Dims &q = graph_.type(node_.operands[0]).dims, &v = graph_.type(node_.operands[2]).dims;
    set_flops(w, q[0] * q[1] * q[2] * v[2] * (q[3] + v[3]) * Dim(2));
    return w;
  }

  Result<Work> pad() const {
    const ValueId value = node_.operands.size() > 1 ? node_.operands[1] : kNone;
    std::vector<int64_t> low = attr_ints(node_, "low");
    low.resize(kMaxRank, 0);
    return work("pad", {operand(node_.operands[0]), operand(value), operand(result())},
                {{"pads_begin", low}});
  }

  Result<Work> copy(ValueId from, StridedView view, ValueId to, StridedView target) const {
    return copy_work(graph_, {from, std::move(view)}, {to, std::move(target)}, node_.sources, prefer_loops_);
  }

  // A view that its reader cannot take (a reshape of a transposed value, a view that is an output): moved
  // once, here.
  Result<Work> copy_of_view() const {
    const ValueId from = node_.operands[0];
    const StridedView& out = views_.of(result());
    if (node_.op == Op::reshape)
      return copy(from, views_.of(from), result(),
                  {result(), 0, views_.of(from).dims, dense_strides(views_.of(from).dims)});
    return fail(Code::internal)
        .say("a view was asked to move: " + std::string(name_of(node_.op)) + " of rank " +
             std::to_string(out.dims.size()));
  }

  Result<Works> concat() const {
    Works works;
    const size_t axis = static_cast<size_t>(attr_int(node_, "axis"));
    Dim start;
    for (const ValueId v : node_.operands) {
      const Dims& dims = graph_.type(v).dims;
      if (!views_.is_placed(v) || views_.of(v).root != views_.of(result()).root) {
        AxisMaps maps = identity_map(dims.size());
        maps[axis].offset = start;
        GE_ASSIGN(Work w, copy(v, views_.of(v), result(), views_.through({result(), dims, std::move(maps)})));
        works.push_back(std::move(w));
      }
      start = start + dims[axis];
    }
    return works;
  }

  // The numbers travel as the extents of a scratch view of stride 0, so one kernel serves every expression.
  Result<Works> dims() const {
    Works works;
    const Dims& values = attr_dims(node_, "values");
    const StridedView& out = views_.of(result());
    for (size_t i = 0; i < values.size(); i += kMaxRank) {
      const Dims part(values.begin() + static_cast<long>(i),
                      values.begin() + static_cast<long>(std::min(values.size(), i + kMaxRank)));
      LaunchOperand extents{.view = {kNone, 0, part, Dims(part.size())}, .scratch = true};
      LaunchOperand slice{result(),
                          {out.root,
                           out.offset + Dim(static_cast<int64_t>(i)),
                           {Dim(static_cast<int64_t>(part.size()))},
                           {1}}};
      works.push_back(work("shape", {std::move(extents), std::move(slice)}, {}));
    }
    return works;
  }

  Result<Works> loop_or_reference() {
    std::string refusal;
    if (prefer_loops_) {
      const Grouping g = body_of(graph_, {id_});
      Result<Work> loop = loop_work(graph_, views_, g.body, g.operands, node_.results, exact_);
      if (loop.ok()) {
        loop->spec.sources = node_.sources;
        return one(std::move(loop));
      }
      refusal = loop.error().first().message;
    }
    Result<Work> w = reference();
    if (w.ok()) w->loop_refusal = std::move(refusal);
    return one(std::move(w));
  }

  Result<Work> reference() const {
    const ValueId x = node_.operands.empty() ? kNone : node_.operands[0];
    if (is_map(node_.op)) {
      std::vector<LaunchOperand> list;
      for (const ValueId v : node_.operands) list.push_back(operand(v));
      list.resize(3);
      list.push_back(operand(result()));
      return work("map", std::move(list), {{"op", int64_t{*scalar_code(node_.op)}}});
    }
    switch (node_.op) {
      case Op::cast:
        return work("cast", {operand(x), operand(result())}, {});
      case Op::iota:
        return work("iota", {operand(result())}, {{"axis", attr_int(node_, "axis")}});
      case Op::softmax:
        return work("softmax", {operand(x), operand(result())}, {{"axis", attr_int(node_, "axis")}});
      case Op::log_softmax:
        return work("log_softmax", {operand(x), operand(result())}, {{"axis", attr_int(node_, "axis")}});
      case Op::normalize:
        return normalize();
      case Op::reduce:
        return reduce();
      default:
        return unknown_op();
    }
  }

  Diagnostic unknown_op() const {
    const bool lowered = node_.op != Op::onnx || node_.onnx == nullptr;
    return fail(Code::no_kernel)
        .say(lowered ? "no kernel family for " + std::string(name_of(node_.op))
                     : node_.onnx->type + " is not lowered to core ops: canonicalize did not run")
        .at(node_.source().place)
        .in(node_.source().path)
        .try_(lowered ? "" : "leave canonicalize among the passes; --emit ir needs no kernels");
  }

  Result<Work> normalize() const {
    const auto optional = [&](size_t i) {
      return node_.operands.size() > i ? operand(node_.operands[i]) : LaunchOperand{};
    };
    return work("normalize",
                {operand(node_.operands[0]), optional(1), optional(2), operand(result()), {}, {}},
                {{"axis", attr_int(node_, "axis")},
                 {"epsilon", attr_double(node_, "epsilon", 1e-5)},
                 {"kind", int64_t{attr_string(node_, "kind") == "rms"}}});
  }

  Result<Work> reduce() const {
    static constexpr std::string_view kKinds[] = {"sum", "prod", "max", "min", "mean", "argmax", "argmin"};
    const auto kind =
        std::find(std::begin(kKinds), std::end(kKinds), attr_string(node_, "kind")) - std::begin(kKinds);
    const Dims& full = graph_.type(node_.operands[0]).dims;
    int64_t mask = 0;
    for (const int64_t a : attr_ints(node_, "axes")) mask |= int64_t{1} << a;
    OperandView kept{result(), full, {}};  // the result with the reduced axes as units
    for (size_t a = 0; a < full.size(); ++a) {
      if ((mask >> a) & 1)
        kept.domain[a] = 1;
      else
        kept.axes.push_back({static_cast<int8_t>(a), 1, 0});
    }
    Work w = work("reduce", {operand(node_.operands[0]), operand(kept)},
                  {{"kind", int64_t{kind}}, {"axes", mask}, {"select_last", attr_int(node_, "select_last")}});
    set_flops(w, product(full));
    return w;
  }

  const Graph& graph_;
  const ValueViews& views_;
  const NodeId id_;
  const Node& node_;
  const bool prefer_loops_, exact_;
};

}  // namespace

Result<Work> describe_output_copy(const Graph& graph, const ValueViews& views, size_t index,
                                  bool prefer_loops) {
  const ValueId v = graph.outputs[index];
  const Dims& dims = graph.type(v).dims;
  LaunchOperand to{
      .value = v, .view = {kNone, 0, dims, dense_strides(dims)}, .output = static_cast<int32_t>(index)};
  const Node* producer = graph.producer(v);
  std::vector<Source> sources = producer == nullptr ? std::vector<Source>{} : producer->sources;
  constexpr size_t kNamed = 8;  // as many outputs may be copies of one value as that value has sources
  if (sources.size() > kNamed) sources.resize(kNamed);
  return copy_work(graph, {v, views.of(v)}, std::move(to), std::move(sources), prefer_loops);
}

Result<std::vector<Work>> describe_node(const Graph& graph, const ValueViews& views, NodeId node,
                                        bool prefer_loops, bool exact) {
  return Describer(graph, views, node, prefer_loops, exact).describe();
}

}  // namespace ge

// Builder: typed construction of core ops; see builder.h.
#include "compiler/ir/builder.h"

#include <algorithm>

namespace ge {

ValueId Builder::op(Op op, std::vector<ValueId> operands, AttrMap attrs) {
  if (failed()) return kNone;
  std::vector<const Type*> types;
  for (const ValueId v : operands) types.push_back(v == kNone ? nullptr : &graph_.type(v));
  std::vector<Graph::Assertion> assertions;
  auto results = infer_types(op, types, attrs, nullptr, nullptr, &assertions);
  if (!results.ok()) {
    fail(std::move(results).take_error());
    return kNone;
  }
  for (Graph::Assertion& a : assertions) {
    if (!sources_.empty()) a.source = sources_.front();
    graph_.add_assertion(std::move(a));
  }
  const NodeId id =
      graph_.add_node(op, std::move(operands), std::move(results).value(), std::move(attrs), sources_);
  const ValueId result = graph_.node(id).results[0];
  graph_.value(result).contents = infer_contents(graph_, graph_.node(id));
  return result;
}

ValueId Builder::map(Op map_op, std::initializer_list<ValueId> operands) {
  if (failed() || std::find(operands.begin(), operands.end(), kNone) != operands.end()) return missing();
  Dims shape = type(*operands.begin()).dims;
  for (const ValueId v : operands) {
    auto both = broadcast_shape(shape, type(v).dims);
    if (!both.ok()) {
      fail(std::move(both).take_error());
      return kNone;
    }
    shape = std::move(both).value();
  }
  std::vector<ValueId> expanded;
  for (const ValueId v : operands) expanded.push_back(broadcast(v, shape));
  return op(map_op, std::move(expanded));
}

ValueId Builder::missing() {
  fail(Error(ge::fail(Code::internal).because("a required operand is absent")));
  return kNone;
}

ValueId Builder::constant(TensorData data) {
  if (failed()) return kNone;
  const ValueId v = graph_.add_constant(std::move(data), sources_);
  graph_.value(v).contents = infer_contents(graph_, *graph_.producer(v));
  return v;
}

ValueId Builder::scalar(DType dtype, double value) {
  return constant(splat(dtype, {}, value));
}

ValueId Builder::cast(ValueId x, DType to) {
  if (failed() || x == kNone) return missing();
  return type(x).dtype == to ? x : op(Op::cast, {x}, {{"to", to}});
}

ValueId Builder::broadcast(ValueId x, const Dims& shape) {
  if (failed() || x == kNone) return missing();
  return type(x).dims == shape ? x : op(Op::broadcast, {x}, {{"shape", shape}});
}

ValueId Builder::reshape(ValueId x, const Dims& shape) {
  if (failed() || x == kNone) return missing();
  return type(x).dims == shape ? x : op(Op::reshape, {x}, {{"shape", shape}});
}

ValueId Builder::transpose(ValueId x, std::vector<int64_t> perm) {
  if (failed() || x == kNone) return missing();
  const bool identity =
      std::is_sorted(perm.begin(), perm.end()) && static_cast<int64_t>(perm.size()) == rank(x);
  return identity ? x : op(Op::transpose, {x}, {{"perm", std::move(perm)}});
}

ValueId Builder::reduce(ValueId x, std::string_view kind, std::vector<int64_t> axes, bool keepdims) {
  if (failed() || x == kNone) return missing();
  if (axes.empty() && !kind.starts_with("arg")) return x;  // each element by itself
  std::sort(axes.begin(), axes.end());
  Dims kept = type(x).dims;
  for (const int64_t axis : axes)
    if (axis >= 0 && axis < rank(x)) kept[static_cast<size_t>(axis)] = 1;
  const ValueId y = op(Op::reduce, {x}, {{"kind", std::string(kind)}, {"axes", std::move(axes)}});
  return failed() || !keepdims ? y : reshape(y, kept);
}

ValueId Builder::dims(const Dims& values, bool scalar) {
  AttrMap attrs{{"values", values}};
  if (scalar) attrs["scalar"] = int64_t{1};
  return op(Op::dims, {}, std::move(attrs));
}

ValueId Builder::grouped_dot(ValueId left, ValueId right) {
  if (failed() || left == kNone || right == kNone) return missing();
  Dims l = type(left).dims, r = type(right).dims;
  if (l[1] == r[1]) return op(Op::dot, {left, right});
  const auto groups = r[1].value();
  const auto group = groups && *groups > 0 ? Dim::exact_quotient(l[1], r[1]) : std::nullopt;
  if (!group) {
    fail(Error(ge::fail(Code::shape_mismatch)
                   .say("the heads of the query are no multiple of those of the key")
                   .because("found " + l[1].to_string() + " and " + r[1].to_string())));
    return kNone;
  }
  const Dims joined{l[0], l[1], l[2], r[3]};
  l[1] = r[1];
  l.insert(l.begin() + 2, *group);
  r.insert(r.begin() + 2, Dim(1));
  const ValueId grouped = reshape(left, l), unit = reshape(right, r);
  r[2] = *group;
  return reshape(op(Op::dot, {grouped, broadcast(unit, r)}), joined);
}

Result<Dims> Builder::broadcast_shape(const Dims& a, const Dims& b) {
  Dims shape(std::max(a.size(), b.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    // From the right: axis i counts from the end.
    const Dim x = i < a.size() ? a[a.size() - 1 - i] : Dim(1),
              y = i < b.size() ? b[b.size() - 1 - i] : Dim(1);
    Dim& out = shape[shape.size() - 1 - i];
    if (x == y || y.is_value(1)) {
      out = x;
    } else if (x.is_value(1)) {
      out = y;
    } else if (Dim::never_equal(x, y)) {
      return ge::fail(Code::broadcast_mismatch)
          .because(to_string(a) + " and " + to_string(b) + ": dims " + x.to_string() + " and " +
                   y.to_string() + " differ and neither is 1");
    } else {
      graph_.add_assertion({x, y, "dims that broadcast to each other must be equal",
                            sources_.empty() ? Source() : sources_.front()});
      out = x.is_static() ? x : y.is_static() ? y : x;
    }
  }
  return shape;
}

}  // namespace ge

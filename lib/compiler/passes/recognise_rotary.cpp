// Rotary positions as exporters write them, x * c + concat(-x[half:], x[:half]) * s, without the concat: with
// the last axis as [2, half], the halves that have changed places are x read backwards along the new axis.
//   after    %p = reshape(%x) {shape = [.., 2, half]}; %y = %p * %c + slice(%p) {steps = [.., -1, 1]} * (%s *
//   [-1, 1])
// All of it is then one loop over views; the same numbers.
#include <algorithm>

#include "compiler/passes/pattern.h"
#include "compiler/passes/rewrite.h"
#include "numeric/convert.h"

namespace ge {
namespace {

// The operand of v, a slice of the last axis alone by steps of 1 from `start` on; kNone.
ValueId sliced(const Pattern& p, ValueId v, const Dim& start) {
  const Node* slice = p.producer(v, Op::slice);
  if (slice == nullptr) return kNone;
  const Dims &starts = attr_dims(*slice, "starts"), &from = p.graph().type(slice->operands[0]).dims,
             &to = p.graph().type(v).dims;
  const auto& steps = attr_ints(*slice, "steps");
  for (size_t a = 0; a < starts.size(); ++a) {
    const bool last = a + 1 == starts.size();
    if (steps[a] != 1 || !(starts[a] == (last ? start : Dim(0))) || (!last && !(to[a] == from[a])))
      return kNone;
  }
  return slice->operands[0];
}

// What the only user of `v` makes of it, where that is an `op`; kNone.
ValueId sole_result(const Graph& graph, ValueId v, Op op) {
  const auto user = only_user(graph, v);
  return user && graph.node(*user).op == op ? graph.node(*user).results[0] : kNone;
}

// What `node` has besides `v`.
ValueId other(const Node& node, ValueId v) {
  return node.operands[node.operands[0] == v ? 1 : 0];
}

// [-1, 1] along the axis before the last of `shape`.
ValueId signs(Builder& b, DType dtype, const Dims& shape) {
  ByteBuffer bytes = ByteBuffer::allocate(static_cast<size_t>(bytes_of(dtype, 2)), true);
  for (int64_t i = 0; i < 2; ++i) store_from_double(dtype, bytes.data(), i, i == 0 ? -1 : 1);
  return b.broadcast(b.constant({dtype, {2, 1}, std::make_shared<const ByteBuffer>(std::move(bytes))}),
                     shape);
}

}  // namespace

bool match_rotary(Pattern& p) {
  const Graph& g = p.graph();
  const Node& concat = p.anchor();
  const Type type = g.type(p.result());
  const size_t rank = type.dims.size();
  if (concat.operands.size() != 2 || attr_int(concat, "axis") + 1 != static_cast<int64_t>(rank) || rank > 6)
    return false;
  const Node* neg = p.producer(concat.operands[0], Op::neg);
  if (neg == nullptr) return false;
  const Dim half = g.type(concat.operands[1]).dims.back();
  const ValueId x = sliced(p, concat.operands[1], Dim(0));
  if (x == kNone || sliced(p, neg->operands[0], half) != x || !(g.type(x) == type)) return false;
  if (!(half + half == type.dims.back())) return false;
  const ValueId turned = sole_result(g, p.result(), Op::mul);
  const ValueId y = turned == kNone ? kNone : sole_result(g, turned, Op::add);
  if (y == kNone) return false;
  const ValueId sine = other(*g.producer(turned), p.result());
  const Node* plain = p.producer(other(*g.producer(y), turned), Op::mul);
  if (plain == nullptr || (plain->operands[0] != x && plain->operands[1] != x)) return false;
  const ValueId cosine = other(*plain, x);
  Dims pairs(type.dims.begin(), type.dims.end() - 1);
  pairs.insert(pairs.end(), {Dim(2), half});
  return p.replace(y, {x, cosine, sine}, [&](Builder& b) {
    Dims starts(pairs.size());
    starts[rank - 1] = 1;
    std::vector<int64_t> steps(pairs.size(), 1);
    steps[rank - 1] = -1;
    const ValueId in = b.reshape(x, pairs);
    const ValueId swapped = b.op(Op::slice, {in}, {{"starts", starts}, {"steps", steps}, {"shape", pairs}});
    const ValueId factor = b.op(Op::mul, {b.reshape(sine, pairs), signs(b, type.dtype, pairs)});
    const ValueId sum =
        b.op(Op::add, {b.op(Op::mul, {in, b.reshape(cosine, pairs)}), b.op(Op::mul, {swapped, factor})});
    return b.failed() ? kNone : b.reshape(sum, type.dims);
  });
}

}  // namespace ge

// Type rules of the core ops, one function each, as core_ops.def states them. Windowed ops are in
// infer_window.cpp.
#include "compiler/ir/infer.h"

#include <algorithm>

#include "compiler/ir/inference.h"

namespace ge {

Result<std::vector<Type>> infer_types(Op op, std::span<const Type* const> operands, const AttrMap& attrs,
                                      const TensorData* data, const Graph* body,
                                      std::vector<Graph::Assertion>* assertions) {
  return Inference(op, operands, attrs, data, body, assertions).run();
}

Result<std::vector<Type>> infer_node(const Graph& graph, const Node& node,
                                     std::vector<Graph::Assertion>* assertions) {
  std::vector<const Type*> operands;
  for (const ValueId v : node.operands) operands.push_back(v == kNone ? nullptr : &graph.type(v));
  return infer_types(node.op, operands, node.attrs, node.data.get(), node.body.get(), assertions);
}

Result<std::vector<Type>> Inference::run() {
  GE_TRY(check_operands());
  GE_TRY(check_attributes());
  if (op_ == Op::fused) return fused();
  const auto type = [&]() -> Result<Type> {
    switch (op_) {
      case Op::constant:
        return constant();
      case Op::iota:
        return iota();
      case Op::dims:
        return dims_op();
      case Op::cast:
        return cast();
      case Op::bitcast:
        return bitcast();
      case Op::reduce:
        return reduce();
      case Op::reshape:
        return reshape();
      case Op::transpose:
        return transpose();
      case Op::broadcast:
        return broadcast();
      case Op::slice:
        return slice();
      case Op::pad:
        return pad();
      case Op::concat:
        return concat();
      case Op::gather:
        return gather();
      case Op::scatter:
        return scatter();
      case Op::scan:
        return scan();
      case Op::sort_topk:
        return sort_topk();
      case Op::dot:
        return dot();
      case Op::conv:
        return conv();
      case Op::pool:
        return pool();
      case Op::softmax:
      case Op::log_softmax:
        return softmax();
      case Op::normalize:
        return normalize();
      case Op::attention:
        return attention();
      default:
        return map();
    }
  };
  GE_ASSIGN(Type result, type());
  GE_TRY(no_negative(result.dims));
  return std::vector<Type>{std::move(result)};
}

Result<Type> Inference::constant() {
  if (data_ == nullptr) return fault(Code::bad_tensor_data, "found no contents");
  if (data_->bytes == nullptr && data_->load == nullptr)
    return fault(Code::bad_tensor_data, "found no contents");
  const int64_t stored = data_->splat ? bytes_of(data_->dtype, 1) : data_->size_bytes();
  if (data_->load == nullptr && static_cast<int64_t>(data_->bytes->size()) != stored) {
    return fault(Code::bad_tensor_data, "found " + std::to_string(data_->bytes->size()) +
                                            " bytes; shape and dtype need " + std::to_string(stored));
  }
  return Type{data_->dtype, Dims(data_->dims.begin(), data_->dims.end())};
}

Result<Type> Inference::iota() {
  const DType type = dtype("dtype");
  if (type != DType::int64 && type != DType::int32 && type != DType::float32) {
    return fault(Code::operand_dtype,
                 "found dtype " + std::string(name_of(type)) + "; allowed: int64, int32, float32");
  }
  GE_TRY(axis_in_range(integer("axis"), dims("shape").size()));
  return Type{type, dims("shape")};
}

Result<Type> Inference::dims_op() {
  const auto count = static_cast<int64_t>(dims("values").size());
  if (integer("scalar") == 0) return Type{DType::int64, {count}};
  if (count != 1)
    return fault(Code::bad_attribute, "found " + std::to_string(count) + " values; a scalar has one");
  return Type{DType::int64, {}};
}

Result<Type> Inference::cast() {
  return Type{dtype("to"), in(0).dims};
}

Result<Type> Inference::bitcast() {
  const DType from = in(0).dtype, to = dtype("to");
  if (bits_of(from) != bits_of(to) || bits_of(to) < 8 || (is_bool(to) && !is_bool(from)))
    return fault(Code::operand_dtype,
                 "the bits of " + std::string(name_of(from)) + " are no " + std::string(name_of(to)));
  return Type{to, in(0).dims};
}

Result<Type> Inference::reduce() {
  GE_TRY(numbers_only(0));
  const std::vector<int64_t>& axes = ints("axes");
  for (const int64_t axis : axes) GE_TRY(axis_in_range(axis, in(0).dims.size()));
  if (std::adjacent_find(axes.begin(), axes.end(), std::greater_equal<>()) != axes.end()) {
    return fault(Code::bad_attribute,
                 "found axes " + ints_text(axes) + "; they must be ascending and unique");
  }
  const bool gives_index = text("kind") == "argmax" || text("kind") == "argmin";
  if (gives_index && axes.size() != 1) {
    return fault(Code::bad_attribute,
                 "found axes " + ints_text(axes) + "; " + text("kind") + " takes one axis");
  }
  Type result{gives_index ? DType::int64 : in(0).dtype, {}};
  for (size_t i = 0; i < in(0).dims.size(); ++i)
    if (!std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(i)))
      result.dims.push_back(in(0).dims[i]);
  return result;
}

Result<Type> Inference::reshape() {
  GE_TRY(no_negative(dims("shape")));
  GE_TRY(equal(product(in(0).dims), product(dims("shape")),
               "elements of " + to_string(in(0).dims) + " and of " + to_string(dims("shape"))));
  return Type{in(0).dtype, dims("shape")};
}

Result<Type> Inference::transpose() {
  const std::vector<int64_t>& perm = ints("perm");
  std::vector<int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  bool whole = sorted.size() == in(0).dims.size();
  for (size_t i = 0; whole && i < sorted.size(); ++i) whole = sorted[i] == static_cast<int64_t>(i);
  if (!whole) {
    return fault(Code::bad_attribute, "found perm " + ints_text(perm) + "; it must name each axis of " +
                                          operand_text(0) + " once");
  }
  Type result{in(0).dtype, {}};
  for (const int64_t axis : perm) result.dims.push_back(in(0).dims[static_cast<size_t>(axis)]);
  return result;
}

Result<Type> Inference::broadcast() {
  const Dims& shape = dims("shape");
  const Dims& from = in(0).dims;
  if (from.size() > shape.size()) {
    return fault(Code::broadcast_mismatch, operand_text(0) + " has more axes than " + to_string(shape));
  }
  const size_t shift = shape.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i].is_value(1)) continue;
    if (Dim::never_equal(from[i], shape[shift + i])) {
      return fault(Code::broadcast_mismatch, operand_text(0) + " does not broadcast to " + to_string(shape) +
                                                 ": axis " + std::to_string(i) + " is " +
                                                 from[i].to_string() + ", needed 1 or " +
                                                 shape[shift + i].to_string());
    }
    GE_TRY(
        equal(from[i], shape[shift + i], "axis " + std::to_string(i) + " of the operand and of the result"));
  }
  return Type{in(0).dtype, shape};
}

Result<Type> Inference::slice() {
  const Dims &starts = dims("starts"), &shape = dims("shape"), &from = in(0).dims;
  const std::vector<int64_t>& steps = ints("steps");
  if (starts.size() != from.size() || shape.size() != from.size() || steps.size() != from.size()) {
    return fault(Code::bad_attribute, "found " + std::to_string(starts.size()) + " starts, " +
                                          std::to_string(steps.size()) + " steps, " +
                                          std::to_string(shape.size()) + " extents; " + operand_text(0) +
                                          " has rank " + std::to_string(from.size()));
  }
  GE_TRY(no_negative(shape));
  for (size_t i = 0; i < from.size(); ++i) {
    if (steps[i] == 0)
      return fault(Code::bad_attribute, "found step 0 on axis " + std::to_string(i) + "; steps are not zero");
    const Dim last = starts[i] + (shape[i] - 1) * steps[i];
    const auto outside = [&](const Dim& position) {
      const auto v = position.value(), past = (position - from[i]).value();
      return (v && *v < 0) || (past && *past >= 0);
    };
    if (!shape[i].is_value(0) && (outside(starts[i]) || outside(last))) {
      return fault(Code::shape_mismatch, "axis " + std::to_string(i) + ": elements " + starts[i].to_string() +
                                             " .. " + last.to_string() + " are not all in 0 .. " +
                                             (from[i] - 1).to_string());
    }
  }
  return Type{in(0).dtype, shape};
}

Result<Type> Inference::pad() {
  const std::vector<int64_t>&low = ints("low"), &high = ints("high");
  const size_t rank = in(0).dims.size();
  if (low.size() != rank || high.size() != rank) {
    return fault(Code::bad_attribute, "found low " + ints_text(low) + ", high " + ints_text(high) +
                                          "; one each is needed for the " + std::to_string(rank) + " axes");
  }
  if (has(1)) {
    GE_TRY(same_dtype(0, 1));
    GE_TRY(rank_is(1, 0, 0));
  }
  Type result = in(0);
  for (size_t i = 0; i < rank; ++i) {
    if (low[i] < 0 || high[i] < 0) {
      return fault(Code::bad_attribute, "found low " + ints_text(low) + ", high " + ints_text(high) +
                                            "; amounts are not negative");
    }
    result.dims[i] = result.dims[i] + low[i] + high[i];
  }
  return result;
}

Result<Type> Inference::concat() {
  const int64_t axis = integer("axis");
  GE_TRY(axis_in_range(axis, in(0).dims.size()));
  Type result = in(0);
  for (size_t i = 1; i < operands_.size(); ++i) {
    GE_TRY(same_dtype(0, i));
    GE_TRY(rank_is(i, result.dims.size(), result.dims.size()));
    for (size_t d = 0; d < result.dims.size(); ++d) {
      if (static_cast<int64_t>(d) == axis) continue;
      if (result.dims[d] == in(i).dims[d]) continue;
      GE_TRY(equal(result.dims[d], in(i).dims[d],
                   "axis " + std::to_string(d) + " of inputs 0 and " + std::to_string(i)));
      if (!result.dims[d].is_static()) result.dims[d] = in(i).dims[d];
    }
    Dim& total = result.dims[static_cast<size_t>(axis)];
    total = total + in(i).dims[static_cast<size_t>(axis)];
  }
  return result;
}

Result<Type> Inference::gather() {
  const int64_t axis = integer("axis");
  GE_TRY(axis_in_range(axis, in(0).dims.size()));
  if (in(1).dtype != DType::int64 && in(1).dtype != DType::int32) {
    return fault(Code::operand_dtype, "found indices " + to_string(in(1)) + "; allowed: int64, int32");
  }
  Type result{in(0).dtype, in(1).dims};
  if (integer("elements") != 0) {
    GE_TRY(indices_fit(axis));
    return result;
  }
  const auto split = in(0).dims.begin() + axis;
  result.dims.insert(result.dims.begin(), in(0).dims.begin(), split);
  result.dims.insert(result.dims.end(), split + 1, in(0).dims.end());
  return result;
}

// An index for each element: on the other axes there are no more of them than elements.
Status Inference::indices_fit(int64_t axis) {
  const Dims &data = in(0).dims, &indices = in(1).dims;
  GE_TRY(rank_is(1, data.size(), data.size()));
  for (size_t i = 0; i < data.size(); ++i) {
    const auto excess = (indices[i] - data[i]).value();
    if (static_cast<int64_t>(i) == axis || !excess || *excess <= 0) continue;
    return fault(Code::shape_mismatch, "indices " + to_string(in(1)) + " are longer than " + operand_text(0) +
                                           " on axis " + std::to_string(i) + "; only axis " +
                                           std::to_string(axis) + " may be");
  }
  return {};
}

Result<Type> Inference::scatter() {
  GE_TRY(same_dtype(0, 2));
  GE_ASSIGN(const Type taken, gather());
  if (text("kind") != "none" && bits_of(in(0).dtype) < 8)
    return fault(Code::operand_dtype, "found " + operand_text(0) + "; 4-bit elements are not combined");
  GE_TRY(rank_is(2, taken.dims.size(), taken.dims.size()));
  GE_TRY(equal_dims(in(2).dims, taken.dims, "updates and what the indices name"));
  return in(0);
}

Result<Type> Inference::scan() {
  GE_TRY(numbers_only(0));
  GE_TRY(axis_in_range(integer("axis"), in(0).dims.size()));
  return in(0);
}

Result<Type> Inference::sort_topk() {
  const int64_t axis = integer("axis");
  GE_TRY(axis_in_range(axis, in(0).dims.size()));
  const Dims& k = dims("k");
  if (k.size() != 1)
    return fault(Code::bad_attribute, "found " + std::to_string(k.size()) + " values of k; one is needed");
  const Dim& extent = in(0).dims[static_cast<size_t>(axis)];
  if (const auto excess = (k[0] - extent).value(); excess && *excess > 0)
    return fault(Code::shape_mismatch, "found k " + k[0].to_string() + "; axis " + std::to_string(axis) +
                                           " of " + operand_text(0) + " has no more than " +
                                           extent.to_string());
  Type result{DType::int64, in(0).dims};
  result.dims[static_cast<size_t>(axis)] = k[0];
  return result;
}

Result<Type> Inference::dot() {
  GE_TRY(numbers_only(0));
  GE_TRY(same_dtype(0, 1));
  const Dims &lhs = in(0).dims, &rhs = in(1).dims;
  const size_t rank = lhs.size();
  GE_TRY(rank_is(0, 2, SIZE_MAX));
  GE_TRY(rank_is(1, rank, rank));
  Type result = in(0);
  for (size_t i = 0; i + 2 < rank; ++i) {
    GE_TRY(equal(lhs[i], rhs[i], "batch axis " + std::to_string(i)));
    if (!lhs[i].is_static()) result.dims[i] = rhs[i].is_static() ? rhs[i] : lhs[i];
  }
  GE_TRY(equal(lhs[rank - 1], rhs[rank - 2],
               "columns of " + operand_text(0) + " and rows of " + operand_text(1)));
  result.dims[rank - 1] = rhs[rank - 1];
  if (has(2)) {
    GE_TRY(same_dtype(0, 2));
    GE_TRY(equal_dims(in(2).dims, result.dims, "addend and result"));
  }
  return result;
}

Result<Type> Inference::softmax() {
  GE_TRY(floats_only(0));
  GE_TRY(axis_in_range(integer("axis"), in(0).dims.size()));
  return in(0);
}

Result<Type> Inference::normalize() {
  GE_TRY(floats_only(0));
  GE_TRY(axis_in_range(integer("axis"), in(0).dims.size()));
  for (size_t i = 1; i < operands_.size(); ++i) {
    if (!has(i)) continue;
    GE_TRY(same_dtype(0, i));
    GE_TRY(equal_dims(in(0).dims, in(i).dims, i == 1 ? "input and scale" : "input and bias"));
  }
  return in(0);
}

Result<Type> Inference::attention() {
  for (size_t i = 0; i < 3; ++i) {
    GE_TRY(floats_only(i));
    GE_TRY(same_dtype(0, i));
    GE_TRY(rank_is(i, 4, 4));
  }
  if (bits_of(in(0).dtype) < 16)
    return fault(Code::operand_dtype, "found " + operand_text(0) + "; allowed: float64 to bfloat16");
  const Dims &q = in(0).dims, &k = in(1).dims, &v = in(2).dims;
  GE_TRY(equal(q[0], k[0], "batches of q and k"));
  GE_TRY(equal(q[0], v[0], "batches of q and v"));
  GE_TRY(equal(q[3], k[3], "head sizes of q and k"));
  GE_TRY(equal(k[1], v[1], "heads of k and v"));
  GE_TRY(equal(k[2], v[2], "lengths of k and v"));
  const auto heads = q[1].value(), shared = k[1].value();
  const bool grouped = heads && shared && *shared > 0 && *heads % *shared == 0;
  if (!grouped) GE_TRY(equal(q[1], k[1], "heads of q and k"));
  const int64_t causal = integer("causal");
  if (causal < 0 || causal > 2)
    return fault(Code::bad_attribute, "found causal " + std::to_string(causal) + "; allowed: 0 .. 2");
  if (has(3)) {
    if (!is_bool(in(3).dtype)) GE_TRY(same_dtype(0, 3));
    GE_TRY(rank_is(3, 4, 4));
    GE_TRY(equal_dims(in(3).dims, {q[0], q[1], q[2], k[2]}, "mask and scores"));
  }
  return Type{in(0).dtype, {q[0], q[2], q[1], v[3]}};
}

Result<std::vector<Type>> Inference::fused() {
  if (body_ == nullptr) return fault(Code::verify_failed, "found no body");
  if (body_->inputs.size() != operands_.size()) {
    return fault(Code::operand_count, "found " + std::to_string(operands_.size()) +
                                          " operands; the body has " + std::to_string(body_->inputs.size()) +
                                          " inputs");
  }
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (has(i) && in(i) == body_->type(body_->inputs[i])) continue;
    return fault(Code::dtype_mismatch, "operand " + std::to_string(i) + " is " +
                                           (has(i) ? to_string(in(i)) : "absent") + "; the body takes " +
                                           to_string(body_->type(body_->inputs[i])));
  }
  std::vector<Type> results;
  for (const ValueId v : body_->outputs) results.push_back(body_->type(v));
  return results;
}

}  // namespace ge

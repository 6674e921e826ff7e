// OpContext: what the lowering of one ONNX node sees: its inputs, its attributes with the row's defaults, and
// a Builder. Entry: OpContext. Invariant: the node has passed check_node, so attributes have their kinds and
// operands their dtypes.
//
// A lowering reads as a formula. After the first failure every call gives kNone, empty dims or a default, so
// nothing needs to be tested in between; the error carries the node's place.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/onnx_ops/registry.h"

namespace ge {

// The values of a node's outputs, in order; kNone for optional ones nobody asked for.
struct Results {
  std::vector<ValueId> values;
  Results(ValueId value) : values{value} {}                        // NOLINT: a lowering returns its formula
  Results(std::vector<ValueId> list) : values(std::move(list)) {}  // NOLINT
};

class OpContext {
 public:
  OpContext(Graph& graph, const Node& node, const Operator& op);

  Builder& build() { return builder_; }
  Graph& graph() { return graph_; }
  const Operator& op() const { return op_; }
  const Node& node() const { return node_; }
  int version() const { return node_.onnx->version; }

  // Inputs. in(i) is kNone where it is absent.
  size_t input_count() const { return node_.operands.size(); }
  bool has(size_t i) const { return i < node_.operands.size() && node_.operands[i] != kNone; }
  ValueId in(size_t i) const { return has(i) ? node_.operands[i] : kNone; }
  const Type& type(ValueId value) const;  // an empty type for kNone
  const Dims& dims(ValueId value) const { return type(value).dims; }
  DType dtype(ValueId value) const { return type(value).dtype; }
  int64_t rank(ValueId value) const { return static_cast<int64_t>(type(value).dims.size()); }
  size_t output_count() const { return node_.results.size(); }
  bool wants(size_t output) const;  // the output is named and used

  // Attributes; the row's default where the node has none. Numbers with fractions are rounded to float32, in
  // which ONNX stores them.
  bool has_attr(std::string_view name) const { return node_.attrs.contains(std::string(name)); }
  int64_t int_attr(std::string_view name) const;
  double float_attr(std::string_view name) const;
  std::string string_attr(std::string_view name) const;
  std::vector<int64_t> ints_attr(std::string_view name) const;
  std::vector<double> floats_attr(std::string_view name) const;
  const TensorData* tensor_attr(std::string_view name) const;
  DType dtype_attr(std::string_view name) const;
  // The dtype of an attribute whose absence, or 0, means none.
  std::optional<DType> asked_dtype(std::string_view name) const;

  // `value` counted from the front; axis_out_of_range at the attribute (or input) where it is not in -rank ..
  // rank-1.
  int64_t axis_attr(std::string_view name, int64_t rank, ValueId of);
  // Like it for axes from an input or attribute; sorted; repeats are bad_attribute.
  std::vector<int64_t> normalized_axes(const std::vector<int64_t>& axes, int64_t rank, ValueId of,
                                       const std::string& at);

  // Axes that come as an input of one number, from the front.
  std::optional<int64_t> axis_input(size_t input, ValueId of);
  // A size that comes as an input of one number, which is `least` or more where it is known; else
  // bad_attribute.
  std::optional<Dim> size_input(size_t input, int64_t least);

  // Contents of a small integer value where the compiler knows them.
  std::optional<Dims> known(ValueId value) const;
  // Like known(in(i)), failing with needs_constant where they are not known.
  std::optional<Dims> contents(size_t input);
  // Contents that must be plain numbers.
  std::optional<std::vector<int64_t>> integers(size_t input);
  // A single element as a double; needs_constant where it is not known.
  std::optional<double> number(size_t input);

  // Failing. The Diagnostic gets the node's label, place and path; use about_*() for a place inside the node.
  ValueId fail(Diagnostic diagnostic);
  bool failed() const { return builder_.failed(); }
  // For checks that answer whether to go on: false, having failed with what was found.
  bool refuse(Diagnostic diagnostic, const std::string& found);
  bool refuse_input(size_t input, const std::string& must_be);  // operand_rank
  Diagnostic about_attr(std::string_view name, Code code, const std::string& message) const;
  Diagnostic about_input(size_t input, Code code, const std::string& message) const;
  Diagnostic about_node(Code code, const std::string& message) const;
  std::string describe(ValueId value) const;  // "'x' float32[batch, 16]"
  std::string pointer(
      std::string_view below) const;  // "/nodes/3/attributes/axis"; the node's path where it is no pointer

  // Formulas that several operators share.
  ValueId scalar_like(ValueId x, double value) { return builder_.scalar(dtype(x), value); }
  // x in a type that sums and squares may be taken in: 16-bit floats become float32.
  ValueId wide(ValueId x);
  // x as another type; to and from 4-bit ones by way of 8 bits, which pack and unpack to the same numbers.
  ValueId convert(ValueId x, DType to);
  // size / parts; nullopt where it has no whole value. Of a symbolic size that must be a multiple, the
  // reshape that uses the quotient asserts it.
  static std::optional<Dim> split(const Dim& size, int64_t parts);
  // An int64 scalar of this value, which may be negative: a constant where it is a plain number.
  ValueId size_scalar(const Dim& size);
  // int64 positions along an axis of `shape`.
  ValueId positions(const Dims& shape, int64_t axis);
  ValueId constant_ints(const std::vector<int64_t>& values) { return builder_.constant(tensor_of(values)); }
  // A part of x: `start` is the first element taken on each axis.
  ValueId slice(ValueId x, const Dims& starts, const std::vector<int64_t>& steps, const Dims& shape);
  // The numbers of [from, from + extent) of one axis.
  ValueId slice_axis(ValueId x, int64_t axis, const Dim& from, const Dim& extent, int64_t step = 1);
  ValueId concat(std::vector<ValueId> parts, int64_t axis);
  // lhs == rhs at bind, where that cannot be decided now; shape_mismatch where it is wrong now.
  void require_equal(const Dim& lhs, const Dim& rhs, const std::string& message);
  // dim >= least at bind, where that cannot be decided now; shape_mismatch where it is less now.
  void require_at_least(const Dim& dim, const Dim& least, const std::string& message);

 private:
  const Attr* attr(std::string_view name) const;
  std::string default_text(std::string_view name) const;

  Graph& graph_;
  const Node& node_;
  const Operator& op_;
  Builder builder_;
};

// False, with the fault told at the input, where one of its indices is known and lies outside data's (input
// 0's) dims [first_axis, first_axis + axes), which the last dim of tuples names one by one (axes 1: any
// shape of indices).
bool indices_in_range(OpContext& c, size_t input, int64_t first_axis, int64_t axes);
// int8 for int4, uint8 for uint4; other types as they are.
DType unpacked(DType dtype);
// "Softmax 'act'": how messages name a node.
std::string node_label(const Node& node);
// The JSON pointer below the node's own, where its path is one.
std::string pointer_below(const Node& node, std::string_view below);
std::string place_of(const Node& node);

}  // namespace ge

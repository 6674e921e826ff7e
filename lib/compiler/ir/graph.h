// The IR: an SSA graph of nodes and values. Entry: Graph. Both dialects live in it: ONNX operators (Op::onnx
// plus OnnxName) and core ops (core_ops.def, scalar_ops.def). Invariants (ir/verify checks them): a value is
// produced once; operands exist; types are what ir/infer says; the node order is topological after sort().
//
// Ids are stable until compact(); removed nodes and values leave holes that iteration skips.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "compiler/ir/dim.h"
#include "numeric/dtype.h"

namespace ge {

class Graph;
using NodeId = uint32_t;
using ValueId = uint32_t;
inline constexpr uint32_t kNone = 0xffffffffu;

struct Type {
  DType dtype = DType::float32;
  Dims dims;
  bool operator==(const Type&) const = default;
};
std::string to_string(const Type& type);  // "float32[batch, 16]"

// Every op the passes know. `onnx` marks a node of the ONNX dialect (see Node::onnx); `constant` holds
// Node::data.
enum class Op : uint16_t {
  onnx,
#define GE_CORE_OP(name, ...) name,
#include "compiler/ir/core_ops.def"
#undef GE_CORE_OP
#define GE_SCALAR_OP(name, ...) name,
#include "contract/scalar_ops.def"
#undef GE_SCALAR_OP
};
std::string_view name_of(Op op);
std::optional<Op> op_from_name(std::string_view name);
bool is_map(Op op);  // a row of scalar_ops.def
std::optional<uint16_t> scalar_code(Op op);

inline constexpr int64_t kConstantStartBytes = 4096;

// Contents of a constant. Small, shared, immutable. Static shape.
struct TensorData {
  DType dtype = DType::float32;
  std::vector<int64_t> dims;
  std::shared_ptr<const ByteBuffer> bytes;  // row-major contents, or for a splat the bytes of ONE element
  bool splat = false;                       // every element equals bytes[0]: costs nothing however large
  // Contents made when first needed (weights in files); replaces bytes where set. Reads the whole tensor.
  std::shared_ptr<const std::function<Result<ByteBuffer>()>> load;
  // Where load gives what stands in a file: hash64 of its first kConstantStartBytes, so that most constants
  // are known to differ without being read.
  std::optional<uint64_t> start;
  bool remade = false;  // load makes them from other contents that stay: nobody need keep what it gave
  int64_t count() const;
  int64_t size_bytes() const;  // of the whole tensor, splat or not
};
TensorData splat(DType dtype, std::vector<int64_t> dims, double value);
TensorData tensor_of(const std::vector<int64_t>& values);  // int64, rank 1
TensorData tensor_of_floats(std::vector<int64_t> dims, const std::vector<float>& values);
Result<std::shared_ptr<const ByteBuffer>> full_bytes(const TensorData& data);  // splats expanded, files read
// Axis i of the result is axis perm[i] of `data`. Shares data's storage: what moves is made whenever it is
// asked for (remade). Elements of 8 bits at least.
TensorData transposed(const TensorData& data, const std::vector<int64_t>& perm);
TensorData reshaped(const TensorData& data, std::vector<int64_t> dims);  // as many elements; the same storage

struct TensorAttr {
  TensorData data;
};
using Attr = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                          std::vector<std::string>, Dims, DType, TensorAttr, std::shared_ptr<Graph>>;
using AttrMap = std::map<std::string, Attr>;

// Where something stands in the user's model; survives every pass. A fused node has one per node it came
// from.
struct Source {
  std::string path;   // "/nodes/3" (JSON pointer) or an ONNX node name; what people search for
  std::string place;  // "graph.json:14:5"; may be empty
  std::string name;   // the node's own name; may be empty
  bool operator==(const Source&) const = default;
};
struct OnnxName {
  std::string domain;   // "" is ai.onnx
  std::string type;     // "Softmax"
  int32_t version = 0;  // opset version of the domain
};

struct Node {
  Op op = Op::constant;
  std::vector<ValueId> operands;  // kNone: an absent optional operand
  std::vector<ValueId> results;
  AttrMap attrs;
  std::vector<Source> sources;
  std::unique_ptr<OnnxName> onnx;    // Op::onnx only
  std::unique_ptr<TensorData> data;  // Op::constant only
  std::unique_ptr<Graph> body;  // fused: its graph; inputs and outputs match operands and results in order
  bool alive = true;

  const Source& source() const;  // the first of them; all of it empty where there is none
};
// What the model says of a value's type where it needs not: dims are -1 where it does not say.
struct DeclaredType {
  std::optional<DType> dtype;
  std::optional<std::vector<int64_t>> dims;
};
// (lib/document's Value is a JSON value; both are seen by the readers, so this one has another name.)
struct ValueInfo {
  std::string name;  // of the model where it has one; unique within a graph, else generated at print
  Type type;
  NodeId producer = kNone;  // kNone: a graph input
  uint32_t result_index = 0;
  // Known contents of a small integer tensor (row-major, at most 64 elements), e.g. what Shape gives under a
  // symbolic batch.
  std::optional<Dims> contents;
  std::shared_ptr<const DeclaredType> declared;  // of ONNX files; null where it is not said
  bool alive = true;
};

class Graph {
 public:
  std::string name;
  SymbolRanges symbols;              // declared dims
  SymbolRanges all_symbols() const;  // and those that inputs name
  struct Assertion {
    Dim lhs, rhs;
    std::string message;
    Source source;
  };                                  // lhs == rhs, checked at bind
  std::vector<Assertion> assertions;  // add_assertion keeps them unique
  std::vector<ValueId> inputs, outputs;
  std::vector<std::string> output_names;  // the model's names; outputs may repeat a value
  std::vector<std::string> notes;         // about the model, for its author

  void add_assertion(Assertion assertion);      // unless asserts() holds
  bool asserts(const Assertion& needed) const;  // the assertions imply it

  ValueId add_input(std::string value_name, Type type);
  // Appends a node whose results have the given types; results are new values.
  NodeId add_node(Op op, std::vector<ValueId> operands, std::vector<Type> result_types, AttrMap attrs = {},
                  std::vector<Source> sources = {});
  ValueId add_constant(TensorData data, std::vector<Source> sources = {});

  Node& node(NodeId id) { return *nodes_[id]; }
  const Node& node(NodeId id) const { return *nodes_[id]; }
  ValueInfo& value(ValueId id) { return *values_[id]; }
  const ValueInfo& value(ValueId id) const { return *values_[id]; }
  const Type& type(ValueId id) const { return values_[id]->type; }
  size_t node_capacity() const { return nodes_.size(); }
  size_t value_capacity() const { return values_.size(); }
  size_t live_nodes() const;
  std::vector<NodeId> order() const;  // live nodes, topological, stable: ties by id. Linear time.

  // Uses are kept current by the functions below; a use is (node, operand index); outputs count as uses by
  // kNone.
  struct Use {
    NodeId node;
    uint32_t operand;
    bool operator==(const Use&) const = default;
  };
  const std::vector<Use>& uses(ValueId id) const { return uses_[id]; }
  size_t use_count(ValueId id) const { return uses_[id].size(); }
  const Node* producer(ValueId id) const {
    return values_[id]->producer == kNone ? nullptr : nodes_[values_[id]->producer].get();
  }
  void set_operand(NodeId node, uint32_t operand, ValueId value);
  void add_output(ValueId value, std::string output_name);
  void set_output(size_t index, ValueId value);
  // Every use of `from`, outputs too, becomes `to`. `to` takes the name where it has none.
  void replace_all_uses(ValueId from, ValueId to);
  void remove_node(NodeId id);  // its results must be unused
  bool is_constant(ValueId id) const;
  const TensorData* constant(ValueId id) const;  // null where it is not a constant

  Graph clone() const;  // deep; ids kept
  void compact();       // drops holes; ids change; nodes in topological order

 private:
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<ValueInfo>> values_;
  void add_use(ValueId value, Use use);
  void drop_use(ValueId value, Use use);
  // Where in uses_ a use stands, by node and operand (by index for outputs): a use goes in constant time,
  // however many a value has.
  uint32_t& slot_of(Use use);
  std::vector<std::vector<Use>> uses_;
  std::vector<std::vector<uint32_t>> slots_;
  std::vector<uint32_t> output_slots_;
  void index_assertions() const;
  mutable std::map<std::vector<std::string>, std::vector<size_t>> assertions_over_;  // by their symbols
  mutable size_t indexed_assertions_ = 0;  // of the list, which only grows
};

bool has_operand(const Node& node, size_t index);  // there, and not an optional one left out
// A dim at the symbols' opt values, no less than 0: what is negative there has no binding. A symbol with no
// declared range counts as 8.
int64_t opt_value(const Graph& graph, const Dim& dim);

// Attribute access with a fallback; the verifier has checked the kinds.
int64_t attr_int(const Node& node, std::string_view name, int64_t fallback = 0);
double attr_double(const Node& node, std::string_view name, double fallback = 0);
const std::vector<int64_t>& attr_ints(const Node& node, std::string_view name);  // empty where absent
bool attr_ints_are(const Node& node, std::string_view name, int64_t value);      // all of them
const Dims& attr_dims(const Node& node, std::string_view name);                  // empty where absent
DType attr_dtype(const Node& node, std::string_view name);
std::string attr_string(const Node& node, std::string_view name, std::string_view fallback = "");

}  // namespace ge

// Bodies of ONNX graphs: the graph itself and subgraph attributes, with the model's functions inlined. Entry:
// BodyBuilder. Invariant: names of one file's values and nodes are unique, whatever functions are inlined.
//
// Two walks, so that nodes may stand in any order: the first makes every node and its results, the second
// finds the operands. A function's node is replaced in the first walk by the function's nodes; names of its
// inputs mean what its caller gives, which is looked up in the second.
//
// What functions and subgraphs multiply is paid for before it is made (ReadState::pay); what calls share is
// made once for a function and once for a call's node (functions.h).
#pragma once
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/name_map.h"
#include "compiler/onnx_file/functions.h"
#include "compiler/onnx_file/messages.h"
#include "compiler/onnx_file/names.h"
#include "compiler/onnx_file/tensors.h"
#include "compiler/source/captures.h"

namespace ge::onnx_wire {

// Functions within functions, and subgraphs within subgraphs, counted together.
inline constexpr int kMaxCallDepth = 64;

// What all bodies of one file share.
struct ReadState {
  ReadState(std::string file_name, std::string folder, std::shared_ptr<const ByteBuffer> bytes,
            int64_t max_nodes, int64_t max_unfolded_bytes)
      : file(std::move(file_name)),
        tensors(std::move(folder), errors, std::move(bytes)),
        nodes_left(max_nodes),
        unfolded_left(max_unfolded_bytes) {}
  ErrorList errors;
  std::string file;
  TensorProtos tensors;
  int64_t nodes_left;
  int64_t unfolded_left;      // bytes that functions and subgraphs may still unfold to
  bool gave_up = false;       // nodes were not read: names they define are no faults
  int suggestions_left = 20;  // nearest names are costly to find
  NameTable values, nodes;
  FunctionTable functions;

  // So many faults that no more are told: what else the file holds is not read.
  bool gives_up() {
    gave_up |= errors.full();
    return gave_up;
  }
  // Takes bytes off unfolded_left; where fewer are left it is told once, and reading ends. False then.
  bool pay(uint64_t bytes);
  Diagnostic fault(Code code, const std::string& message, const std::string& path) const {
    return fail(code).say(message).at(file).in(path);
  }
};

class BodyBuilder;

// Where names mean something: a graph, or one call of a function.
struct Scope {
  const Scope* caller = nullptr;      // functions only
  const Scope* around = nullptr;      // subgraphs only: the scope of the node that holds it
  FunctionUse* function = nullptr;    // whose call this is
  const CallUse* call = nullptr;      // its node
  const Scope* attributes = nullptr;  // the call whose attributes ref_attr_name means
  const Opsets* opsets = nullptr;
  std::string prefix;                                   // of names in it, printable: "block1/"
  NameMap<std::string_view, ValueId> names;             // of values made here; not the function's inputs
  mutable std::unordered_map<uint32_t, ValueId> given;  // the function's inputs that were looked up
  int depth = 0;

  const Scope* outside() const { return caller ? caller : around; }
};

// Where something stands, as a JSON pointer: a text only where a fault is told.
struct Place {
  const std::string& body;
  std::string_view list;  // "/inputs/"
  int64_t index = -1;     // none where negative
  std::string text() const { return body + std::string(list) + (index < 0 ? "" : std::to_string(index)); }
};

class BodyBuilder {
 public:
  // `outer` and `outer_scope` are null for the graph itself. `path` is the body's JSON pointer, as graph.json
  // has it; `depth` how many functions and subgraphs it stands in.
  BodyBuilder(ReadState& state, BodyBuilder* outer, const Scope* outer_scope, std::string path, int depth)
      : state_(state), outer_(outer), outer_scope_(outer_scope), path_(std::move(path)) {
    root_.depth = depth;
  }

  ge::Graph read(const onnx_wire::Graph& graph, const Opsets& opsets);
  // Values of the graph around this one that it uses, each an input after its own; by name.
  const std::vector<std::string>& captures() const { return captures_; }

 private:
  struct Pending {
    NodeId id;
    Node node;
    const Scope* scope;
  };
  struct PassedThrough {  // a function's output that no node of it makes: an Identity of what it names
    NodeId id;
    const Scope* inner;
    std::string_view name;
  };
  void read_inputs(const onnx_wire::Graph& graph);
  std::optional<Type> tensor_type(const ValueInfo& info, bool needs_shape, const Place& what);
  std::optional<Dims> shape_of(const ValueInfo& info, const Shape& shape, const Place& what);
  std::optional<Dim> dim_of(const ValueInfo& info, int axis, const Dimension& dimension, const Place& what);
  void read_initializers(const onnx_wire::Graph& graph);
  void read_declared(const onnx_wire::Graph& graph);
  void read_outputs(const onnx_wire::Graph& graph);

  template <class Nodes>
  void scan_nodes(const Nodes& nodes, Scope& scope);
  void scan_node(const NodeParts& node, Scope& scope, size_t index);
  void finish_node(const Pending& pending);
  NodeId add_node(const OnnxName& name, const std::string& node_name, size_t results);
  void define_results(const Node& node, NodeId id, Scope& scope);
  void define(std::string_view raw, ValueId value, Scope& scope, const Place& what);
  // What a node of a function or subgraph takes in the graph, without its attributes.
  bool pay_for(const NodeParts& node, const Scope& scope);
  bool pay_for(const Attribute& attribute, std::string_view name);

  bool may_call(const FunctionUse& function, const CallUse& call, const NodeParts& node, const Scope& scope,
                const std::string& name);
  void inline_call(FunctionUse& function, const NodeParts& node, Scope& scope, const std::string& name);
  void bind_outputs(const FunctionUse& function, const CallUse& call, Scope& scope, const Scope& inner,
                    const std::string& name);

  bool sees(std::string_view name, const Scope& scope) const;
  ValueId resolve(std::string_view name, const Scope& scope, const Place& what);
  ValueId resolve_input(uint32_t index, const Scope& scope, const Place& what);
  ValueId capture(ValueId outer_value);
  void tell_undefined(std::string_view name, const Place& what);

  void read_attributes(const Node& node, NodeId id, const Scope& scope);
  static std::pair<std::optional<Attribute>, const Scope*> referred(const Attribute& attribute,
                                                                    const Scope& scope);
  int type_of(const Attribute& attribute, NodeId id);
  std::optional<Attr> attribute_value(const Attribute& attribute, NodeId id, const Scope& scope);
  std::optional<Attr> tensor_attribute(const Attribute& attribute, NodeId id);
  std::optional<Attr> graph_attribute(const Attribute& attribute, NodeId id, const Scope& scope);
  Diagnostic about_node(NodeId id, Code code, const std::string& message, const std::string& below) const;

  ReadState& state_;
  BodyBuilder* outer_;
  const Scope* outer_scope_;
  std::string path_;
  ge::Graph graph_;
  Scope root_;
  std::vector<std::unique_ptr<Scope>> calls_;
  std::vector<Pending> pending_;
  std::vector<PassedThrough> passed_;
  int64_t node_count_ = 0;
  std::vector<std::string> captures_;
  std::map<ValueId, ValueId> captured_;         // outer value -> input
  std::vector<CapturingBody> subgraphs_;        // of the node being read
  std::map<std::string, ValueId> outer_names_;  // captured names of subgraphs -> values here
};

}  // namespace ge::onnx_wire

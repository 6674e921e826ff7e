// Reads the body of a graph: inputs, initializers, nodes and outputs, for the graph itself and for subgraph
// attributes. Entry: BodyReader. Invariant: names of one body and of the bodies around it are unique.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/name_map.h"
#include "compiler/ir/graph.h"
#include "compiler/source/captures.h"
#include "compiler/source/fields.h"
#include "compiler/source/weights.h"

namespace ge {

// What all bodies of one file share.
struct ReadState {
  ReadState(std::string folder, int64_t max_nodes, int64_t max_unfolded_bytes)
      : tensors(std::move(folder), errors), nodes_left(max_nodes), unfolded_left(max_unfolded_bytes) {}
  ErrorList errors;
  TensorReader tensors;
  int opset = 0;
  int64_t nodes_left;
  int64_t unfolded_left;      // bytes that subgraphs may still unfold to
  int suggestions_left = 20;  // nearest names are costly to find
  bool gave_up = false;       // nodes were not read: names they define are no faults

  // So many faults that no more are told, each with a walk to its place: what else the text holds is not
  // read.
  bool gives_up() {
    gave_up |= errors.full();
    return gave_up;
  }
  // Takes bytes off unfolded_left; where fewer are left it is told once, at `json`, and no more is read.
  // False then.
  bool pay(uint64_t bytes, const Value& json);
};

class BodyReader {
 public:
  // `outer` is null for the graph itself. `path` is the body's JSON pointer.
  BodyReader(ReadState& state, BodyReader* outer, std::string path)
      : state_(state), outer_(outer), path_(std::move(path)) {}

  Graph read(const Fields& fields, const SymbolRanges& symbols);
  // Names of outer values that this body uses; each is an input after the body's own.
  const std::vector<std::string>& captures() const { return captures_; }

 private:
  struct NodeSpec {
    Value json;
    NodeId id;
  };
  void read_inputs(const Fields& fields);
  void read_initializers(const Fields& fields);
  void scan_nodes(const Fields& fields);
  void scan_node(const Value& json, const std::string& path);
  void finish_node(const NodeSpec& spec);
  void read_outputs(const Fields& fields);
  void define(const std::string& name, ValueId value, const Value& json);
  bool sees(const std::string& name) const;
  ValueId resolve(const std::string& name, const Value& json);
  ValueId capture(const std::string& name);
  void tell_undefined(const std::string& name, const Value& json);
  std::string nearest_name(const std::string& name);
  Source source_of(const Value& json, std::string path, std::string name) const;

  void read_attributes(const Value& object, NodeId id);
  bool is_float32(const Value& json);  // a double
  std::optional<Attr> attribute(const Value& json);
  std::optional<Attr> list_attribute(const Value& json);
  std::optional<Attr> object_attribute(const Value& json);
  std::shared_ptr<Graph> subgraph(const Value& json);

  ReadState& state_;
  BodyReader* outer_;
  std::string path_;
  Graph graph_;
  NameMap<std::string, ValueId> names_;
  NameMap<std::string, std::string> node_names_;  // name -> place
  std::set<std::string> undefined_;               // told already
  std::vector<NodeSpec> specs_;
  std::vector<std::string> captures_;
  std::vector<CapturingBody> subgraphs_;  // of the node being read
};

// An element type and a shape of dims (names, numbers, expressions); faults are told.
std::optional<Dims> read_shape(const Value& shape, ErrorList& errors);
// What can be said of a shape once the ranges of its symbols are known: bad_dim where a dim is negative for
// all of them, size_overflow where the tensor is too large for all of them.
void check_ranges(const Value& shape, const Dims& dims, const SymbolRanges& symbols, ErrorList& errors);
std::optional<Dim> read_dim(const Value& json, ErrorList& errors);
// Declared dims: name -> {min, max, opt}.
SymbolRanges read_symbols(const Value& dims, ErrorList& errors);

// One diagnostic per cycle, its nodes named in order (graph_cycle).
void tell_cycles(const Graph& graph, ErrorList& errors);

}  // namespace ge

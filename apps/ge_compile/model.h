// The model that the command line names, with its --dim and --freeze. Entry: read_model.
#pragma once
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "ge_compile/options.h"

namespace ge {

// The graph, and the JSON text it came from (none of ONNX files): a node's fault is told with the line of the
// attribute or input it is about.
struct Model {
  Graph graph;
  ByteBuffer text;
  std::string name;
  std::vector<std::string> files;  // that its weights come from
  Error located(Error error) const;
};

// graph.json, an ONNX file (by its name, or by its first byte), or either on standard input.
// `partial` gets what could be read of an ONNX file whose graph has faults.
Result<Model> read_model(const CompileCommand& command, Graph* partial = nullptr);

}  // namespace ge

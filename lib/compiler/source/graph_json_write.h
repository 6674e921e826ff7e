// Graph of ONNX operators -> graph.json, canonical: the same graph gives the same bytes. Entry:
// write_graph_json. Invariant: reading the result back gives an equal graph; weights keep every bit.
#pragma once
#include <string>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace ge {

// Writes `path` and, where the graph has tensors of more than 16 elements, "<path without .json>.safetensors"
// beside it. With path "-" the text goes to standard output and tensors stand in it as base64. Errors:
// unsupported_feature for graphs that hold core ops or assertions (lowered ones), and those of reading
// weights and writing files.
Status write_graph_json(const Graph& graph, const std::string& path);
// The path of those weights.
std::string weights_file(const std::string& path);

// The text alone. `weights_file` is the name under which tensors are kept in `weights` (safetensors); "" puts
// them in the text.
struct GraphText {
  std::string json;
  ByteBuffer weights;  // empty where no tensor needs it
};
Result<GraphText> graph_to_json(const Graph& graph, const std::string& weights_file);

}  // namespace ge

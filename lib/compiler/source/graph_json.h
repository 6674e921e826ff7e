// graph.json -> Graph of ONNX operators. Entry: read_graph_json. The format is docs/graph-format.md.
// Invariant: a graph that comes back has unique names, every value is produced once and before it is used,
// and its weights have been found with the right dtype and size (their bytes load when first needed).
#pragma once
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "compiler/ir/graph.h"
#include "compiler/source/unfolding.h"

namespace ge {

// Stated in docs/graph-format.md.
inline constexpr int64_t kMaxGraphBytes = int64_t{1} << 30;  // of JSON text
inline constexpr int kMaxGraphDepth = 100;                   // containers inside containers
inline constexpr int64_t kMaxGraphNodes = 1'000'000;         // nodes, and as many initializers
inline constexpr size_t kMaxTensorRank = 8;

struct ReadOptions {
  int64_t max_bytes = kMaxGraphBytes;
  int max_depth = kMaxGraphDepth;
  int64_t max_nodes = kMaxGraphNodes;
  // Of subgraphs, with what they use of the graphs around them; and of the graph, beside twice its text.
  int64_t max_unfolded_bytes = kMaxUnfoldedBytes;
  std::vector<std::string>* files = nullptr;  // gets the paths of the files that tensors come from
};

// `display_name` stands in places ("graph.json:14:5"); `folder` is what relative file paths start from ("" is
// the current one). Nodes are Op::onnx in the file's order; results of nodes have no types yet (lower_onnx
// infers them). All faults of the text are told at once, each with line, column and JSON pointer (E02xx;
// files that cannot be read E01xx).
Result<Graph> read_graph_json(ByteSpan text, std::string display_name, std::string folder,
                              const ReadOptions& options = {});

}  // namespace ge

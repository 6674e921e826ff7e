// ONNX files -> the Graph of ONNX operators that graph.json gives. Entry: read_onnx. What is read, and what
// is not, is docs/onnx.md. Invariant: as for read_graph_json: unique names, every value produced once and
// before it is used, weights found with the right dtype and size.
#pragma once
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "compiler/ir/graph.h"
#include "compiler/source/unfolding.h"

namespace ge {

inline constexpr int64_t kMaxOnnxBytes = (int64_t{1} << 31) - 1;  // protobuf's limit, so the format's
inline constexpr int64_t kOldestIrVersion = 3, kNewestIrVersion = 13;

struct OnnxReadOptions {
  int64_t max_nodes = 1'000'000;  // nodes after functions are inlined, and as many initializers
  // What functions and subgraphs may unfold to, in bytes of the graph: document_limit where it would be more.
  int64_t max_unfolded_bytes = kMaxUnfoldedBytes;
  // Gets what could be read where the graph has faults: its nodes have their operators and attributes, but
  // operands may be missing.
  Graph* partial = nullptr;
  std::vector<std::string>* files = nullptr;  // gets the paths of the files that external data comes from
};

// `display_name` stands in places; `folder` is what locations of external data start from ("" is the current
// one). Takes the file's bytes; weights stay in them until they are asked for. Every fault is told at once
// (E02xx; external files that cannot be read E01xx); onnx_syntax with the byte where the file is no protobuf.
// Until the bytes are known to be sound nothing is allocated but the error.
Result<Graph> read_onnx(ByteBuffer bytes, const std::string& display_name, std::string folder,
                        const OnnxReadOptions& options = {});

// A tensor by itself, as the ONNX backend's tests keep them (input_0.pb); no external data. `name` gets the
// tensor's own name where it is not null.
Result<TensorData> read_onnx_tensor(ByteSpan bytes, const std::string& display_name,
                                    std::string* name = nullptr);

}  // namespace ge

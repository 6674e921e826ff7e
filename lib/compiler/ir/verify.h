// The IR verifier: named rules, all violations at once. Entry: verify.
#pragma once
#include "base/status.h"
#include "compiler/ir/graph.h"

namespace ge {

// verify_failed, one diagnostic per violation, message "[rule-name] ...". Rules: single-producer,
// operands-defined, acyclic, types-inferred (what infer_types says), known-attributes, contents-match,
// body-signature, uses-consistent, outputs-named, unique-names, no-onnx (only where `core_only`). Bodies are
// verified with their graph's assertions.
Status verify(const Graph& graph, bool core_only);

}  // namespace ge

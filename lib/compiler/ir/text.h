// The IR's printed form and its parser: parse(print(g)) equals g. A pass test is text in, text out. Entry:
// print, parse_ir.
//
//   graph @tiny (%x: float32[batch, 16]) symbols(batch 1..64 opt 8) {
//     %w = constant float32[16, 4] splat 0.5
//     %h = dot(%x, %w) : float32[batch, 4]
//     %y = softmax(%h) {axis = 1} : float32[batch, 4]   // /nodes/2
//     return %y as "y"
//   }
//
// Also: "assert <dim> == <dim> "message"" lines first; several results "%a, %b = op(..) : T, T"; "_" for an
// absent operand; %0, %1 .. for values with no name, %"any text" for other names; onnx.Softmax@13(..),
// onnx."com.microsoft".Gelu@1(..);
// "%y = fused(%x) {kind = "loop"} : T body (%0: T) { .. }"; constants as "[1.0, 2.0]" in row-major order,
// NaNs other than the usual one as bits "0x7fc00001". A core op's types may be left out: they are inferred.
// The comment after a node gives its sources' paths, joined by " + ", and is read back.
#pragma once
#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace ge {

struct PrintOptions {
  bool sources = true;        // trailing comments with each node's source
  int64_t max_elements = 16;  // longer constants print as a hash ("bytes <xxh3>") and cannot be parsed back
};
std::string print(const Graph& graph, const PrintOptions& options = {});
Result<Graph> parse_ir(std::string_view text,
                       std::string_view file_name = "<ir>");  // ir_syntax with line:column
std::string to_dot(const Graph& graph);                       // Graphviz

}  // namespace ge

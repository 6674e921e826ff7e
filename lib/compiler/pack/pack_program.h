// From a selection to a Program: buffers, expressions, launches. Entry: pack_program.
// Invariant: the program passes plan_verify, and bind accepts it for every dim that its symbols' ranges
// allow.
#pragma once
#include "base/status.h"
#include "compiler/pack/plan_assembler.h"
#include "compiler/select/selection.h"

namespace ge {

struct PackOptions {
  bool exact = false;                  // no multiply-add contraction in generated CUDA
  bool ptx = false;                    // keep PTX beside the cubin
  std::string* cuda_source = nullptr;  // receives the generated CUDA text, for --emit cuda
};
Result<Program> pack_program(const Graph& graph, const ValueViews& views, const Selection& selection,
                             const Target& target, const PackOptions& options, PlanAssembler& assembler);

}  // namespace ge

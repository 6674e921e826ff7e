// Code for the loops of one program. Entry: LoopKernels: add every loop, generate() once, then choices_for
// each. On the CPU a loop is its bytecode; on CUDA all loops of a program go through NVRTC in one call.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/pack/plan_assembler.h"
#include "compiler/select/selection.h"

namespace ge {

struct DimPredicate {
  Dim lhs;
  Relation relation = Relation::kEqual;
  Dim rhs;
};
struct LoopChoice {
  std::vector<DimPredicate> guard;
  uint32_t kernel = 0;  // in the plan
  Attrs attrs = {};
  std::array<Dim, 3> grid{1, 1, 1};
  std::array<int64_t, 3> block{1, 1, 1};
  Dim dynamic_shared_memory;
};

class LoopKernels {
 public:
  // `exact`: no multiply-add contraction on CUDA.
  LoopKernels(const Graph& graph, const Target& target, bool exact)
      : graph_(graph), target_(target), exact_(exact) {}
  // `in_place_of[i]`: the input operand whose bytes output operand i takes over, or -1. Returns the loop's
  // index.
  size_t add(const LaunchSpec& launch, std::vector<int8_t> in_place_of);
  Status generate(PlanAssembler& assembler, bool keep_ptx, std::string* cuda_source);
  const std::vector<LoopChoice>& choices(size_t loop) const { return loops_[loop].choices; }

 private:
  struct Loop {
    const LaunchSpec* launch;
    std::vector<int8_t> in_place_of;
    std::vector<LoopChoice> choices;
  };
  void generate_bytecode(PlanAssembler& assembler);
  Status generate_cuda(PlanAssembler& assembler, bool keep_ptx, std::string* cuda_source);

  const Graph& graph_;
  const Target& target_;
  const bool exact_;
  std::vector<Loop> loops_;
};

}  // namespace ge

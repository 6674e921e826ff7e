// The axes of a loop on the CPU: which are slow and which fast, what a tile covers, how each operand lies
// along them. Entry: LoopGeometry::shape, then the walks. Invariant: batch, slow and fast axes together are
// the domain's axes of extent other than 1, each once.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "contract/bytecode.h"
#include "runtime/cpu/loop_plan.h"

namespace ge::cpu {

class LoopGeometry {
 public:
  LoopGeometry(const LoopProgram& program, std::span<const TensorView> views);
  // Fills the plan's extents, tile and items.
  void shape(LoopPlan& plan);
  // After shape().
  Walk walk_of_operand(size_t operand) const;
  Walk walk_of_index(int axis) const;  // offsets are the positions on the domain's axis
  bool repeats_everywhere(size_t operand) const;
  int64_t row_count() const { return count(row_); }

 private:
  using Axes = std::vector<int>;  // of the domain, outermost first
  int64_t count(const Axes& axes) const;
  int64_t stride(size_t operand, int axis) const;
  bool merge(int a, int b) const;
  template <class Stride>
  Walk walk(Stride stride_of) const;
  void flat(LoopPlan& plan);
  int transposed_axis() const;
  void rows(LoopPlan& plan);
  int column_axis() const;
  void columns(LoopPlan& plan, int lanes);

  const LoopProgram& p_;
  std::span<const TensorView> views_;
  std::array<int64_t, kMaxRank> extent_{};
  Axes outer_, row_, batch_, slow_, fast_, index_axes_;
};

}  // namespace ge::cpu

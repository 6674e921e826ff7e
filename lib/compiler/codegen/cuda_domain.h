// The domain of a loop as its kernels see it: axes that every operand lets merge are one, and each extent and
// stride is a number in the text or a field of the argument struct. Entry: CudaDomain (facts) and
// CudaArguments (fields, in order of first use).
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/codegen/cuda_text.h"

namespace ge {

struct CudaAxis {
  uint8_t from = 0, to = 0;  // of the domain's axes
  bool row = false;
  std::optional<int64_t> extent;
  int64_t max = INT64_MAX;
  std::optional<int64_t> multiple_of;
};

class CudaDomain {
 public:
  CudaDomain(const LoopProgram& program, const LoopFacts& facts);
  const std::vector<CudaAxis>& axes() const { return axes_; }
  std::vector<int> all_axes() const;
  std::vector<int> outer_axes() const { return level_axes(false); }
  std::vector<int> row_axes() const { return level_axes(true); }
  // Stride of `operand` along merged axis `axis`, where it is a constant.
  std::optional<int64_t> stride(size_t operand, int axis) const;
  // Along `axes` (neighbours in order) the operand is one axis with the last one's stride.
  bool is_dense(size_t operand, const std::vector<int>& axes) const;
  // The merged axis that holds the domain's axis; -1: an axis of extent 1.
  int axis_of(uint32_t domain_axis) const;
  std::optional<int64_t> count(
      const std::vector<int>& axes) const;                // product of extents, where all are constants
  int64_t max_count(const std::vector<int>& axes) const;  // saturates
  // What of the facts the code may have built in; empty axes and operands that nothing reads included.
  std::vector<Requirement> requirements() const;
  size_t whole_operand() const { return whole_; }  // one of element level: its dims are the domain's
  const LoopProgram& program() const { return p_; }
  const LoopFacts& facts() const { return facts_; }

 private:
  std::vector<int> level_axes(bool row) const;
  bool operand_merges(size_t operand, int a, int b) const;  // domain axes
  const LoopProgram& p_;
  const LoopFacts& facts_;
  std::vector<CudaAxis> axes_;
  size_t whole_ = 0;
};

// The argument struct of one kernel.
class CudaArguments {
 public:
  explicit CudaArguments(const CudaDomain& domain) : domain_(domain) {}
  std::string pointer(size_t operand);  // "a.p0"
  std::string extent(int axis);         // "1024ll" or "a.n1"
  std::string stride(size_t operand, int axis);
  std::string count(const std::vector<int>& axes);  // "(a.n0 * a.n1)"
  std::string struct_text(const std::string& name) const;
  void fill(KernelDesc& desc) const;

 private:
  std::string field(const std::string& name, ArgDesc source);
  const CudaDomain& domain_;
  std::vector<std::pair<std::string, ArgDesc>> fields_;
};

}  // namespace ge

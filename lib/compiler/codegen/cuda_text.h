// A LoopProgram as CUDA kernels. Entry: print_cuda_loop. Pure text: the same program and facts give the same
// bytes. Each variant is one extern "C" __global__ function that takes one struct by value; desc.args says
// how the runtime fills it. All variants of a program, and of many programs, go into one source (cuda_source)
// and one NVRTC call.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "contract/bytecode.h"
#include "contract/kernel_desc.h"

namespace ge {

// What is known at compile time about the domain and the operands' views; nothing known is always right.
struct LoopFacts {
  struct Axis {
    std::optional<int64_t> extent;       // a constant
    int64_t max = INT64_MAX;             // upper bound
    std::optional<int64_t> multiple_of;  // extent is known to be a multiple of it
  };
  struct Operand {
    std::vector<std::optional<int64_t>>
        strides;  // per domain axis; constants (0: repeats, 1: contiguous), else read at run time
    // merges[a]: stride[a] == stride[b] * extent[b] for every value of the dims, b being the next axis whose
    // extent is not the constant 1. (Where all are constants it is found without being told.)
    std::vector<bool> merges;
    int64_t align_bytes = 1;  // of the data address, for every value of the dims
    bool streaming = false;   // too large to stay in the caches: read and written once
    bool constant = false;    // no launch of the run writes it
  };
  std::vector<Axis> axes;  // of the domain: outer, then row
  std::vector<Operand> operands;
  bool exact = false;  // no shortcuts of narrow_math.h
};
// Facts of views whose dims and strides are final (static shapes, tests). The alignment is the address'.
LoopFacts facts_of(const LoopProgram& program, std::span<const TensorView> views);

// A condition on a binding. Operand strides and axis extents are those of the views.
struct LoopGuard {
  enum class Kind : uint8_t {
    kExtentMultiple,  // product of extents of axes [from, to) is a multiple of value
    kExtentAtMost,    // that product is <= value
    kStrideMultiple,  // operand's stride on axis `from` is a multiple of value
    kAligned,         // operand's address is a multiple of value bytes
  };
  Kind kind = Kind::kExtentAtMost;
  uint8_t operand = 0;
  uint8_t from = 0, to = 0;
  int64_t value = 0;
};
// Blocks to launch, all along x: the product over terms of ceil(product of extents of axes [from, to) /
// per_block), times a constant. Zero blocks: nothing to do, the launch is skipped.
struct LoopGrid {
  struct Term {
    uint8_t from = 0, to = 0;
    int64_t per_block = 1;
  };
  std::vector<Term> terms;
  int64_t times = 1;
};

struct CudaLoopVariant {
  std::string symbol;    // "loop_<hash>": of the text, so equal text has an equal name
  std::string method;    // "flat_vector", "row_warp", ...: for --explain
  std::string fragment;  // its source; needs cuda_prelude() before it
  KernelDesc desc;       // name == symbol; in_place_of is -1: the caller sets it (allowed for equal strides)
  std::array<int64_t, 3> block{1, 1, 1};
  LoopGrid grid;
  std::vector<LoopGuard> guards;  // all must hold
  int64_t early = 0;  // operands that it reads before its predecessor is done (bit k: operand k): the
                      // choice's attribute "early", which the description then demands
};

// Variants, best first; the last has no guards. unsupported_feature for a program that no variant prints (the
// message says why).
Result<std::vector<CudaLoopVariant>> print_cuda_loop(const LoopProgram& program, const LoopFacts& facts);

// kernels/scalar.h and loop/{loop_device,loop_reductions,narrow_math}.h, as embedded in this build.
std::string_view cuda_prelude();
// Prelude and fragments; a symbol that comes twice is printed once.
std::string cuda_source(std::span<const CudaLoopVariant* const> variants);

}  // namespace ge

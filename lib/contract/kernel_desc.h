// What a kernel takes and how its argument struct is packed from verified views. One description serves the
// verifier, the CPU, CUDA and the compiler. Entry: KernelRow (built-in, constexpr) and KernelDesc (owned;
// generated kernels carry theirs in the plan). Invariant: every byte of the argument struct comes from args[]
// or is zero.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "contract/tensor_view.h"

namespace ge {

enum class KernelKind : uint8_t { kBuiltin, kGenerated, kLibrary };
enum class KernelDevice : uint8_t { kCpu, kCuda };
enum class OperandRole : uint8_t { kIn, kOut, kInOut, kScratch };
enum class AttrType : uint8_t { kInt, kFloat, kInts, kFloats, kString };
using AttrValue = std::variant<int64_t, double, std::vector<int64_t>, std::vector<double>, std::string>;

// Where a field of the argument struct comes from.
enum class ArgSource : uint8_t {
  kPtr,          // data pointer of `operand` (its view's element 0)
  kDim,          // int64/int32 extent of `operand`'s axis `a`
  kStride,       // element stride of `operand`'s axis `a`
  kCount,        // product of extents of `operand`'s axes [a, b); b = -1: to its rank
  kView,         // the whole TensorView (144 bytes) of `operand`
  kAttr,         // attribute `attr`, element `a` where it is a list
  kTensorMap,    // CUtensorMap (128 bytes) of `operand`, box and swizzle from attrs "box<operand>",
                 // "swizzle<operand>"
  kDeviceBlock,  // address of the program's device block
  kLaunch,       // number of the launch, an integer: what the kernel writes into FaultRecord::launch
};
enum class ArgType : uint8_t { kPointer, kI32, kI64, kF32, kF64, kView, kTensorMap };
int64_t size_of(ArgType type);  // 8 4 8 4 8 144 128

struct OperandDesc {
  std::string name;
  OperandRole role = OperandRole::kIn;
  DTypeSet dtypes;
  int8_t min_rank = 0, max_rank = kMaxRank;
  int16_t align_bytes = 1;  // of the view's data address
  int8_t in_place_of = -1;  // this out operand may share bytes with that in operand (equal access maps)
  bool optional = false;    // may be absent: TensorRef::buffer == kNoBuffer, packed as null / empty view
  bool operator==(const OperandDesc&) const = default;
};
struct AttrDesc {
  std::string name;
  AttrType type = AttrType::kInt;
  int64_t min = INT64_MIN, max = INT64_MAX;  // of ints, and of each element of a list
  bool required = true;
  bool operator==(const AttrDesc&) const = default;
};
struct ArgDesc {
  uint32_t offset = 0;
  ArgType type = ArgType::kPointer;
  ArgSource source = ArgSource::kPtr;
  int8_t operand = -1;
  int8_t a = 0, b = -1;
  std::string attr;
  bool operator==(const ArgDesc&) const = default;
};
// What a kernel's code takes for granted of its operands' views beyond what their descriptions say: generated
// code has sizes and strides built in. Checked under every binding, so that such code never meets other
// views.
enum class RequirementKind : uint8_t {
  kExtent,          // the product of dims [from, to) is value
  kExtentMultiple,  // ... is a multiple of value
  kExtentAtMost,    // ... is at most value
  kStride,          // the stride of axis `from` is value, where that axis has more than one position
  kStrideMultiple,  // ... is a multiple of value, where it has
  kMerges,  // axes `from` and `to` are one: stride[from] is stride[to] x dim[to], where `from` has more than
            // one position
  kSameDims,  // dims [from, to) are those of operand `value`
};
struct Requirement {
  RequirementKind kind = RequirementKind::kExtent;
  int8_t operand = 0;
  int8_t from = 0, to = 0;  // axes
  int64_t value = 0;        // elements
  bool operator==(const Requirement&) const = default;
};
struct KernelLimits {
  int32_t min_arch = 0;               // 80, 90, ...; 0 for CPU
  int32_t max_threads = 1024;         // per block
  int32_t dynamic_shared_memory = 0;  // largest a launch may ask for, bytes
  bool operator==(const KernelLimits&) const = default;
};

struct KernelDesc {
  std::string name;  // <op>_<algorithm>_<types>[_<arch>]
  uint32_t revision = 1;
  KernelKind kind = KernelKind::kBuiltin;
  KernelDevice device = KernelDevice::kCpu;
  std::vector<OperandDesc> operands;
  std::vector<AttrDesc> attrs;
  uint32_t args_size = 0;  // bytes, multiple of 8, at most kMaxArgsSize
  std::vector<ArgDesc> args;
  std::vector<Requirement> requirements;  // of generated kernels; built-in rows have a check function
  KernelLimits limits;
  std::string symbol;  // CUDA entry name inside its image
  // CUDA: every thread waits for the grid's predecessor (griddepcontrol.wait) before it touches memory, so
  // that a launch may be a dependent one. What it reads before are operands that its attribute "early" names
  // (bit k: operand k), which are constant while the program runs: plan_verify sees to that.
  bool waits_for_predecessor = false;
  bool operator==(const KernelDesc&) const = default;
};
inline constexpr uint32_t kMaxArgsSize = 4096;

using Attrs = std::vector<std::pair<std::string, AttrValue>>;  // sorted by name
const AttrValue* find_attr(const Attrs& attrs, std::string_view name);
int64_t attr_int(const Attrs& attrs, std::string_view name, int64_t fallback, size_t index = 0);
double attr_float(const Attrs& attrs, std::string_view name, double fallback, size_t index = 0);

// What a built-in row's check sees once per binding: the operands' views (data not yet known for the arena)
// and attrs.
struct LaunchShape {
  std::span<const TensorView> operands;  // absent optional operands have rank -1
  const Attrs& attrs;
  std::array<int64_t, 3> grid;
  std::array<int64_t, 3> block;
};
// Refuses a launch whose operands do not fit together (launch_refused, with what was found). After it returns
// ok the kernel touches no byte outside its operands' views, whatever the grid.
using LaunchCheck = Status (*)(const LaunchShape&);

struct LaunchContext;  // kernels/launch_context.h
using CpuEntry = void (*)(const void* args, const LaunchContext& context);

// A built-in kernel as its family declares it, all constexpr; desc() makes the owned form.
struct OperandRow {
  std::string_view name;
  OperandRole role = OperandRole::kIn;
  DTypeSet dtypes;
  int8_t min_rank = 0, max_rank = kMaxRank;
  int16_t align_bytes = 1;
  int8_t in_place_of = -1;
  bool optional = false;
};
struct AttrRow {
  std::string_view name;
  AttrType type = AttrType::kInt;
  int64_t min = INT64_MIN, max = INT64_MAX;
  bool required = true;
};
struct ArgRow {
  uint32_t offset = 0;
  ArgType type = ArgType::kPointer;
  ArgSource source = ArgSource::kPtr;
  int8_t operand = -1;
  int8_t a = 0, b = -1;
  std::string_view attr = {};
};
// What selection may expect of a kernel, measured, as shares (above 0, at most 1) of its target's figures in
// targets.def: arithmetic (of the matrix units where `matrix_units` and the elements are 16 bits or fewer),
// and memory traffic at sizes that leave the device partly idle. Only ranks rows for the same node, and never
// enters a plan.
struct KernelEfficiency {
  double of_peak = 0.3;
  double of_bandwidth = 0.9;
  bool matrix_units = false;
  double start_us = 0;  // of a launch beyond its work and the target's launch_us: filling and draining
  double step_us = 0;   // products: of 64 of the depth, however few rows and columns there are
};
inline constexpr KernelEfficiency kReferenceEfficiency{0.005, 0.1};
// How many blocks serve a built-in CUDA row best: what the compiler launches. It never enters a plan but as
// the grid that comes of it, and any grid is right.
enum class KernelGrid : uint8_t {
  kElements,           // a thread for each element of the last operand
  kVectors,            // ... for each eight
  kColumns,            // a block for each column of the last operand along attribute "axis"
  kProductTiles,       // a block for each 32 x 32 tile of the product, operand 3
  kSplitProductTiles,  // ... 64 x 64, or down to 32 x 16 where those are too few to fill a large GPU
  kQueryTiles,         // attention: a block for each 128 queries of a head, or down to 32
  kWarpgroupQueries,   // ... or 64, which tensor maps bring in boxes of 64
  kConvTiles,          // a block for each 64 pixels of 64 channels of a group of the result, operand 3
  kConvThinTiles,      // ... for each 32 pixels of 32 channels
  kConvClusters,  // ... 64 of 64, or down to 32 of 32, and up to four blocks share one: blocks come in fours
  kWarpgroupTiles,  // a cluster for each tile of the row's own size of the product: select/wgmma_plan.h
  kStreamedStrips,  // a cluster for each strip of columns of the product: select/stream_plan.h
};
struct KernelRow {
  std::string_view name;
  uint32_t revision = 1;
  KernelKind kind = KernelKind::kBuiltin;
  KernelDevice device = KernelDevice::kCpu;
  std::span<const OperandRow> operands;
  std::span<const AttrRow> attrs;
  uint32_t args_size = 0;
  std::span<const ArgRow> args;
  KernelLimits limits;
  LaunchCheck check = nullptr;
  std::string_view symbol = {};        // CUDA entry
  std::string_view image = {};         // CUDA: embedded image that holds it (the .cu file's stem)
  bool waits_for_predecessor = false;  // see KernelDesc
  int32_t only_arch = 0;               // CUDA: its code exists for this architecture alone; 0: for any
  KernelGrid grid = KernelGrid::kElements;
  KernelEfficiency efficiency = {};
  // A row of the same family and device: where both can do the work this one is taken, whatever their costs.
  std::string_view preferred_over = {};
  std::string_view summary = {};
};
KernelDesc desc(const KernelRow& row);

}  // namespace ge

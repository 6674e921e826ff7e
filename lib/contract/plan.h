// The plan's records: all that the compiler tells the executor. Entry: Plan.
// Invariant: a Plan that came through plan_verify has every index in range and every kernel described.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "contract/expr.h"
#include "contract/kernel_desc.h"
#include "numeric/dtype.h"

namespace ge {

inline constexpr uint32_t kPlanFormat = 1;
inline constexpr uint32_t kNoBuffer = 0xffffffffu, kNoIndex = 0xffffffffu;
inline constexpr int64_t kBufferAlignment = 256;    // of arena slots and of every buffer's address
inline constexpr int64_t kBlobAlignment = 4096;     // of a blob in the file
inline constexpr int64_t kChecksumChunk = 4 << 20;  // weights: one checksum per chunk
inline constexpr int64_t kDeviceBlockBytes = 4096;

// One weight tensor in the weights section, canonical row-major; each content stands once, shared by all
// targets.
struct Blob {
  std::string hash;  // xxh3-128 of the bytes, hex
  DType dtype = DType::float32;
  std::vector<int64_t> dims;
  uint64_t offset = 0;  // from the start of the weights section, multiple of kBlobAlignment
  uint64_t size_bytes = 0;
};
struct TensorRef {
  uint32_t buffer = kNoBuffer;  // kNoBuffer: an absent optional operand
  ExprId offset_bytes = kNoExpr;
  DType dtype = DType::float32;
  std::vector<ExprId> dims, strides;  // strides in elements
};
enum class Region : uint8_t { kInput, kOutput, kWeights, kPrepared, kArena, kDeviceBlock, kHost };
struct Buffer {
  std::string name;  // for people: the value's name in the model
  Region region = Region::kArena;
  ExprId size_bytes = kNoExpr;
  uint32_t slot = kNoIndex;       // kArena: index into Program::slots
  ExprId offset_bytes = kNoExpr;  // kArena: inside the slot; kNoExpr: 0
  uint32_t blob = kNoIndex;       // kWeights: which blob
  uint32_t alias_of = kNoBuffer;  // state: an output that shares an input's storage
};
struct Slot {
  ExprId size_bytes = kNoExpr;
};  // the arena is the slots in order, each 256-byte aligned

struct Image {          // device code
  std::string hash;     // xxh3-128 of the bytes, hex
  std::string format;   // "cubin" | "ptx" | "bytecode"
  std::string arch;     // "sm_90" ...; "" for bytecode
  uint64_t offset = 0;  // from the start of the code section
  uint64_t size_bytes = 0;
};
struct KernelRef {
  std::string name;
  uint32_t revision = 1;
  KernelKind kind = KernelKind::kBuiltin;
  std::vector<KernelDesc> generated;  // kGenerated: exactly one, the description; else empty
  uint32_t image = kNoIndex;          // kGenerated: index into Plan::images
};
struct Choice {
  std::vector<Predicate> guard;  // all must hold; empty: always
  uint32_t kernel = 0;           // index into Plan::kernels
  std::vector<TensorRef> operands;
  Attrs attrs;
  std::array<ExprId, 3> grid{kNoExpr, kNoExpr, kNoExpr};
  std::array<int64_t, 3> block{1, 1, 1}, cluster{1, 1, 1};
  ExprId dynamic_shared_memory = kNoExpr;
  bool cooperative = false;
  std::vector<int64_t> algo;  // library rows: the algorithm's attributes in a fixed order; empty: heuristic
};
// A reference launch that computes the same boundary values over the canonical weights; operands that are
// arena values of this launch keep their TensorRef, intermediates live in shadow scratch buffers of region
// kHost.
struct Shadow {
  uint32_t kernel = 0;
  std::vector<TensorRef> operands;
  Attrs attrs;
};
struct Launch {
  std::vector<Choice> choices;            // in order; the last one's guard is empty
  uint32_t lane = 0;                      // stream
  std::vector<uint32_t> after;            // steps of the same block on other lanes that must be done
  bool dependent_launch = false;          // programmatic dependent launch on its predecessor
  std::vector<std::string> source_nodes;  // JSON pointers or ONNX node names
  ExprId flops = kNoExpr, bytes_read = kNoExpr, bytes_written = kNoExpr;
  DType type_read = DType::float32, type_accumulated = DType::float32, type_written = DType::float32;
  std::vector<Shadow> shadow;
};
struct Copy {
  TensorRef from, to;
  std::vector<std::string> source_nodes;
};  // same dims, same dtype, dense
struct Fill {
  TensorRef to;
  uint64_t bits = 0;
  std::vector<std::string> source_nodes;
};  // element's bit pattern
struct ReadDims {
  TensorRef from;
  std::vector<uint32_t> symbols;
  std::vector<std::string> source_nodes;
};  // int64 values -> symbols; ends a segment

enum class StepKind : uint8_t { kLaunch, kCopy, kFill, kReadDims, kIf, kLoop };
struct Block;
struct If {
  TensorRef cond;
  uint32_t then_block = kNoIndex, else_block = kNoIndex;
};  // indices into Program::blocks; no else: kNoIndex
struct Loop {
  TensorRef trip, cond;
  std::vector<TensorRef> carried;
  uint32_t body = kNoIndex;
};
struct Step {  // exactly the member that `kind` names is meaningful; the others are empty
  StepKind kind = StepKind::kLaunch;
  std::vector<Launch> launch;  // 0 or 1 entry (vectors keep the record small and its default empty)
  std::vector<Copy> copy;
  std::vector<Fill> fill;
  std::vector<ReadDims> read_dims;
  std::vector<If> if_;
  std::vector<Loop> loop;
};
struct Block {
  std::vector<Step> steps;
};

struct Symbol {
  std::string name;
  int64_t min = 0, max = INT64_MAX, opt = 1;
};
struct Assertion {
  Predicate predicate;
  std::string message;
  std::vector<std::string> source_nodes;
};
struct PortHint {    // for generated inputs: keeps indices in range and values sane
  std::string kind;  // "" | "index" | "unit" | "bool"
  double low = 0, high = 0;
};
struct Port {
  std::string name;
  DType dtype = DType::float32;
  std::vector<ExprId> dims;
  uint32_t buffer = kNoBuffer;
  PortHint hint;
};
struct Signature {
  std::vector<Port> inputs, outputs;
};

struct Program {
  std::string target;  // "cpu", "sm_90", ...
  std::vector<Symbol> symbols;
  ExprTable exprs;
  std::vector<Assertion> assertions;
  Signature signature;
  std::vector<Buffer> buffers;
  std::vector<Slot> slots;
  Block prepare, run;
  std::vector<Block> blocks;  // bodies of If and Loop
};
struct Plan {
  std::string model_name;
  std::string made_by;             // "ge 0.1.0"
  std::vector<KernelRef> kernels;  // shared by all programs
  std::vector<Image> images;
  std::vector<Blob> blobs;
  std::vector<Program> programs;  // one per target
};

}  // namespace ge

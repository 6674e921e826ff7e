// The sample plan and its kernels.
#include "contract_sample.h"

#include "base/checked_math.h"
#include "contract/view_bounds.h"
#include "numeric/dtype.h"

namespace ge::test {
namespace {

constexpr uint32_t kLoopCpu = 0, kScale = 1, kScratch = 2, kLoopGpu = 3, kScaleGpu = 4;

ArgDesc view_arg(int operand) {
  return {static_cast<uint32_t>(operand) * 144,
          ArgType::kView,
          ArgSource::kView,
          static_cast<int8_t>(operand),
          0,
          -1,
          ""};
}

KernelDesc loop_desc(KernelDevice device) {
  KernelDesc d;
  d.name = device == KernelDevice::kCpu ? "loop_relu_cpu" : "loop_relu_sm90";
  d.kind = KernelKind::kGenerated;
  d.device = device;
  for (const char* name : {"x", "w", "b"})
    d.operands.push_back({name, OperandRole::kIn, {DType::float32}, 2, 2, 4, -1, false});
  d.operands.push_back({"y", OperandRole::kOut, {DType::float32}, 2, 2, 4, 0, false});
  for (int i = 0; i < 4; ++i) d.args.push_back(view_arg(i));
  d.args_size = 4 * 144;
  if (device == KernelDevice::kCuda) {
    d.symbol = "loop_relu";
    d.limits = {90, 256, 1024};
  }
  return d;
}

KernelDesc scale_desc(KernelDevice device) {
  KernelDesc d;
  d.name = device == KernelDevice::kCpu ? "scale_reference" : "scale_f32_sm80";
  d.device = device;
  d.operands = {{"x", OperandRole::kIn, {DType::float32, DType::float16}, 0, 8, 4, -1, false},
                {"bias", OperandRole::kIn, {DType::float32}, 1, 1, 4, -1, true},
                {"y", OperandRole::kOut, {DType::float32, DType::float16}, 0, 8, 4, 0, false}};
  d.attrs = {{"alpha", AttrType::kFloat, INT64_MIN, INT64_MAX, true},
             {"axes", AttrType::kInts, 0, 7, true},
             {"mode", AttrType::kString, INT64_MIN, INT64_MAX, false}};
  d.args = {view_arg(0),
            view_arg(1),
            view_arg(2),
            {432, ArgType::kF64, ArgSource::kAttr, -1, 0, -1, "alpha"},
            {440, ArgType::kI32, ArgSource::kAttr, -1, 1, -1, "axes"},
            {444, ArgType::kI32, ArgSource::kCount, 0, 0, -1, ""},
            {448, ArgType::kPointer, ArgSource::kDeviceBlock, -1, 0, -1, ""}};
  d.args_size = 456;
  if (device == KernelDevice::kCuda) {
    d.limits = {80, 256, 4096};
    d.symbol = "scale_f32";
  }
  return d;
}

KernelDesc scratch_desc() {
  KernelDesc d;
  d.name = "reduce_scratch_reference";
  d.operands = {{"x", OperandRole::kIn, {DType::float32}, 1, 8, 4, -1, false},
                {"scratch", OperandRole::kScratch, {DType::float32}, 1, 1, 4, -1, false},
                {"y", OperandRole::kInOut, {DType::float32}, 1, 8, 4, -1, false}};
  d.args = {view_arg(0), view_arg(1), view_arg(2)};
  d.args_size = 432;
  return d;
}

Status same_dims(const LaunchShape& shape) {
  const TensorView &x = shape.operands[0], &y = shape.operands[2];
  if (x.rank == y.rank && std::equal(x.dims, x.dims + x.rank, y.dims)) return {};
  return fail(Code::launch_refused).say("x and y differ in shape");
}

// Everything but the kernels that the steps launch is the same for both targets.
struct Kernels {
  uint32_t loop, scale;
  const char* target;
};

Program program_for(const Kernels& kernels) {
  Program p;
  p.target = kernels.target;
  p.symbols = {{"batch", 0, 64, 8}, {"extra", 1, 4, 2}};
  ProgramEditor e(p);
  const ExprId batch = e.symbol(0), sixteen = e.number(16), one = e.number(1);
  const ExprId bytes = e.binary(batch, ExprOp::kMul, e.number(64));
  const ExprId padded =
      e.binary(e.binary(e.binary(bytes, ExprOp::kAdd, e.number(255)), ExprOp::kFloorDiv, e.number(256)),
               ExprOp::kMul, e.number(256));
  p.assertions = {{{batch, Relation::kLessEqual, e.number(1000)}, "too many rows", {"/nodes/0"}}};
  const uint32_t x = e.buffer("x", Region::kInput, bytes), y = e.buffer("y", Region::kOutput, bytes);
  const uint32_t past = e.buffer("past", Region::kInput, e.number(4)),
                 present = e.buffer("present", Region::kOutput, e.number(4));
  p.buffers[present].alias_of = past;
  const uint32_t w = e.buffer("w", Region::kWeights, e.number(64)),
                 b = e.buffer("b", Region::kWeights, e.number(64));
  p.buffers[w].blob = 0;
  p.buffers[b].blob = 1;
  const uint32_t packed = e.buffer("w.packed", Region::kPrepared, e.number(64)),
                 zeros = e.buffer("zeros", Region::kPrepared, e.number(8));
  p.slots = {{padded}, {e.binary(padded, ExprOp::kMax, e.number(1024))}};
  const uint32_t h = e.buffer("h", Region::kArena, bytes),
                 scratch = e.buffer("scratch", Region::kArena, e.number(64));
  p.buffers[h].slot = 0;
  p.buffers[scratch].slot = 1;
  p.buffers[scratch].offset_bytes = e.number(256);
  const uint32_t host = e.buffer("host", Region::kHost, bytes),
                 flag = e.buffer("flag", Region::kHost, e.number(16));
  const uint32_t block = e.buffer("device block", Region::kDeviceBlock, e.number(kDeviceBlockBytes));
  p.signature.inputs = {{"x", DType::float32, {batch, sixteen}, x, {"unit", -1, 1}},
                        {"past", DType::float32, {one}, past, {}}};
  p.signature.outputs = {{"y", DType::float32, {batch, sixteen}, y, {}},
                         {"present", DType::float32, {one}, present, {}}};

  Step copy_w{.kind = StepKind::kCopy}, fill_zeros{.kind = StepKind::kFill};
  copy_w.copy = {{e.dense(w, {sixteen}), e.dense(packed, {sixteen}), {"/nodes/0"}}};
  fill_zeros.fill = {{e.dense(zeros, {one}, DType::int64), 0, {}}};
  p.prepare.steps = {copy_w, fill_zeros};

  const std::vector<ExprId> rows = {batch, sixteen};
  Choice narrow;  // used where batch < 4
  narrow.guard = {{batch, Relation::kLess, e.number(4)}};
  narrow.kernel = kernels.loop;
  narrow.operands = {e.dense(x, rows), e.strided(packed, rows, {0, 1}), e.strided(b, rows, {0, 1}),
                     e.dense(h, rows)};
  narrow.grid = {one, one, one};
  Choice wide = narrow;
  wide.guard.clear();
  wide.grid[0] = e.binary(e.binary(batch, ExprOp::kAdd, e.number(3)), ExprOp::kFloorDiv, e.number(4));
  wide.block = {128, 1, 1};
  if (kernels.loop == kLoopGpu) wide.dynamic_shared_memory = e.number(512);
  if (kernels.loop == kLoopCpu) wide.block = {1, 1, 1};
  Launch loop;
  loop.choices = {narrow, wide};
  loop.source_nodes = {"/nodes/0", "/nodes/1"};
  loop.flops = e.binary(batch, ExprOp::kMul, e.number(48));
  loop.bytes_read = bytes;
  loop.bytes_written = bytes;
  loop.shadow = {{kScale,
                  {e.dense(x, rows), {}, e.dense(host, rows)},
                  {{"alpha", 2.0}, {"axes", std::vector<int64_t>{0, 1}}}}};

  Choice scale;
  scale.kernel = kernels.scale;
  scale.operands = {e.dense(h, rows), {}, e.dense(h, rows)};
  scale.attrs = {{"alpha", 0.5}, {"axes", std::vector<int64_t>{0, 1}}, {"mode", std::string("fast")}};
  scale.grid = {one, one, one};
  Launch scale_in_place;
  scale_in_place.choices = {scale};
  scale_in_place.after = {0};
  scale_in_place.lane = 1;
  scale_in_place.source_nodes = {"/nodes/2"};
  Step first{.kind = StepKind::kLaunch}, second{.kind = StepKind::kLaunch}, read{.kind = StepKind::kReadDims};
  first.launch = {loop};
  second.launch = {scale_in_place};
  read.read_dims = {{e.dense(flag, {one}, DType::int64), {1}, {"/nodes/3"}}};
  Step branch{.kind = StepKind::kIf}, turns{.kind = StepKind::kLoop};
  branch.if_ = {{e.strided(flag, {}, {}, 8), 0, 1}};
  branch.if_[0].cond.dtype = DType::boolean;
  turns.loop = {{e.strided(flag, {}, {}), {}, {e.dense(h, rows)}, 2}};
  turns.loop[0].trip.dtype = DType::int64;
  Step to_y{.kind = StepKind::kCopy}, from_block{.kind = StepKind::kCopy};
  to_y.copy = {{e.dense(h, rows), e.dense(y, rows), {"/nodes/4"}}};
  from_block.copy = {{e.strided(block, {one}, {1}, 16), e.dense(present, {one}), {}}};
  p.run.steps = {first, second, read, branch, turns, to_y, from_block};
  p.blocks.resize(3);
  p.blocks[0].steps = {second};
  p.blocks[0].steps[0].launch[0].after.clear();
  if (kernels.loop == kLoopCpu) {
    Choice reduce;
    reduce.kernel = kScratch;
    reduce.operands = {e.dense(x, rows), e.dense(scratch, {sixteen}), e.dense(h, rows)};
    reduce.grid = {one, one, one};
    Step step{.kind = StepKind::kLaunch};
    step.launch.emplace_back();
    step.launch[0].choices = {reduce};
    p.blocks[2].steps = {step};
  }
  return p;
}

std::vector<std::byte> floats(int count, float first) {
  std::vector<std::byte> bytes(static_cast<size_t>(count) * 4);
  for (int i = 0; i < count; ++i)
    store_as<float>(&bytes[static_cast<size_t>(i) * 4], first + static_cast<float>(i));
  return bytes;
}

}  // namespace

ExprId ProgramEditor::binary(ExprId a, ExprOp op, ExprId b) {
  std::vector<ExprToken> tokens(p.exprs.tokens(a).begin(), p.exprs.tokens(a).end());
  tokens.insert(tokens.end(), p.exprs.tokens(b).begin(), p.exprs.tokens(b).end());
  tokens.push_back({op, 0});
  return p.exprs.add(tokens);
}

uint32_t ProgramEditor::buffer(std::string name, Region region, ExprId size_bytes) {
  Buffer b;
  b.name = std::move(name);
  b.region = region;
  b.size_bytes = size_bytes;
  p.buffers.push_back(b);
  return static_cast<uint32_t>(p.buffers.size() - 1);
}

TensorRef ProgramEditor::dense(uint32_t buffer, std::vector<ExprId> dims, DType dtype) {
  TensorRef t{buffer, number(0), dtype, dims, std::vector<ExprId>(dims.size())};
  ExprId stride = number(1);
  for (size_t i = dims.size(); i-- > 0;) {
    t.strides[i] = stride;
    if (i > 0)
      stride = p.exprs.is_constant(stride) && p.exprs.is_constant(dims[i])
                   ? number(p.exprs.tokens(stride)[0].value * p.exprs.tokens(dims[i])[0].value)
                   : binary(stride, ExprOp::kMul, dims[i]);
  }
  return t;
}

TensorRef ProgramEditor::strided(uint32_t buffer, std::vector<ExprId> dims, std::vector<int64_t> strides,
                                 int64_t offset_bytes) {
  TensorRef t{buffer, number(offset_bytes), DType::float32, std::move(dims), {}};
  for (const int64_t s : strides) t.strides.push_back(number(s));
  return t;
}

LoopProgram relu_loop() {
  LoopProgram l;
  l.outer_rank = 2;
  l.operands = {{DType::float32, false, false},
                {DType::float32, false, false},
                {DType::float32, false, false},
                {DType::float32, true, false}};
  const auto load = [](uint32_t operand) {
    return LoopInstruction{.op = static_cast<uint16_t>(LoopOp::kLoad), .imm = operand};
  };
  const auto scalar = [](ScalarOp op, uint16_t a, uint16_t b = kNoRegister) {
    return LoopInstruction{.op = static_cast<uint16_t>(op), .a = a, .b = b};
  };
  l.code = {load(0),
            load(1),
            scalar(ScalarOp::mul, 0, 1),
            load(2),
            scalar(ScalarOp::add, 2, 3),
            scalar(ScalarOp::relu, 4),
            LoopInstruction{.op = static_cast<uint16_t>(LoopOp::kStore), .a = 5, .imm = 3}};
  return l;
}

Sample sample_plan() {
  Sample s;
  s.plan.model_name = "sample";
  s.plan.made_by = "ge 0.1.0";
  s.plan.kernels = {{"loop_relu_cpu", 1, KernelKind::kGenerated, {loop_desc(KernelDevice::kCpu)}, 0},
                    {"scale_reference", 1, KernelKind::kBuiltin, {}, kNoIndex},
                    {"reduce_scratch_reference", 1, KernelKind::kBuiltin, {}, kNoIndex},
                    {"loop_relu_sm90", 1, KernelKind::kGenerated, {loop_desc(KernelDevice::kCuda)}, 1},
                    {"scale_f32_sm80", 1, KernelKind::kBuiltin, {}, kNoIndex}};
  s.plan.images = {{"", "bytecode", "", 0, 0}, {"", "cubin", "sm_90", 0, 0}};
  s.image_bytes = {encode_loop(relu_loop()), std::vector<std::byte>(100, std::byte{7})};
  s.plan.blobs = {{"", DType::float32, {16}, 0, 0}, {"", DType::float32, {4, 4}, 0, 0}};
  s.blob_bytes = {floats(16, 1), floats(16, -8)};
  s.plan.programs = {program_for({kLoopCpu, kScale, "cpu"}), program_for({kLoopGpu, kScaleGpu, "sm_90"})};
  return s;
}

PlanBytes Sample::bytes() const {
  return {[this](uint32_t i) -> Result<ByteSpan> { return ByteSpan(image_bytes[i]); },
          [this](uint32_t i) -> Result<ByteSpan> { return ByteSpan(blob_bytes[i]); }};
}
std::vector<std::byte> Sample::file() {
  auto file = write_plan_bytes(plan, bytes());
  return file.ok() ? std::move(*file) : std::vector<std::byte>();
}

KernelResolver test_kernels() {
  static const KernelDesc scale = scale_desc(KernelDevice::kCpu), gpu = scale_desc(KernelDevice::kCuda),
                          scratch = scratch_desc();
  return [](std::string_view name, uint32_t revision) -> KernelEntry {
    if (revision != 1) return {};
    if (name == scale.name) return {&scale, same_dims};
    if (name == gpu.name) return {&gpu, same_dims};
    if (name == scratch.name) return {&scratch, nullptr};
    return {};
  };
}

DeviceLimits gpu_limits() {
  DeviceLimits limits;
  limits.device = KernelDevice::kCuda;
  limits.arch = 90;
  return limits;
}

std::string outside_memory(const Plan& plan, const Binding& binding) {
  const Program& p = plan.programs[binding.program];
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    const BoundBuffer& b = binding.buffers[i];
    const int64_t whole =
        p.buffers[i].region == Region::kArena ? binding.arena_bytes : binding.prepared_bytes;
    const bool placed = p.buffers[i].region == Region::kArena || p.buffers[i].region == Region::kPrepared;
    if (b.size_bytes < 0 || b.offset_bytes < 0 || (placed && b.offset_bytes + b.size_bytes > whole))
      return "buffer " + p.buffers[i].name;
  }
  for (const BoundView& v : binding.views) {
    if (v.buffer == kNoBuffer) continue;
    // Corner by corner, so that this does not lean on byte_range.
    for (int corner = 0; corner < (1 << v.view.rank); ++corner) {
      __int128 element = 0;
      bool empty = false;
      for (int axis = 0; axis < v.view.rank; ++axis) {
        empty |= v.view.dims[axis] == 0;
        if ((corner >> axis) & 1)
          element += static_cast<__int128>(v.view.dims[axis] - 1) * v.view.strides[axis];
      }
      const __int128 size = bits_of(v.view.dtype) / 8, at = v.offset_bytes + element * size;
      if (!empty && (at < 0 || at + size > binding.buffers[v.buffer].size_bytes))
        return "view of " + p.buffers[v.buffer].name;
    }
  }
  return "";
}

}  // namespace ge::test

#include "runtime_sample.h"

#include <algorithm>
#include <cstring>

#include "contract/bytecode.h"
#include "contract/device_block.h"
#include "kernels/registry.h"

namespace ge::test {

PlanMaker::PlanMaker(std::string target) {
  plan_.model_name = "sample";
  plan_.made_by = "ge test";
  plan_.programs.resize(1);
  program().target = std::move(target);
}

ExprId PlanMaker::symbol(const std::string& name, int64_t min, int64_t max, int64_t opt) {
  program().symbols.push_back({name, min, max, opt});
  return edit().symbol(static_cast<int64_t>(program().symbols.size()) - 1);
}

TensorRef PlanMaker::tensor(const std::string& name, Region region, std::vector<ExprId> dims, DType dtype) {
  ProgramEditor e = edit();
  ExprId bytes = e.number(bits_of(dtype) / 8);
  for (ExprId dim : dims) bytes = e.binary(bytes, ExprOp::kMul, dim);
  const uint32_t buffer = e.buffer(name, region, bytes);
  return e.dense(buffer, std::move(dims), dtype);
}

TensorRef PlanMaker::input(const std::string& name, std::vector<ExprId> dims, DType dtype, PortHint hint) {
  TensorRef ref = tensor(name, Region::kInput, dims, dtype);
  program().signature.inputs.push_back({name, dtype, std::move(dims), ref.buffer, std::move(hint)});
  return ref;
}
TensorRef PlanMaker::output(const std::string& name, std::vector<ExprId> dims, DType dtype) {
  TensorRef ref = tensor(name, Region::kOutput, dims, dtype);
  program().signature.outputs.push_back({name, dtype, std::move(dims), ref.buffer, {}});
  return ref;
}
TensorRef PlanMaker::weights(const std::string& name, std::vector<int64_t> dims,
                             const std::vector<float>& values) {
  std::vector<ExprId> extents;
  for (int64_t dim : dims) extents.push_back(number(dim));
  TensorRef ref = tensor(name, Region::kWeights, extents, DType::float32);
  program().buffers[ref.buffer].blob = static_cast<uint32_t>(plan_.blobs.size());
  plan_.blobs.push_back({"", DType::float32, std::move(dims), 0, 0});
  auto& bytes = blobs_.emplace_back(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return ref;
}
TensorRef PlanMaker::prepared(const std::string& name, std::vector<int64_t> dims) {
  std::vector<ExprId> extents;
  for (int64_t dim : dims) extents.push_back(number(dim));
  return tensor(name, Region::kPrepared, extents, DType::float32);
}
TensorRef PlanMaker::arena(const std::string& name, std::vector<ExprId> dims, DType dtype) {
  TensorRef ref = tensor(name, Region::kArena, std::move(dims), dtype);
  Buffer& buffer = program().buffers[ref.buffer];
  buffer.slot = static_cast<uint32_t>(program().slots.size());
  program().slots.push_back({buffer.size_bytes});
  return ref;
}
TensorRef PlanMaker::host(const std::string& name, std::vector<ExprId> dims, DType dtype) {
  return tensor(name, Region::kHost, std::move(dims), dtype);
}
TensorRef PlanMaker::broadcast_rows(TensorRef row, ExprId rows) {
  row.dims.insert(row.dims.begin(), rows);
  row.strides.insert(row.strides.begin(), number(0));
  return row;
}
TensorRef PlanMaker::device_block(int64_t offset_bytes, DType dtype) {
  ProgramEditor e = edit();
  const uint32_t buffer = e.buffer("device block", Region::kDeviceBlock, e.number(kDeviceBlockBytes));
  TensorRef ref = e.dense(buffer, {}, dtype);
  ref.offset_bytes = e.number(offset_bytes);
  return ref;
}

uint32_t PlanMaker::builtin(const std::string& name) {
  for (uint32_t i = 0; i < plan_.kernels.size(); ++i) {
    if (plan_.kernels[i].name == name) return i;
  }
  const KernelRow* row = find_kernel_row(name);
  plan_.kernels.push_back({name, row == nullptr ? 1 : row->revision, KernelKind::kBuiltin, {}, kNoIndex});
  return static_cast<uint32_t>(plan_.kernels.size()) - 1;
}

uint32_t PlanMaker::library(const std::string& name) {
  const uint32_t kernel = builtin(name);
  plan_.kernels[kernel].kind = KernelKind::kLibrary;
  return kernel;
}

uint32_t PlanMaker::loop(const std::string& name, const LoopProgram& loop, int operand_count) {
  KernelDesc d;
  d.name = name;
  d.kind = KernelKind::kGenerated;
  const auto rank = static_cast<int8_t>(loop.outer_rank + loop.row_rank);
  for (int i = 0; i < operand_count; ++i) {
    const LoopOperand& operand = loop.operands[static_cast<size_t>(i)];
    d.operands.push_back({"o" + std::to_string(i),
                          operand.output ? OperandRole::kOut : OperandRole::kIn,
                          {operand.dtype},
                          rank,
                          rank,
                          4,
                          -1,
                          false});
    d.args.push_back({static_cast<uint32_t>(i) * 144, ArgType::kView, ArgSource::kView,
                      static_cast<int8_t>(i), 0, -1, ""});
  }
  d.args_size = static_cast<uint32_t>(operand_count) * 144;
  images_.push_back(encode_loop(loop));
  plan_.images.push_back({"", "bytecode", "", 0, 0});
  plan_.kernels.push_back(
      {name, 1, KernelKind::kGenerated, {d}, static_cast<uint32_t>(plan_.images.size()) - 1});
  return static_cast<uint32_t>(plan_.kernels.size()) - 1;
}

Step PlanMaker::launch(uint32_t kernel, std::vector<TensorRef> operands, Attrs attrs,
                       const std::string& node) {
  Choice choice;
  choice.kernel = kernel;
  choice.operands = std::move(operands);
  choice.attrs = std::move(attrs);
  choice.grid = {number(1), number(1), number(1)};
  Launch launch;
  launch.choices = {choice};
  launch.source_nodes = {node};
  launch.flops = number(1000);
  launch.bytes_read = number(64);
  launch.bytes_written = number(32);
  Step step{.kind = StepKind::kLaunch};
  step.launch = {launch};
  return step;
}
Step PlanMaker::copy(const TensorRef& from, const TensorRef& to, const std::string& node) {
  Step step{.kind = StepKind::kCopy};
  step.copy = {{from, to, {node}}};
  return step;
}
Step PlanMaker::fill(const TensorRef& to, uint64_t bits) {
  Step step{.kind = StepKind::kFill};
  step.fill = {{to, bits, {"/fill"}}};
  return step;
}
Step PlanMaker::dot_relu(const TensorRef& lhs, const TensorRef& rhs, const TensorRef& bias,
                         const TensorRef& out, const std::string& node) {
  return launch(builtin("dot_reference"), {lhs, rhs, bias, out, {}},
                {{"activation", static_cast<int64_t>(ScalarOp::relu)}}, node);
}
Step PlanMaker::map(ScalarOp op, std::vector<TensorRef> inputs, const TensorRef& out,
                    const std::string& node) {
  inputs.resize(3);
  inputs.push_back(out);
  return launch(builtin("map_reference"), std::move(inputs), {{"op", static_cast<int64_t>(op)}}, node);
}

std::vector<std::byte> PlanMaker::file() {
  PlanBytes bytes;
  bytes.image = [this](uint32_t i) -> Result<ByteSpan> { return ByteSpan(images_[i]); };
  bytes.blob = [this](uint32_t i) -> Result<ByteSpan> { return ByteSpan(blobs_[i]); };
  auto made = write_plan_bytes(plan_, bytes);
  return made.ok() ? std::move(made).value() : std::vector<std::byte>();
}

namespace {
const std::vector<float> kW = {1, 2, 3, 4, -1, -2, -3, -4, 0.5f, 0.25f, 0, 1};
const std::vector<float> kB = {0.5f, -0.5f, 1, -10};
}  // namespace

std::vector<std::byte> affine_plan() {
  PlanMaker m;
  const ExprId batch = m.symbol("batch", 0, 64, 2);
  const TensorRef x = m.input("x", {batch, m.number(3)}), y = m.output("y", {batch, m.number(4)});
  const TensorRef w = m.weights("w", {3, 4}, kW), b = m.weights("b", {4}, kB),
                  packed = m.prepared("w.packed", {3, 4});
  m.program().prepare.steps = {m.copy(w, packed, "/nodes/0")};
  m.program().run.steps = {m.dot_relu(x, packed, m.broadcast_rows(b, batch), y, "/nodes/0")};
  return m.file();
}

std::vector<float> affine_expected(const std::vector<float>& x) {
  std::vector<float> y;
  for (size_t row = 0; row < x.size() / 3; ++row) {
    for (size_t n = 0; n < 4; ++n) {
      float sum = kB[n];
      for (size_t k = 0; k < 3; ++k) sum += x[row * 3 + k] * kW[k * 4 + n];
      y.push_back(std::max(sum, 0.0f));
    }
  }
  return y;
}

Outcome::Outcome(ge_error* error) {
  if (!error) return;
  kind = ge_error_get_kind(error);
  code = ge_error_code(error);
  message = ge_error_message(error);
  json = ge_error_json(error);
  ge_error_free(error);
}

Run::Run(const std::vector<std::byte>& file, int threads, ge_device_kind kind,
         const ge_session_options* session_options) {
  ge_device_options options{};
  options.size = sizeof options;
  options.kind = kind;
  options.threads = threads;
  opened = Outcome(ge_device_open(&options, &device));
  if (opened.ok()) opened = Outcome(ge_plan_open_memory(file.data(), file.size(), nullptr, &plan));
  if (opened.ok()) opened = Outcome(ge_model_load(plan, device, nullptr, &model));
  if (opened.ok()) opened = Outcome(ge_session_create(model, session_options, &session));
}

Run::~Run() {
  ge_session_free(session);
  ge_model_free(model);
  ge_plan_close(plan);
  ge_device_close(device);
}

Outcome Run::bind(const std::vector<std::pair<const char*, int64_t>>& values) {
  std::vector<const char*> names;
  std::vector<int64_t> numbers;
  for (auto [name, value] : values) {
    names.push_back(name);
    numbers.push_back(value);
  }
  return Outcome(ge_session_bind(session, names.data(), numbers.data(), static_cast<int32_t>(names.size())));
}

std::vector<int64_t> Run::output_dims(int index) {
  ge_tensor t{};
  t.size = sizeof t;
  if (!Outcome(ge_session_output(session, index, &t)).ok()) return {-1};
  return {t.dims, t.dims + t.rank};
}

}  // namespace ge::test

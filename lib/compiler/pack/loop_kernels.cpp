#include "compiler/pack/loop_kernels.h"

#include "contract/bytecode.h"
#include "contract/hash.h"

namespace ge {
namespace {

// What every generated loop's description says of its operands.
std::vector<OperandDesc> loop_operands(const LaunchSpec& launch, const std::vector<int8_t>& in_place_of) {
  std::vector<OperandDesc> operands;
  const LoopProgram& program = launch.nest->program;
  for (size_t i = 0; i < program.operands.size(); ++i) {
    OperandDesc d;
    d.name = (program.operands[i].output ? "out" : "in") + std::to_string(i);
    d.role = program.operands[i].output ? OperandRole::kOut : OperandRole::kIn;
    d.dtypes = DTypeSet{program.operands[i].dtype};
    d.min_rank = d.max_rank = static_cast<int8_t>(launch.domain.size());
    d.in_place_of = in_place_of[i];
    operands.push_back(std::move(d));
  }
  return operands;
}

}  // namespace

size_t LoopKernels::add(const LaunchSpec& launch, std::vector<int8_t> in_place_of) {
  loops_.push_back({&launch, std::move(in_place_of), {}});
  return loops_.size() - 1;
}

Status LoopKernels::generate(PlanAssembler& assembler, bool keep_ptx, std::string* cuda_source) {
  if (loops_.empty()) return {};
  if (target_.device() == KernelDevice::kCuda) return generate_cuda(assembler, keep_ptx, cuda_source);
  generate_bytecode(assembler);
  return {};
}

void LoopKernels::generate_bytecode(PlanAssembler& assembler) {
  for (Loop& loop : loops_) {
    std::vector<std::byte> code = encode_loop(loop.launch->nest->program);
    KernelDesc description;
    description.operands = loop_operands(*loop.launch, loop.in_place_of);
    for (size_t i = 0; i < description.operands.size();
         ++i)  // the interpreter takes every operand's whole view
      description.args.push_back({.offset = static_cast<uint32_t>(i * sizeof(TensorView)),
                                  .type = ArgType::kView,
                                  .source = ArgSource::kView,
                                  .operand = static_cast<int8_t>(i)});
    description.args_size = static_cast<uint32_t>(description.args.size() * sizeof(TensorView));
    std::string identity = hash128_hex(code);
    for (const int8_t i : loop.in_place_of) identity += "," + std::to_string(i);
    description.name = "loop_" + hash128_hex(as_bytes(identity)).substr(0, 12);
    description.kind = KernelKind::kGenerated;
    description.device = KernelDevice::kCpu;
    const uint32_t image = assembler.add_image("bytecode", "", std::move(code));
    LoopChoice choice;
    choice.kernel = assembler.generated_kernel(std::move(description), image);
    loop.choices.push_back(std::move(choice));
  }
}

}  // namespace ge

// The CUDA half of LoopKernels: facts for the printer, guards and grids as expressions, one NVRTC call for
// all loops.
#include <algorithm>

#include "compiler/codegen/cuda_text.h"
#include "compiler/codegen/nvrtc.h"
#include "compiler/pack/loop_kernels.h"
#include "compiler/select/cost.h"

namespace ge {
namespace {

constexpr int64_t kStreamingBytes = int64_t{24}
                                    << 20;  // more than this does not stay in an L2 cache beside others

bool merges_with_next(const LaunchSpec& launch, const StridedView& view, size_t axis) {
  size_t next = axis + 1;
  while (next < launch.domain.size() && launch.domain[next].is_value(1)) ++next;
  return next < launch.domain.size() && view.strides[axis] == view.strides[next] * view.dims[next];
}

int64_t known_alignment(const StridedView& view, DType dtype) {
  const Dim offset_bytes = view.offset * Dim(std::max(1, bits_of(dtype) / 8));
  for (const int64_t align : {256, 16, 8, 4, 2})
    if (offset_bytes.divisible_by(align)) return align;
  return 1;
}

LoopFacts facts_of_launch(const Graph& graph, const LaunchSpec& launch) {
  LoopFacts facts;
  for (const Dim& extent : launch.domain) {
    LoopFacts::Axis axis{extent.value(), extent.bounds(graph.symbols).max, std::nullopt};
    for (const int64_t m : {64, 32, 16, 8, 4, 2})
      if (!axis.multiple_of && extent.divisible_by(m)) axis.multiple_of = m;
    facts.axes.push_back(axis);
  }
  for (const LaunchOperand& o : launch.operands) {
    LoopFacts::Operand operand;
    Dim elements = 1;
    for (size_t a = 0; a < launch.domain.size(); ++a) {
      operand.strides.push_back(o.view.strides[a].value());
      operand.merges.push_back(merges_with_next(launch, o.view, a));
      if (!o.view.strides[a].is_value(0)) elements = elements * o.view.dims[a];
    }
    const DType dtype = graph.type(o.value).dtype;
    operand.align_bytes = known_alignment(o.view, dtype);
    operand.streaming = opt_value(graph, elements) > kStreamingBytes * 8 / bits_of(dtype);
    operand.constant = graph.is_constant(o.view.root);
    facts.operands.push_back(std::move(operand));
  }
  return facts;
}

Dim extent_of(const LaunchSpec& launch, uint8_t from, uint8_t to) {
  return product(launch.domain, from, to);
}

DimPredicate predicate_of(const Graph& graph, const LaunchSpec& launch, const LoopGuard& guard) {
  switch (guard.kind) {
    case LoopGuard::Kind::kExtentMultiple:
      return {Dim::mod(extent_of(launch, guard.from, guard.to), guard.value), Relation::kEqual, 0};
    case LoopGuard::Kind::kExtentAtMost:
      return {extent_of(launch, guard.from, guard.to), Relation::kLessEqual, guard.value};
    case LoopGuard::Kind::kStrideMultiple:
      return {Dim::mod(launch.operands[guard.operand].view.strides[guard.from], guard.value),
              Relation::kEqual, 0};
    case LoopGuard::Kind::kAligned: {
      const LaunchOperand& o = launch.operands[guard.operand];
      return {Dim::mod(o.view.offset * Dim(std::max(1, bits_of(graph.type(o.value).dtype) / 8)), guard.value),
              Relation::kEqual, 0};
    }
  }
  return {};
}

// What is known of a predicate before dims are: always, never, or it has to be asked.
enum class Known : uint8_t { kAlways, kNever, kOpen };
Known known(const Graph& graph, const DimPredicate& p) {
  if (const auto value = p.lhs.value()) {
    const bool holds = p.relation == Relation::kEqual ? *value == *p.rhs.value() : *value <= *p.rhs.value();
    return holds ? Known::kAlways : Known::kNever;
  }
  if (p.relation == Relation::kLessEqual && p.lhs.bounds(graph.symbols).max <= *p.rhs.value())
    return Known::kAlways;
  return Known::kOpen;
}

std::array<Dim, 3> grid_of(const LaunchSpec& launch, const LoopGrid& grid) {
  Dim blocks = 1;
  for (const LoopGrid::Term& t : grid.terms)
    blocks = blocks * Dim::ceil_div(extent_of(launch, t.from, t.to), t.per_block);
  return {blocks * Dim(grid.times), 1, 1};
}

// A variant that may take over an operand's bytes has a name of its own: descriptions differ.
void set_in_place(KernelDesc& description, const std::vector<int8_t>& in_place_of) {
  for (size_t i = 0; i < description.operands.size(); ++i) {
    description.operands[i].in_place_of = in_place_of[i];
    if (in_place_of[i] >= 0) description.name += "_over" + std::to_string(in_place_of[i]);
  }
}

struct Wanted {
  CudaLoopVariant variant;
  std::vector<DimPredicate> guard;
};

// The variants that can be chosen at all, with what must still be asked at bind.
Result<std::vector<Wanted>> wanted_variants(const Graph& graph, const LaunchSpec& launch, bool exact) {
  LoopFacts facts = facts_of_launch(graph, launch);
  facts.exact = exact;
  GE_ASSIGN(std::vector<CudaLoopVariant> variants, print_cuda_loop(launch.nest->program, facts));
  std::vector<Wanted> wanted;
  for (CudaLoopVariant& v : variants) {
    std::vector<DimPredicate> guard;
    bool possible = true;
    for (const LoopGuard& g : v.guards) {
      DimPredicate p = predicate_of(graph, launch, g);
      const Known k = known(graph, p);
      possible = possible && k != Known::kNever;
      if (k == Known::kOpen) guard.push_back(std::move(p));
    }
    if (!possible) continue;
    const bool always = guard.empty();
    wanted.push_back({std::move(v), std::move(guard)});
    if (always) break;
  }
  return wanted;
}

}  // namespace

Status LoopKernels::generate_cuda(PlanAssembler& assembler, bool keep_ptx, std::string* text) {
  std::vector<std::vector<Wanted>> wanted;
  std::vector<const CudaLoopVariant*> variants;
  ErrorList errors;
  for (const Loop& loop : loops_) {
    auto w = wanted_variants(graph_, *loop.launch, exact_);
    if (!w.ok()) {
      Error error = std::move(w).take_error();
      for (Diagnostic& d : error.list())
        if (d.place.empty() && !loop.launch->sources.empty())
          d = std::move(std::move(d).at(loop.launch->sources[0].place).in(loop.launch->sources[0].path));
      errors.add(std::move(error));
      continue;
    }
    wanted.push_back(std::move(*w));
  }
  GE_TRY(errors.take());
  for (const auto& list : wanted)
    for (const Wanted& w : list) variants.push_back(&w.variant);
  const std::string source = cuda_source(variants);
  if (text != nullptr) *text += source;
  GE_ASSIGN(const Nvrtc nvrtc, Nvrtc::open());
  GE_ASSIGN(NvrtcResult compiled,
            nvrtc.compile(source, target_.arch, {.keep_ptx = keep_ptx, .fuse_multiply_add = !exact_}));
  const uint32_t image = assembler.add_image("cubin", std::string(target_.name), std::move(compiled.cubin));
  if (keep_ptx) {
    const auto* bytes = reinterpret_cast<const std::byte*>(compiled.ptx.data());
    assembler.add_image("ptx", std::string(target_.name), {bytes, bytes + compiled.ptx.size()});
  }
  for (size_t i = 0; i < loops_.size(); ++i) {
    Loop& loop = loops_[i];
    for (Wanted& w : wanted[i]) {
      LoopChoice choice;
      choice.guard = std::move(w.guard);
      choice.grid = grid_of(*loop.launch, w.variant.grid);
      choice.block = w.variant.block;
      if (w.variant.early != 0) choice.attrs = {{"early", w.variant.early}};
      set_in_place(w.variant.desc, loop.in_place_of);
      choice.kernel = assembler.generated_kernel(std::move(w.variant.desc), image);
      loop.choices.push_back(std::move(choice));
    }
  }
  return {};
}

}  // namespace ge

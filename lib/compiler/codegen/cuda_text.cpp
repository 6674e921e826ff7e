// Chooses the methods that print a loop, best first. The numbers here are occupancy and register figures of
// sm_80 to sm_90.
#include "compiler/codegen/cuda_text.h"

#include <algorithm>
#include <set>

#include "compiler/codegen/cuda_kernel.h"
#include "compiler/codegen/cuda_methods.h"
#include "compiler/codegen/embedded_text.h"
#include "compiler/codegen/loop_code.h"
#include "kernels/loop/loop_uses.h"

namespace ge {
namespace {

constexpr int64_t kSmallFlat = 1 << 20;  // elements below which more blocks beat more loads in flight
constexpr int64_t kLongRow = 16384;
constexpr int kNarrow = 4;  // vectors this much narrower than memory's accesses are worth crossing rows

// Loads of 16 bytes (or of one element) that a chunk issues.
int accesses_per_chunk(const CudaDomain& domain, const CudaVectors& vectors) {
  const LoopProgram& p = domain.program();
  const auto needed = needed_registers(p);
  int n = 0;
  for (size_t r = 0; r < p.code.size(); ++r) {
    if (!needed[r] || p.code[r].op != static_cast<uint16_t>(LoopOp::kLoad)) continue;
    const uint32_t i = p.code[r].imm;
    n += vectors.operands[i] ? std::max(1, vectors.width * bits_of(p.operands[i].dtype) / 128) : 1;
  }
  return std::max(n, 1);
}

// A function of doubles takes tens of registers itself, and is bound by arithmetic anyway.
bool heavy_in_double(const CudaDomain& domain) {
  const auto& code = domain.program().code;
  return std::any_of(code.begin(), code.end(),
                     [](const LoopInstruction& c) { return c.type == DType::float64 && is_costly(c.op); });
}

int flat_chunks(const CudaDomain& domain, const CudaVectors& vectors) {
  const int loads = accesses_per_chunk(domain, vectors);
  const int wanted = vectors.width > 1 ? 4 : 8;
  int chunks = heavy_in_double(domain) ? 1 : std::clamp(wanted / loads, 1, 8);
  while (chunks > 1 && chunks * vectors.width * loads > kHeldRegisters) chunks /= 2;
  return std::min(chunks, std::max(1, most_elements(domain) / vectors.width));
}

// A slow axis along which an input is contiguous while it strides along the innermost one; -1: none.
int transposed_axis(const CudaDomain& domain) {
  const int last = static_cast<int>(domain.axes().size()) - 1;
  for (size_t i = 0; i < domain.program().operands.size(); ++i) {
    const auto inner = last >= 0 ? domain.stride(i, last) : std::optional<int64_t>(1);
    if (domain.program().operands[i].output || inner == 0 || inner == 1) continue;
    for (int a = 0; a < last; ++a) {
      if (domain.stride(i, a) == 1 && domain.axes()[static_cast<size_t>(a)].max >= 8 &&
          domain.axes()[static_cast<size_t>(last)].max >= 8)
        return a;
    }
  }
  return -1;
}

class Variants {
 public:
  // False once an unconditional variant is in: what follows could never run.
  bool open() const { return list_.empty() || !list_.back().guards.empty(); }
  void add(CudaLoopVariant v) {
    if (open()) list_.push_back(std::move(v));
  }
  std::vector<CudaLoopVariant> take() { return std::move(list_); }

 private:
  std::vector<CudaLoopVariant> list_;
};

void flat_variants(const CudaDomain& domain, Variants& variants) {
  if (const int across = transposed_axis(domain); across >= 0)
    return variants.add(print_transpose(domain, across));
  const std::vector<int> axes = domain.all_axes();
  const auto rank = static_cast<uint8_t>(domain.program().outer_rank);
  for (const int width : {std::min(widest_vector(domain, axes), most_elements(domain)), 1}) {
    const CudaVectors vectors = choose_vectors(domain, axes, width);
    if (width > 1 && vectors.width == 1) continue;
    const int chunks = flat_chunks(domain, vectors);
    if (chunks > 1) {
      const auto total = domain.count(axes);
      const bool never_small = total && *total > kSmallFlat,
                 always_small = domain.max_count(axes) <= kSmallFlat;
      if (!never_small) {
        CudaLoopVariant small = print_flat(domain, vectors, 1);
        if (!always_small) small.guards.push_back({LoopGuard::Kind::kExtentAtMost, 0, 0, rank, kSmallFlat});
        variants.add(std::move(small));
      }
      if (always_small) continue;
    }
    variants.add(print_flat(domain, vectors, chunks));
  }
}

// The held variant for rows of up to `most` elements; false where a row does not fit registers.
bool held_variant(const CudaDomain& domain, const CudaVectors& vectors, int64_t most, Variants& variants,
                  const LoopGuard* guard) {
  const auto shape = held_shape(domain, vectors, most);
  if (!shape) return false;
  CudaLoopVariant v = print_row_held(domain, vectors, *shape);
  if (guard != nullptr) v.guards.push_back(*guard);
  variants.add(std::move(v));
  return true;
}

void row_variants(const CudaDomain& domain, Variants& variants) {
  const std::vector<int> axes = domain.row_axes();
  const auto& p = domain.program();
  const int elements = elements_per_thread(domain);
  const auto length = domain.count(axes);
  const int64_t most = domain.max_count(axes);
  const auto at_most = [&](int64_t n) {
    return LoopGuard{LoopGuard::Kind::kExtentAtMost, 0, p.outer_rank,
                     static_cast<uint8_t>(p.outer_rank + p.row_rank), n};
  };
  const int widest = std::min(widest_vector(domain, axes), most_elements(domain));
  if (length && widest > 1 && choose_vectors(domain, axes, widest).width * kNarrow <= widest) {
    const CudaVectors across = choose_vectors_across_rows(domain, widest);
    if (across.across_rows) held_variant(domain, across, *length, variants, nullptr);
  }
  for (const int width : {widest, 1}) {
    const CudaVectors vectors = choose_vectors(domain, axes, width);
    if (width > 1 && vectors.width == 1) continue;
    if (length) {
      if (held_variant(domain, vectors, *length, variants, nullptr)) continue;
    } else {
      // A warp's rows, then a block's; without vectors the block variant is left to rereading.
      bool covered = false;
      for (const int threads : {32, 256}) {
        if (threads == 256 && vectors.width == 1) continue;
        const int64_t reach = int64_t{threads} * elements;
        covered = most <= reach;
        const LoopGuard guard = at_most(reach);
        held_variant(domain, vectors, std::min(most, reach), variants, covered ? nullptr : &guard);
        if (covered) break;
      }
      if (covered) continue;
    }
    variants.add(print_row_reread(domain, vectors, length.value_or(most) > kLongRow ? 512 : 256));
  }
}

// The outer axis along which more operands are contiguous than along the row; -1: rows are the better way.
int column_axis(const CudaDomain& domain) {
  if (domain.row_axes().empty()) return -1;
  const auto contiguous = [&](int axis) {
    int n = 0;
    for (size_t i = 0; i < domain.program().operands.size(); ++i)
      n += !domain.program().operands[i].row_level && domain.stride(i, axis) == 1;
    return n;
  };
  int best = -1, most = contiguous(domain.row_axes().back());
  for (const int a : domain.outer_axes()) {
    if (domain.axes()[static_cast<size_t>(a)].max < 8 || contiguous(a) <= most) continue;
    best = a;
    most = contiguous(a);
  }
  return best;
}

Status check_facts(const LoopProgram& program, const LoopFacts& facts) {
  const size_t rank = program.outer_rank + program.row_rank;
  bool fits = facts.axes.size() == rank && facts.operands.size() == program.operands.size();
  for (const auto& o : facts.operands)
    fits &= o.strides.size() == rank && (o.merges.empty() || o.merges.size() == rank);
  return fits ? Status() : fail(Code::internal).because("facts of a loop do not fit its program");
}

}  // namespace

Result<std::vector<CudaLoopVariant>> print_cuda_loop(const LoopProgram& program, const LoopFacts& facts) {
  GE_TRY(verify_loop(program));
  GE_TRY(check_facts(program, facts));
  const CudaDomain domain(program, facts);
  Variants variants;
  if (program.row_rank == 0)
    flat_variants(domain, variants);
  else if (const int lanes = column_axis(domain); lanes >= 0)
    variants.add(print_columns(domain, lanes));
  else
    row_variants(domain, variants);
  auto list = variants.take();
  for (const CudaLoopVariant& v : list) {
    if (v.desc.args_size > kMaxArgsSize)
      return fail(Code::unsupported_feature).because("the loop has too many operands for one kernel");
  }
  return list;
}

LoopFacts facts_of(const LoopProgram& program, std::span<const TensorView> views) {
  LoopFacts facts;
  size_t whole = 0;
  while (program.operands[whole].row_level) ++whole;
  const int rank = program.outer_rank + program.row_rank;
  for (int a = 0; a < rank; ++a)
    facts.axes.push_back({views[whole].dims[a], views[whole].dims[a], std::nullopt});
  for (const TensorView& view : views) {
    LoopFacts::Operand o;
    for (int a = 0; a < rank; ++a) o.strides.push_back(view.strides[a]);
    const auto address = reinterpret_cast<uintptr_t>(view.data);
    o.align_bytes = address == 0 ? 256 : static_cast<int64_t>(address & -address);
    facts.operands.push_back(std::move(o));
  }
  return facts;
}

std::string_view cuda_prelude() {
  static const std::string text = std::string(embedded_text("kernels/scalar.h")) +
                                  std::string(embedded_text("kernels/loop/loop_device.h")) +
                                  std::string(embedded_text("kernels/loop/loop_reductions.h")) +
                                  std::string(embedded_text("kernels/loop/narrow_math.h"));
  return text;
}

std::string cuda_source(std::span<const CudaLoopVariant* const> variants) {
  std::string text(cuda_prelude());
  std::set<std::string> printed;
  for (const CudaLoopVariant* v : variants)
    if (printed.insert(v->symbol).second) text += "\n" + v->fragment;
  return text;
}

}  // namespace ge

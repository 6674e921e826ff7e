// plan_loop: from a verified program and views to tiles and steps. LoopGeometry shapes the tiles; StepPlanner
// decides which values each sweep computes and where they live. A value that a later sweep needs lives on
// where a row is one tile; where a row is cut into segments, costly values are kept for the whole row and
// cheap ones are computed again.
#include "runtime/cpu/loop_plan.h"

#include <algorithm>
#include <bit>

#include "kernels/loop/loop_uses.h"
#include "numeric/convert.h"
#include "runtime/cpu/loop_geometry.h"

namespace ge::cpu {
namespace {

constexpr size_t kMaxSteps = 60000;  // slots are 16-bit; only a program made to be large comes near
constexpr int64_t kStreamBytes = 8 << 20;
constexpr int64_t kAheadBytes = 1 << 20;
constexpr int64_t kCacheLine = 64;

int bytes_of_register(DType t) {
  return t == DType::boolean ? 1 : bits_of(t) / 8;
}

// Every tile of `plan` is one contiguous range of the operand.
bool is_dense(const LoopPlan& plan, const Walk& w) {
  const bool fast_dense = plan.fast <= 1 || (w.fast_rank == 1 && w.fast[0].stride == 1);
  if (!fast_dense || plan.tile_slow == 1) return fast_dense;
  if (plan.tile_fast < plan.fast) return false;
  return plan.slow <= 1 || (w.slow_rank == 1 && w.slow[0].stride == plan.fast);
}
bool repeats_along_slow(const Walk& w) {
  return std::all_of(w.slow.begin(), w.slow.begin() + w.slow_rank,
                     [](const WalkAxis& a) { return a.stride == 0; });
}

// ---- steps ----

constexpr uint16_t kNoSlot = 0xffff;

class StepPlanner {
 public:
  StepPlanner(const LoopProgram& program, const LoopGeometry& geometry, LoopPlan& plan)
      : p_(program),
        geometry_(geometry),
        plan_(plan),
        needed_(needed_registers(program)),
        home_(program.code.size(), kNoSlot),
        spread_(program.code.size(), kNoSlot),
        fill_(program.code.size(), kNoSlot),
        kept_(program.code.size(), false) {}

  void plan() {
    plan_.sweeps = p_.sweeps;
    plan_.row_steps.resize(p_.sweeps + 1u);
    plan_.element_steps.resize(p_.sweeps);
    rows_in_tile_ = plan_.columns ? plan_.tile_fast : plan_.tile_slow;
    one_tile_ =
        !plan_.has_rows || (plan_.columns ? plan_.slow <= plan_.tile_slow : plan_.fast <= plan_.tile_fast);
    row_is_scalar_ = !plan_.columns && rows_in_tile_ == 1;
    if (!one_tile_) choose_kept();
    for (int sweep = 0; sweep < p_.sweeps; ++sweep) {
      plan_rows(sweep);
      start_reductions(sweep + 1);
      if (!one_tile_) forget_elements();
      plan_elements(sweep);
    }
    plan_rows(p_.sweeps);
    plan_row_stores();
    place();
  }

  bool too_large() const { return steps_ > kMaxSteps || plan_.slots.size() > kMaxSteps; }

 private:
  const LoopInstruction& at(uint16_t r) const { return p_.code[r]; }
  bool is_op(uint16_t r, LoopOp op) const { return at(r).op == static_cast<uint16_t>(op); }
  bool is_reduce(uint16_t r) const { return is_reduction(at(r).op); }
  bool is_store(uint16_t r) const { return is_op(r, LoopOp::kStore); }
  // One value for the whole run: a constant, the row's length, an operand that repeats everywhere.
  bool is_uniform(uint16_t r) const {
    if (is_op(r, LoopOp::kConstant) || is_op(r, LoopOp::kRowCount)) return true;
    return is_op(r, LoopOp::kLoad) && geometry_.repeats_everywhere(at(r).imm) &&
           plan_.batch * plan_.slow * plan_.fast > 0;
  }
  // The program's "element" where it matters: uniform values belong to no level.
  bool is_element(uint16_t r) const { return at(r).element && !is_uniform(r); }
  // What sweep `sweep` must compute, given what is there already.
  std::vector<bool> wanted(int sweep) const {
    std::vector<bool> have(p_.code.size());
    for (size_t i = 0; i < have.size(); ++i)
      have[i] = home_[i] != kNoSlot || is_uniform(static_cast<uint16_t>(i));
    return wanted_in_sweep(p_, needed_, sweep, have);
  }

  // Values that cost more than a reload and that several sweeps want, as far as the row buffers reach.
  void choose_kept() {
    std::vector<int> sweeps_that_want(p_.code.size(), 0);
    for (int s = 0; s < p_.sweeps; ++s) {
      const auto want = wanted(s);
      for (size_t i = 0; i < want.size(); ++i)
        sweeps_that_want[i] += want[i] && is_element(static_cast<uint16_t>(i));
    }
    const int64_t row = plan_.columns ? plan_.slow * plan_.tile_fast : plan_.fast;
    int64_t bytes = 0;
    for (size_t i = 0; i < p_.code.size(); ++i) {
      const auto r = static_cast<uint16_t>(i);
      if (sweeps_that_want[i] < 2 || !is_costly(at(r).op) || row > kKeptBytes) continue;
      const int64_t more = row * bytes_of_register(at(r).type);
      if (bytes + more > kKeptBytes) continue;
      bytes += more;
      kept_[i] = true;
    }
  }
  void forget_elements() {
    for (size_t i = 0; i < p_.code.size(); ++i) {
      if (!kept_[i] && is_element(static_cast<uint16_t>(i))) home_[i] = kNoSlot;
      spread_[i] = kNoSlot;
    }
  }

  // -- slots --
  uint16_t add_slot(Slot slot) {
    plan_.slots.push_back(slot);
    return static_cast<uint16_t>(std::min<size_t>(plan_.slots.size() - 1, kNoSlot - 1));
  }
  // A tile's worth of elements; placed by place() so that slots share memory.
  uint16_t tile_slot(DType type) {
    const uint16_t slot = add_slot({.element_bytes = static_cast<uint8_t>(bytes_of_register(type))});
    shared_.resize(plan_.slots.size(), false);
    shared_[slot] = true;
    return slot;
  }
  uint16_t own_slot(int64_t count, int64_t element_bytes) {
    const uint16_t slot =
        add_slot({.element_bytes = static_cast<uint8_t>(element_bytes), .offset = scratch_});
    scratch_ += padded(count * element_bytes);
    return slot;
  }
  uint16_t row_slot(DType type) { return own_slot(rows_in_tile_, bytes_of_register(type)); }
  static size_t padded(int64_t bytes) {
    return static_cast<size_t>((bytes + kCacheLine - 1) / kCacheLine * kCacheLine + 3 * kCacheLine);
  }
  int64_t capacity() const {
    return std::max<int64_t>({plan_.tile_slow * plan_.tile_fast, rows_in_tile_, 1});
  }

  void add(std::vector<Step>& steps, Step step) {
    steps.push_back(step);
    ++steps_;
  }

  // -- operands of steps --
  struct Ref {
    uint16_t slot = kNoSlot;
    bool scalar = false;
  };
  Ref uniform(uint16_t r) {
    if (home_[r] != kNoSlot) return {home_[r], true};
    if (is_op(r, LoopOp::kLoad)) {
      home_[r] = own_slot(1, 8);
      add(plan_.once, {.kind = StepKind::kLoadOne,
                       .from = p_.operands[at(r).imm].dtype,
                       .to = at(r).type,
                       .dst = home_[r],
                       .operand = static_cast<uint16_t>(at(r).imm)});
      return {home_[r], true};
    }
    uint64_t bits = 0;
    if (is_op(r, LoopOp::kConstant))
      bits = p_.constants[at(r).imm].bits;
    else {
      const int64_t rows = geometry_.row_count();
      convert(DType::int64, &rows, 1, at(r).type, &bits);
    }
    plan_.constants.push_back(bits);
    home_[r] = add_slot({.kind = SlotKind::kConstant,
                         .element_bytes = static_cast<uint8_t>(bytes_of_register(at(r).type)),
                         .offset = plan_.constants.size() - 1});
    return {home_[r], true};
  }
  Ref ref(uint16_t r, bool row) {
    if (is_uniform(r)) return uniform(r);
    if (row || is_element(r)) return {home_[r], false};
    if (row_is_scalar_) return {home_[r], true};
    return {vector(r, false), false};
  }
  // The slot of an array of the value: as many as rows, or as elements.
  uint16_t vector(uint16_t r, bool row) {
    if (is_uniform(r)) {
      if (fill_[r] == kNoSlot) {
        const Ref one = uniform(r);
        fill_[r] = own_slot(capacity(), bytes_of_register(at(r).type));
        add(plan_.once, {.kind = StepKind::kFill, .to = at(r).type, .dst = fill_[r], .a = one.slot});
      }
      return fill_[r];
    }
    if (row || is_element(r)) return home_[r];
    if (spread_[r] == kNoSlot) {
      spread_[r] = tile_slot(at(r).type);
      add(*elements_, {.kind = StepKind::kSpread, .to = at(r).type, .dst = spread_[r], .a = home_[r]});
    }
    return spread_[r];
  }

  // -- instructions --
  uint16_t result_slot(uint16_t r, bool row) {
    if (row) return row_slot(at(r).type);
    if (!kept_[r]) return tile_slot(at(r).type);
    const int64_t whole = plan_.columns ? plan_.slow * plan_.tile_fast : plan_.fast;
    const uint16_t slot = own_slot(whole, bytes_of_register(at(r).type));
    plan_.slots[slot].kind = SlotKind::kSegment;
    return slot;
  }

  void plan_map(uint16_t r, bool row, std::vector<Step>& steps) {
    const LoopInstruction& c = at(r);
    const bool selects = c.op == static_cast<uint16_t>(ScalarOp::select);
    const DType type = at(selects ? c.b : c.a).type;
    const uint16_t registers[3] = {c.a, c.b, c.c};
    Ref refs[3];
    int scalars = 0;
    for (int i = 0; i < 3; ++i) {
      if (registers[i] == kNoRegister) continue;
      refs[i] = ref(registers[i], row);
      scalars |= refs[i].scalar ? 1 << i : 0;
    }
    const auto& variants = plan_.kernels->map[c.op][type_index(type)];
    int best = 0;
    for (int mask = 1; mask < 8; ++mask) {
      if ((mask & ~scalars) == 0 && variants[mask] != nullptr &&
          std::popcount(static_cast<unsigned>(mask)) > std::popcount(static_cast<unsigned>(best)))
        best = mask;
    }
    for (int i = 0; i < 3; ++i)
      if ((scalars & ~best) & (1 << i)) refs[i].slot = vector(registers[i], row);
    const uint16_t dst = result_slot(r, row);
    const auto slot_or_zero = [](const Ref& one) { return one.slot == kNoSlot ? uint16_t{0} : one.slot; };
    add(steps, {.kind = StepKind::kMap,
                .row = row,
                .dst = dst,
                .a = slot_or_zero(refs[0]),
                .b = slot_or_zero(refs[1]),
                .c = slot_or_zero(refs[2]),
                .map = variants[best]});
    home_[r] = dst;
  }

  void plan_load(uint16_t r, bool row, std::vector<Step>& steps) {
    const LoopInstruction& c = at(r);
    const PlannedOperand& o = plan_.operands[c.imm];
    const bool same = o.dtype == c.type && c.type != DType::boolean;
    if (!row && same && o.dense) {
      home_[r] = add_slot({.kind = SlotKind::kDirect,
                           .element_bytes = static_cast<uint8_t>(bytes_of_register(c.type)),
                           .operand = static_cast<uint16_t>(c.imm)});
      return;
    }
    Step step{.kind = StepKind::kLoad,
              .row = row,
              .from = o.dtype,
              .to = c.type,
              .operand = static_cast<uint16_t>(c.imm)};
    const bool every_tile_alike =
        !row && !plan_.columns && plan_.tile_fast >= plan_.fast && repeats_along_slow(o.walk);
    if (every_tile_alike) {
      if (fill_[r] == kNoSlot) {
        step.dst = fill_[r] = own_slot(capacity(), bytes_of_register(c.type));
        add(plan_.once, step);
      }
      home_[r] = fill_[r];
      return;
    }
    step.dst = home_[r] = result_slot(r, row);
    add(steps, step);
  }

  void plan_index(uint16_t r, bool row, std::vector<Step>& steps) {
    plan_.index_walks.push_back(geometry_.walk_of_index(static_cast<int>(at(r).imm)));
    home_[r] = result_slot(r, row);
    add(steps, {.kind = StepKind::kIndex,
                .row = row,
                .dst = home_[r],
                .operand = static_cast<uint16_t>(plan_.index_walks.size() - 1)});
  }

  void plan_cast(uint16_t r, bool row, std::vector<Step>& steps) {
    const LoopInstruction& c = at(r);
    const uint16_t source = vector(c.a, row);
    if (at(c.a).type == c.type && static_cast<DType>(c.imm) == c.type) {
      home_[r] = source;
      return;
    }
    home_[r] = result_slot(r, row);
    add(steps, {.kind = StepKind::kCast,
                .row = row,
                .from = at(c.a).type,
                .through = static_cast<DType>(c.imm),
                .to = c.type,
                .dst = home_[r],
                .a = source});
  }

  void plan_value(uint16_t r, bool row, std::vector<Step>& steps) {
    if (at(r).op < kFirstControlOp) return plan_map(r, row, steps);
    if (is_op(r, LoopOp::kLoad)) return plan_load(r, row, steps);
    if (is_op(r, LoopOp::kIndex)) return plan_index(r, row, steps);
    if (is_op(r, LoopOp::kCast)) return plan_cast(r, row, steps);
  }

  void plan_elements(int sweep) {
    elements_ = &plan_.element_steps[sweep];
    const auto want = wanted(sweep);
    for (size_t i = 0; i < p_.code.size() && !too_large(); ++i) {
      const auto r = static_cast<uint16_t>(i);
      if (want[i] && is_element(r) && home_[r] == kNoSlot) plan_value(r, false, *elements_);
    }
    for (size_t i = 0; i < p_.code.size(); ++i) {
      const auto r = static_cast<uint16_t>(i);
      if (!needed_[r] || !is_reduce(r) || at(r).sweep != sweep + 1) continue;
      add(*elements_, {.kind = StepKind::kReduce,
                       .dst = accumulators_[r],
                       .a = vector(at(r).a, false),
                       .reduce = &reduce_kernels(r)});
    }
    if (sweep != p_.sweeps - 1) return;
    for (size_t i = 0; i < p_.code.size(); ++i) {
      const auto r = static_cast<uint16_t>(i);
      if (is_store(r) && at(r).element) plan_store(r, false, *elements_);
    }
  }

  void plan_store(uint16_t r, bool row, std::vector<Step>& steps) {
    const uint16_t source = vector(at(r).a, row);
    add(steps, {.kind = StepKind::kStore,
                .row = row,
                .from = at(r).type,
                .to = p_.operands[at(r).imm].dtype,
                .a = source,
                .operand = static_cast<uint16_t>(at(r).imm)});
  }

  const ReduceKernels& reduce_kernels(uint16_t r) const {
    const int op = at(r).op - static_cast<uint16_t>(LoopOp::kReduceSum);
    return plan_.kernels->reduce[op][type_index(at(at(r).a).type)][at(r).imm];
  }
  void start_reductions(int ready) {
    accumulators_.resize(p_.code.size(), kNoSlot);
    for (size_t i = 0; i < p_.code.size(); ++i) {
      const auto r = static_cast<uint16_t>(i);
      if (!needed_[r] || !is_reduce(r) || at(r).sweep != ready) continue;
      accumulators_[r] = own_slot(rows_in_tile_, reduce_kernels(r).accumulator_bytes);
      add(plan_.row_steps[static_cast<size_t>(ready) - 1], {.kind = StepKind::kStartReduce,
                                                            .row = true,
                                                            .dst = accumulators_[r],
                                                            .reduce = &reduce_kernels(r)});
    }
  }

  void plan_rows(int sweep) {
    auto& steps = plan_.row_steps[static_cast<size_t>(sweep)];
    for (size_t i = 0; i < p_.code.size() && !too_large(); ++i) {
      const auto r = static_cast<uint16_t>(i);
      if (!needed_[r] || at(r).element || is_uniform(r) || is_store(r) || at(r).sweep != sweep) continue;
      if (is_reduce(r)) {
        home_[r] = row_slot(at(r).type);
        add(steps, {.kind = StepKind::kFinishReduce,
                    .row = true,
                    .dst = home_[r],
                    .a = accumulators_[r],
                    .reduce = &reduce_kernels(r)});
      } else {
        plan_value(r, true, steps);
      }
    }
  }
  void plan_row_stores() {
    for (size_t i = 0; i < p_.code.size(); ++i) {
      const auto r = static_cast<uint16_t>(i);
      if (is_store(r) && !at(r).element) plan_store(r, true, plan_.row_steps.back());
    }
  }

  // Gives every shared tile slot memory: a slot's bytes are free again after its last reader. A map may write
  // over an operand of the same width that dies there.
  void place() {
    shared_.resize(plan_.slots.size(), false);
    std::vector<size_t> last(plan_.slots.size(), 0);
    size_t position = 0;
    const auto each_step = [&](auto&& f) {
      position = 0;
      for (auto& steps : plan_.element_steps)
        for (Step& s : steps) f(s, ++position);
    };
    each_step([&](Step& s, size_t at_step) {
      for (const uint16_t slot : {s.a, s.b, s.c}) last[slot] = at_step;
    });
    std::vector<size_t> free[9];
    each_step([&](Step& s, size_t at_step) {
      const bool writes = s.kind != StepKind::kStore && s.kind != StepKind::kReduce;
      const auto release = [&](bool before) {
        const uint16_t slots[3] = {s.a, s.b, s.c};
        for (int i = 0; i < 3; ++i) {
          const uint16_t slot = slots[i];
          if (!shared_[slot] || last[slot] != at_step || (writes && slot == s.dst)) continue;
          if (before && (s.kind != StepKind::kMap ||
                         plan_.slots[slot].element_bytes != plan_.slots[s.dst].element_bytes))
            continue;
          shared_[slot] = false;
          free[plan_.slots[slot].element_bytes].push_back(plan_.slots[slot].offset);
        }
      };
      release(true);
      if (writes && shared_[s.dst]) take(s.dst, free[plan_.slots[s.dst].element_bytes]);
      release(false);
    });
    plan_.temporary_offset = scratch_;
    scratch_ += padded(capacity() * 8);
    plan_.pointers_offset = scratch_;
    plan_.scratch_bytes = scratch_ + plan_.slots.size() * sizeof(void*);
  }
  void take(uint16_t slot, std::vector<size_t>& free) {
    if (free.empty()) {
      plan_.slots[slot].offset = scratch_;
      scratch_ += padded(capacity() * plan_.slots[slot].element_bytes);
      return;
    }
    plan_.slots[slot].offset = free.back();
    free.pop_back();
  }

  const LoopProgram& p_;
  const LoopGeometry& geometry_;
  LoopPlan& plan_;
  std::vector<bool> needed_;
  std::vector<uint16_t> home_;    // slot of each register's value; kNoSlot: not there
  std::vector<uint16_t> spread_;  // row value repeated over the tile
  std::vector<uint16_t> fill_;    // uniform value as an array, made once
  std::vector<bool> kept_;
  std::vector<bool> shared_;  // slots whose memory place() decides
  std::vector<uint16_t> accumulators_;
  std::vector<Step>* elements_ = nullptr;
  int64_t rows_in_tile_ = 1;
  bool one_tile_ = true, row_is_scalar_ = false;
  size_t scratch_ = 0, steps_ = 0;
};

}  // namespace

Result<LoopPlan> plan_loop(const LoopProgram& program, std::span<const TensorView> views,
                           const LoopKernels& kernels) {
  LoopPlan plan;
  plan.kernels = &kernels;
  LoopGeometry geometry(program, views);
  geometry.shape(plan);
  for (size_t i = 0; i < views.size(); ++i) {
    PlannedOperand o{.dtype = views[i].dtype, .data = views[i].data, .walk = geometry.walk_of_operand(i)};
    o.dense = !program.operands[i].row_level && is_dense(plan, o.walk);
    o.stream =
        program.operands[i].output && o.dense && bytes_of(o.dtype, element_count(views[i])) >= kStreamBytes;
    o.ahead =
        !program.operands[i].output && o.dense && bytes_of(o.dtype, element_count(views[i])) >= kAheadBytes;
    plan.operands.push_back(o);
  }
  StepPlanner planner(program, geometry, plan);
  planner.plan();
  if (planner.too_large()) {
    return fail(Code::launch_refused)
        .say("the loop is too large")
        .because("more than " + std::to_string(kMaxSteps) + " steps in its sweeps");
  }
  return plan;
}

}  // namespace ge::cpu

#include "runtime/block_runner.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "contract/device_block.h"
#include "contract/source_nodes.h"
#include "numeric/convert.h"

namespace ge {
namespace {

constexpr int64_t kMaxDimsRead = 64;

}  // namespace

Status BlockRunner::run(StepTimes* times) {
  times_ = times;
  return run_block(0, 0);
}

Status BlockRunner::run_block(uint32_t index, int depth) {
  const size_t groups = bindings_.current().block(index).groups.size();
  for (size_t g = 0; g < groups; ++g) {
    // Asked for anew: a ReadDims before this may have changed the binding, never the grouping.
    Group& group = bindings_.current().block(index).groups[g];
    GE_TRY(times_ ? stream_.profile(group.straight, *times_) : stream_.run(group.straight));
    if (group.control_step != kNoIndex) GE_TRY(run_control(index, group.control_step, depth));
  }
  return {};
}

Status BlockRunner::run_control(uint32_t block, uint32_t step_index, int depth) {
  const PreparedBlock& prepared = bindings_.current().block(block);
  const Step& step = prepared.block->steps[step_index];
  const BoundStep& bound = (*prepared.bound)[step_index];
  switch (step.kind) {
    case StepKind::kReadDims:
      return read_dims(step.read_dims.front(), bound);
    case StepKind::kIf:
      return run_if(step.if_.front(), bound, depth);
    case StepKind::kLoop:
      return run_loop(step.loop.front(), block, step_index, depth);
    default:
      return fail(Code::internal).because("not a control step");
  }
}

Status BlockRunner::read_dims(const ReadDims& read, const BoundStep& bound) {
  PreparedBinding& binding = bindings_.current();
  const TensorView view = binding.view(bound, 0);
  std::array<int64_t, kMaxDimsRead> values{};
  const auto count = static_cast<int64_t>(read.symbols.size());
  if (count > kMaxDimsRead || element_count(view) < count || !is_contiguous(view) ||
      view.dtype != DType::int64) {
    return fail(Code::plan_malformed)
        .because("a step reads " + std::to_string(count) + " dims from a tensor that does not hold them");
  }
  GE_TRY(stream_.read(values.data(), view.data, count * 8));
  std::vector<int64_t> symbols = binding.binding().symbols;
  bool changed = false;
  for (size_t i = 0; i < read.symbols.size(); ++i) {
    const Symbol& symbol = program_.symbols[read.symbols[i]];
    if (values[i] < symbol.min || values[i] > symbol.max) {
      return fail(Code::symbol_range)
          .in(join_nodes(read.source_nodes))
          .because("the run computed " + symbol.name + " = " + std::to_string(values[i]) + "; allowed are " +
                   range_text(symbol.min, symbol.max));
    }
    changed |= symbols[read.symbols[i]] != values[i];
    symbols[read.symbols[i]] = values[i];
  }
  return changed ? bindings_.rebind(symbols) : Status();
}

Result<bool> BlockRunner::read_condition(const BoundStep& bound, uint32_t index) {
  PreparedBinding& binding = bindings_.current();
  const TensorView view = binding.view(bound, index);
  uint64_t bytes = 0;
  GE_TRY(stream_.read(&bytes, view.data, std::max<int64_t>(bits_of(view.dtype) / 8, 1)));
  return load_as_int64(view.dtype, &bytes, 0) != 0;
}

Status BlockRunner::run_if(const If& branch, const BoundStep& bound, int depth) {
  GE_ASSIGN(const bool taken, read_condition(bound, 0));
  const uint32_t block = taken ? branch.then_block : branch.else_block;
  return block == kNoIndex ? Status() : run_block(block + 1, depth);
}

// bound views: trip, cond, carried...; carried values are updated in place by the body.
Status BlockRunner::run_loop(const Loop& loop, uint32_t block, uint32_t step, int depth) {
  if (depth >= kMaxLoopDepth)
    return fail(Code::plan_malformed)
        .because("loops are nested deeper than " + std::to_string(kMaxLoopDepth));
  const auto bound = [&]() -> const BoundStep& { return (*bindings_.current().block(block).bound)[step]; };
  int64_t trips = INT64_MAX;
  if (!bindings_.current().absent(bound(), 0)) {
    const TensorView trip = bindings_.current().view(bound(), 0);
    int64_t bits = 0;
    GE_TRY(stream_.read(&bits, trip.data, bits_of(trip.dtype) / 8));
    trips = load_as_int64(trip.dtype, &bits, 0);
  }
  auto* counter = static_cast<std::byte*>(stream_.device_block()) + kLoopCountersOffset + depth * 8;
  for (int64_t i = 0; i < trips; ++i) {
    if (!bindings_.current().absent(bound(), 1)) {
      GE_ASSIGN(const bool go_on, read_condition(bound(), 1));
      if (!go_on) break;
    }
    GE_TRY(stream_.write(counter, &i, sizeof i));
    GE_TRY(run_block(loop.body + 1, depth + 1));
  }
  return {};
}

}  // namespace ge

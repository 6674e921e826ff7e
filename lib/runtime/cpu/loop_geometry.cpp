#include "runtime/cpu/loop_geometry.h"

#include <algorithm>

namespace ge::cpu {
namespace {

constexpr int64_t kColumnLanes = 256;
constexpr int64_t kBlockSide = 32;  // of a transposed tile

int64_t pieces(int64_t count, int64_t of) {
  return (count + of - 1) / of;
}

}  // namespace

LoopGeometry::LoopGeometry(const LoopProgram& program, std::span<const TensorView> views)
    : p_(program), views_(views) {
  size_t whole = 0;
  while (p_.operands[whole].row_level) ++whole;
  const int rank = p_.outer_rank + p_.row_rank;
  for (int a = 0; a < rank; ++a) extent_[a] = views_[whole].dims[a];
  for (int a = 0; a < p_.outer_rank; ++a)
    if (extent_[a] != 1) outer_.push_back(a);
  for (int a = p_.outer_rank; a < rank; ++a)
    if (extent_[a] != 1) row_.push_back(a);
  for (const LoopInstruction& c : p_.code) {
    if (c.op == static_cast<uint16_t>(LoopOp::kIndex)) index_axes_.push_back(static_cast<int>(c.imm));
  }
}

void LoopGeometry::shape(LoopPlan& plan) {
  plan.has_rows = p_.row_rank > 0;
  if (!plan.has_rows)
    flat(plan);
  else if (const int lanes = column_axis(); lanes >= 0)
    columns(plan, lanes);
  else
    rows(plan);
  plan.batch = count(batch_);
  plan.slow = count(slow_);
  plan.fast = count(fast_);
  const bool row_output = std::any_of(p_.operands.begin(), p_.operands.end(),
                                      [](const LoopOperand& o) { return o.output && o.row_level; });
  if (plan.slow * plan.fast == 0 && !row_output) plan.items = 0;
}

template <class Stride>
Walk LoopGeometry::walk(Stride stride_of) const {
  const auto merged = [&](const Axes& axes, std::array<WalkAxis, kMaxRank>& into) {
    int rank = 0;
    for (const int a : axes) {
      const WalkAxis next{extent_[a], stride_of(a)};
      if (rank > 0 && into[rank - 1].stride == next.stride * next.extent)
        into[rank - 1] = {into[rank - 1].extent * next.extent, next.stride};
      else
        into[rank++] = next;
    }
    return rank;
  };
  Walk w;
  w.batch_rank = merged(batch_, w.batch);
  w.slow_rank = merged(slow_, w.slow);
  w.fast_rank = merged(fast_, w.fast);
  return w;
}

Walk LoopGeometry::walk_of_operand(size_t operand) const {
  return walk([&](int axis) { return stride(operand, axis); });
}
Walk LoopGeometry::walk_of_index(int axis) const {
  return walk([&](int a) -> int64_t { return a == axis ? 1 : 0; });
}
bool LoopGeometry::repeats_everywhere(size_t operand) const {
  for (const int a : outer_)
    if (stride(operand, a) != 0) return false;
  for (const int a : row_)
    if (stride(operand, a) != 0) return false;
  return true;
}

int64_t LoopGeometry::count(const Axes& axes) const {
  int64_t n = 1;
  for (const int a : axes) n *= extent_[a];
  return n;
}
int64_t LoopGeometry::stride(size_t operand, int axis) const {
  return p_.operands[operand].row_level && axis >= p_.outer_rank ? 0 : views_[operand].strides[axis];
}
// Axis `a` followed by `b` may be walked as one by every operand and index.
bool LoopGeometry::merge(int a, int b) const {
  for (size_t i = 0; i < views_.size(); ++i)
    if (stride(i, a) != stride(i, b) * extent_[b]) return false;
  return std::none_of(index_axes_.begin(), index_axes_.end(),
                      [&](int axis) { return axis == a || axis == b; });
}

// Without rows: fast is the innermost axis and those that merge into it.
void LoopGeometry::flat(LoopPlan& plan) {
  slow_ = outer_;
  while (!slow_.empty() && (fast_.empty() || merge(slow_.back(), fast_.front()))) {
    fast_.insert(fast_.begin(), slow_.back());
    slow_.pop_back();
  }
  const int64_t fast = count(fast_), slow = count(slow_);
  const int across = transposed_axis();
  if (across >= 0) {  // a square block, so that both sides use whole cache lines
    std::erase(slow_, across);
    slow_.push_back(across);
    plan.tile_slow = std::min(kBlockSide, extent_[across]);
    plan.tile_fast = std::clamp<int64_t>(fast, 1, kTileElements / plan.tile_slow);
  } else {
    plan.tile_fast = std::clamp<int64_t>(fast, 1, kTileElements);
    plan.tile_slow = std::clamp<int64_t>(fast == 0 ? 1 : kTileElements / fast, 1, std::max<int64_t>(slow, 1));
  }
  plan.items = pieces(slow, plan.tile_slow) * pieces(fast, plan.tile_fast);
  plan.grain = std::max<int64_t>(1, kPieceElements / (plan.tile_slow * plan.tile_fast));
}

// A slow axis along which an operand is contiguous while its fast axis strides; -1: none.
int LoopGeometry::transposed_axis() const {
  if (fast_.empty()) return -1;
  for (size_t i = 0; i < views_.size(); ++i) {
    const int64_t inner = stride(i, fast_.back());
    if (inner == 0 || inner == 1) continue;
    for (const int a : slow_)
      if (stride(i, a) == 1 && extent_[a] >= 4) return a;
  }
  return -1;
}

void LoopGeometry::rows(LoopPlan& plan) {
  slow_ = outer_;
  fast_ = row_;
  const int64_t fast = count(fast_), slow = count(slow_);
  plan.tile_fast = std::clamp<int64_t>(fast, 1, kTileElements);
  plan.tile_slow = std::clamp<int64_t>(kTileElements / plan.tile_fast, 1, std::max<int64_t>(slow, 1));
  plan.items = pieces(slow, plan.tile_slow);
  plan.grain = std::max<int64_t>(
      1, kPieceElements / std::max<int64_t>(plan.tile_slow * std::max<int64_t>(fast, 1), 1));
}

// The outer axis along which more operands are contiguous than along the row; -1: rows are the better way.
int LoopGeometry::column_axis() const {
  if (row_.empty()) return -1;
  const auto contiguous = [&](int axis) {
    int n = 0;
    for (size_t i = 0; i < views_.size(); ++i) n += !p_.operands[i].row_level && stride(i, axis) == 1;
    return n;
  };
  int best = -1, best_count = contiguous(row_.back());
  for (const int a : outer_) {
    if (extent_[a] >= 8 && contiguous(a) > best_count) {
      best = a;
      best_count = contiguous(a);
    }
  }
  return best;
}

void LoopGeometry::columns(LoopPlan& plan, int lanes) {
  plan.columns = true;
  batch_ = outer_;
  std::erase(batch_, lanes);
  slow_ = row_;
  fast_ = {lanes};
  plan.tile_fast = std::min(extent_[lanes], kColumnLanes);
  plan.tile_slow = std::clamp<int64_t>(kTileElements / plan.tile_fast, 1, std::max<int64_t>(count(row_), 1));
  plan.items = count(batch_) * pieces(extent_[lanes], plan.tile_fast);
  plan.grain = std::max<int64_t>(1, kPieceElements / std::max<int64_t>(plan.tile_fast * count(row_), 1));
}

}  // namespace ge::cpu

// Executes a LoopPlan. A piece of work walks its items; an item is a group of rows (or a tile where there are
// no rows); each sweep's steps run over the item's tiles. A step is one call over a whole tile.
#include "runtime/cpu/bytecode_run.h"

#include <algorithm>
#include <cstring>

#include "numeric/convert.h"
#include "runtime/cpu/loop_plan.h"

namespace ge::cpu {
namespace {

constexpr int64_t kCacheLine = 64;
constexpr size_t kMostAhead = 8;  // operands fetched ahead

struct Tile {
  int64_t batch = 0, slow_begin = 0, slow_count = 1, fast_begin = 0, fast_count = 1;
  int64_t count() const { return slow_count * fast_count; }
};

int64_t offset_of(const std::array<WalkAxis, kMaxRank>& axes, int rank, int64_t position) {
  int64_t offset = 0;
  for (int a = rank - 1; a > 0; --a) {
    offset += position % axes[a].extent * axes[a].stride;
    position /= axes[a].extent;
  }
  return rank > 0 ? offset + position * axes[0].stride : 0;
}

// A position on some axes that steps forward by one.
class Cursor {
 public:
  Cursor(const std::array<WalkAxis, kMaxRank>& axes, int rank, int64_t position) : axes_(axes), rank_(rank) {
    for (int a = rank - 1; a > 0; --a) {
      index_[a] = position % axes[a].extent;
      position /= axes[a].extent;
    }
    if (rank > 0) index_[0] = position;
    for (int a = 0; a < rank; ++a) offset_ += index_[a] * axes[a].stride;
  }
  int64_t offset() const { return offset_; }
  int64_t left_on_last() const { return rank_ > 0 ? axes_[rank_ - 1].extent - index_[rank_ - 1] : INT64_MAX; }
  void advance(int64_t by) {  // not past the end of the last axis
    if (rank_ == 0) return;
    int a = rank_ - 1;
    index_[a] += by;
    offset_ += by * axes_[a].stride;
    for (; a > 0 && index_[a] == axes_[a].extent; --a) {
      offset_ += axes_[a - 1].stride - index_[a] * axes_[a].stride;
      index_[a] = 0;
      ++index_[a - 1];
    }
  }

 private:
  const std::array<WalkAxis, kMaxRank>& axes_;
  int rank_;
  int64_t index_[kMaxRank] = {};
  int64_t offset_ = 0;
};

// Calls run(element offset, count, stride) for each run along the innermost fast axis, in the tile's order.
template <class Run>
void for_each_run(const Walk& w, const Tile& tile, Run&& run) {
  const int64_t base = offset_of(w.batch, w.batch_rank, tile.batch);
  Cursor slow(w.slow, w.slow_rank, tile.slow_begin);
  const int64_t stride = w.fast_rank > 0 ? w.fast[w.fast_rank - 1].stride : 0;
  for (int64_t s = 0; s < tile.slow_count; ++s, slow.advance(1)) {
    const int64_t row = base + slow.offset();
    if (w.fast_rank <= 1) {
      run(row + tile.fast_begin * stride, tile.fast_count, stride);
      continue;
    }
    Cursor fast(w.fast, w.fast_rank, tile.fast_begin);
    for (int64_t left = tile.fast_count; left > 0;) {
      const int64_t count = std::min(left, fast.left_on_last());
      run(row + fast.offset(), count, stride);
      fast.advance(count);
      left -= count;
    }
  }
}

// ---- moving elements between views and dense arrays, by their width alone ----
template <class U>
void gather_run(U* dst, const U* src, int64_t count, int64_t stride) {
  if (stride == 1)
    std::memcpy(dst, src, static_cast<size_t>(count) * sizeof(U));
  else if (stride == 0)
    std::fill_n(dst, count, *src);
  else
    for (int64_t i = 0; i < count; ++i) dst[i] = src[i * stride];
}
template <class U>
void scatter_run(U* dst, const U* src, int64_t count, int64_t stride) {
  if (stride == 1)
    std::memcpy(dst, src, static_cast<size_t>(count) * sizeof(U));
  else
    for (int64_t i = 0; i < count; ++i) dst[i * stride] = src[i];
}
template <class U>
void gather(const Walk& w, const Tile& tile, const void* src, void* dst) {
  U* to = static_cast<U*>(dst);
  for_each_run(w, tile, [&](int64_t offset, int64_t count, int64_t stride) {
    if (count > 0) gather_run(to, static_cast<const U*>(src) + offset, count, stride);
    to += count;
  });
}
template <class U>
void scatter(const Walk& w, const Tile& tile, const void* src, void* dst) {
  const U* from = static_cast<const U*>(src);
  for_each_run(w, tile, [&](int64_t offset, int64_t count, int64_t stride) {
    scatter_run(static_cast<U*>(dst) + offset, from, count, stride);
    from += count;
  });
}
void gather_bytes(int64_t width, const Walk& w, const Tile& tile, const void* src, void* dst) {
  switch (width) {
    case 1:
      return gather<uint8_t>(w, tile, src, dst);
    case 2:
      return gather<uint16_t>(w, tile, src, dst);
    case 4:
      return gather<uint32_t>(w, tile, src, dst);
    default:
      return gather<uint64_t>(w, tile, src, dst);
  }
}
void scatter_bytes(int64_t width, const Walk& w, const Tile& tile, const void* src, void* dst) {
  switch (width) {
    case 1:
      return scatter<uint8_t>(w, tile, src, dst);
    case 2:
      return scatter<uint16_t>(w, tile, src, dst);
    case 4:
      return scatter<uint32_t>(w, tile, src, dst);
    default:
      return scatter<uint64_t>(w, tile, src, dst);
  }
}
void fill_bytes(int64_t width, const void* value, int64_t count, void* dst) {
  switch (width) {
    case 1:
      return gather_run(static_cast<uint8_t*>(dst), static_cast<const uint8_t*>(value), count, 0);
    case 4:
      return gather_run(static_cast<uint32_t*>(dst), static_cast<const uint32_t*>(value), count, 0);
    default:
      return gather_run(static_cast<uint64_t*>(dst), static_cast<const uint64_t*>(value), count, 0);
  }
}

int64_t width_of(DType t) {
  return bits_of(t) / 8;
}

// Register types differ from element types in width, or in that a boolean register is 0 or 1 whatever byte
// was stored.
bool same_form(DType memory, DType reg) {
  return memory == reg && reg != DType::boolean;
}

// ---- one thread's piece of work ----
class Piece {
 public:
  Piece(const LoopPlan& plan, void* const* data, std::byte* scratch)
      : plan_(plan),
        data_(data),
        scratch_(scratch),
        pointers_(reinterpret_cast<std::byte**>(scratch + plan.pointers_offset)) {
    for (size_t i = 0; i < plan.slots.size(); ++i) {
      const Slot& slot = plan.slots[i];
      pointers_[i] = slot.kind == SlotKind::kConstant
                         ? reinterpret_cast<std::byte*>(const_cast<uint64_t*>(&plan.constants[slot.offset]))
                         : scratch + slot.offset;
      if (slot.kind == SlotKind::kDirect || slot.kind == SlotKind::kSegment) moving_ = true;
    }
    size_t ahead = 0;
    for (size_t i = 0; i < plan.operands.size() && ahead < kMostAhead; ++i)
      if (plan.operands[i].ahead) ahead_storage_[ahead++].operand = i;
    fetch_ahead_ = std::span(ahead_storage_, ahead);
    const int64_t rows = plan.columns ? plan.tile_fast : plan.tile_slow;
    full_ = {0, 0, std::min(plan.tile_slow, plan.slow), 0, std::min(plan.tile_fast, plan.fast)};
    capacity_ = std::max<int64_t>({plan.tile_slow * plan.tile_fast, rows, 1});
    // A reduction over nothing has rows but no elements: there is no memory to load from.
    for (const Step& s : plan.once)
      if (s.kind != StepKind::kLoad || full_.count() > 0) run_step(s, full_, full_.count());
  }
  ~Piece() { plan_.kernels->stream_fence(); }

  void run(int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      if (!plan_.has_rows)
        run_flat(item);
      else if (plan_.columns)
        run_columns(item);
      else
        run_rows(item);
    }
  }

 private:
  void run_flat(int64_t item) {
    const int64_t across = (plan_.fast + plan_.tile_fast - 1) / plan_.tile_fast;
    Tile tile;
    tile.slow_begin = item / across * plan_.tile_slow;
    tile.slow_count = std::min(plan_.tile_slow, plan_.slow - tile.slow_begin);
    tile.fast_begin = item % across * plan_.tile_fast;
    tile.fast_count = std::min(plan_.tile_fast, plan_.fast - tile.fast_begin);
    run_elements(0, tile, tile.fast_begin);
  }

  void run_rows(int64_t item) {
    Tile rows{0, item * plan_.tile_slow, 0, 0, 1};
    rows.slow_count = std::min(plan_.tile_slow, plan_.slow - rows.slow_begin);
    for (int sweep = 0; sweep < plan_.sweeps; ++sweep) {
      run_row_steps(sweep, rows);
      for (int64_t f = 0; f < plan_.fast; f += plan_.tile_fast) {
        run_elements(sweep,
                     {0, rows.slow_begin, rows.slow_count, f, std::min(plan_.tile_fast, plan_.fast - f)}, f);
      }
    }
    run_row_steps(plan_.sweeps, rows);
  }

  void run_columns(int64_t item) {
    const int64_t across = (plan_.fast + plan_.tile_fast - 1) / plan_.tile_fast;
    Tile rows{item / across, 0, 1, item % across * plan_.tile_fast, 0};
    rows.fast_count = std::min(plan_.tile_fast, plan_.fast - rows.fast_begin);
    for (int sweep = 0; sweep < plan_.sweeps; ++sweep) {
      run_row_steps(sweep, rows);
      for (int64_t s = 0; s < plan_.slow; s += plan_.tile_slow) {
        const int64_t count = std::min(plan_.tile_slow, plan_.slow - s);
        run_elements(sweep, {rows.batch, s, count, rows.fast_begin, rows.fast_count}, s);
      }
    }
    run_row_steps(plan_.sweeps, rows);
  }

  void run_row_steps(int sweep, const Tile& rows) {
    for (const Step& s : plan_.row_steps[static_cast<size_t>(sweep)]) run_step(s, rows, rows.count());
  }

  // `position`: of the tile's first element in its row.
  void run_elements(int sweep, const Tile& tile, int64_t position) {
    position_ = position;
    if (moving_) move_pointers(tile);
    const auto& steps = plan_.element_steps[static_cast<size_t>(sweep)];
    const int64_t lines = fetch_ahead_.empty() || steps.empty()
                              ? 0
                              : start_fetching(tile) / static_cast<int64_t>(steps.size()) + 1;
    for (const Step& s : steps) {
      if (lines > 0) fetch(lines);
      run_step(s, tile, tile.count());
    }
  }

  // The next tile's inputs lie right behind this one's (or somewhere harmless). They are asked for a few
  // lines before each step, so that memory works while the steps compute. Returns the number of lines.
  int64_t start_fetching(const Tile& tile) {
    int64_t lines = 0;
    for (Ahead& a : fetch_ahead_) {
      const int64_t size_bytes = tile.count() * width_of(plan_.operands[a.operand].dtype);
      a.next = address(a.operand, tile) + size_bytes;
      a.lines = size_bytes / kCacheLine;
      lines += a.lines;
    }
    return lines;
  }
  void fetch(int64_t lines) {
    for (Ahead& a : fetch_ahead_) {
      for (; lines > 0 && a.lines > 0; --lines, --a.lines, a.next += kCacheLine)
        __builtin_prefetch(a.next, 0, 3);
    }
  }

  void move_pointers(const Tile& tile) {
    for (size_t i = 0; i < plan_.slots.size(); ++i) {
      const Slot& slot = plan_.slots[i];
      if (slot.kind == SlotKind::kDirect)
        pointers_[i] = address(slot.operand, tile);
      else if (slot.kind == SlotKind::kSegment)
        pointers_[i] = scratch_ + slot.offset + position_ * segment_width(tile) * slot.element_bytes;
    }
  }
  int64_t segment_width(const Tile& tile) const { return plan_.columns ? tile.fast_count : 1; }

  std::byte* address(size_t operand, const Tile& tile) const {
    const PlannedOperand& o = plan_.operands[operand];
    const int64_t offset = offset_of(o.walk.batch, o.walk.batch_rank, tile.batch) +
                           offset_of(o.walk.slow, o.walk.slow_rank, tile.slow_begin) +
                           offset_of(o.walk.fast, o.walk.fast_rank, tile.fast_begin);
    return static_cast<std::byte*>(data_[operand]) + offset * width_of(o.dtype);
  }

  void run_step(const Step& s, const Tile& tile, int64_t count) {
    switch (s.kind) {
      case StepKind::kMap:
        return s.map(pointers_[s.dst], pointers_[s.a], pointers_[s.b], pointers_[s.c], count);
      case StepKind::kSpread:
        return spread(s, tile);
      case StepKind::kFill:
        return fill_bytes(width_of(s.to), pointers_[s.a], capacity_, pointers_[s.dst]);
      case StepKind::kLoad:
        return load(s, tile, count);
      case StepKind::kLoadOne:
        return convert(s.from, data_[s.operand], 1, s.to, pointers_[s.dst]);
      case StepKind::kStore:
        return store(s, tile, count);
      case StepKind::kIndex:
        return index(s, tile);
      case StepKind::kCast:
        return cast(s, count);
      case StepKind::kReduce:
        return reduce(s, tile);
      case StepKind::kStartReduce:
        return s.reduce->start(pointers_[s.dst], count);
      case StepKind::kFinishReduce:
        return s.reduce->finish(pointers_[s.a], count, pointers_[s.dst]);
    }
  }

  void spread(const Step& s, const Tile& tile) {
    const int64_t width = width_of(s.to);
    std::byte* dst = pointers_[s.dst];
    for (int64_t row = 0; row < tile.slow_count; ++row, dst += tile.fast_count * width) {
      if (plan_.columns)
        std::memcpy(dst, pointers_[s.a], static_cast<size_t>(tile.fast_count * width));
      else
        fill_bytes(width, pointers_[s.a] + row * width, tile.fast_count, dst);
    }
  }

  void load(const Step& s, const Tile& tile, int64_t count) {
    const PlannedOperand& o = plan_.operands[s.operand];
    if (same_form(s.from, s.to))
      return gather_bytes(width_of(s.from), o.walk, tile, data_[s.operand], pointers_[s.dst]);
    const void* packed = temporary();
    if (o.dense && !s.row)
      packed = address(s.operand, tile);
    else
      gather_bytes(width_of(s.from), o.walk, tile, data_[s.operand], temporary());
    to_register(s.from, packed, count, s.to, pointers_[s.dst]);
  }

  static void to_register(DType from, const void* src, int64_t count, DType to, void* dst) {
    if (to == DType::float32) return convert_to_float(from, src, count, static_cast<float*>(dst));
    convert(from, src, count, to, dst);
  }

  void store(const Step& s, const Tile& tile, int64_t count) {
    const PlannedOperand& o = plan_.operands[s.operand];
    const bool in_place = o.dense && !s.row;
    const void* packed = pointers_[s.a];
    if (s.from != s.to) {
      void* into = in_place && !o.stream ? static_cast<void*>(address(s.operand, tile)) : temporary();
      if (s.from == DType::float32)
        convert_from_float(static_cast<const float*>(packed), count, s.to, into);
      else
        convert(s.from, packed, count, s.to, into);
      if (in_place && !o.stream) return;
      packed = into;
    }
    if (!in_place) return scatter_bytes(width_of(s.to), o.walk, tile, packed, data_[s.operand]);
    const int64_t size_bytes = count * width_of(s.to);
    if (o.stream)
      plan_.kernels->stream_copy(address(s.operand, tile), packed, size_bytes);
    else
      std::memcpy(address(s.operand, tile), packed, static_cast<size_t>(size_bytes));
  }

  void index(const Step& s, const Tile& tile) {
    int64_t* dst = reinterpret_cast<int64_t*>(pointers_[s.dst]);
    for_each_run(plan_.index_walks[s.operand], tile, [&](int64_t offset, int64_t count, int64_t stride) {
      for (int64_t i = 0; i < count; ++i) dst[i] = offset + i * stride;
      dst += count;
    });
  }

  void cast(const Step& s, int64_t count) {
    if (s.through == s.to) return convert(s.from, pointers_[s.a], count, s.to, pointers_[s.dst]);
    if (s.from == DType::float32)
      convert_from_float(reinterpret_cast<const float*>(pointers_[s.a]), count, s.through, temporary());
    else
      convert(s.from, pointers_[s.a], count, s.through, temporary());
    to_register(s.through, temporary(), count, s.to, pointers_[s.dst]);
  }

  void reduce(const Step& s, const Tile& tile) {
    const ReduceFunction along = plan_.columns ? s.reduce->along_columns : s.reduce->along_rows;
    along(pointers_[s.a], tile.slow_count, tile.fast_count, position_, pointers_[s.dst]);
  }

  void* temporary() const { return scratch_ + plan_.temporary_offset; }

  struct Ahead {
    size_t operand = 0;
    const std::byte* next = nullptr;
    int64_t lines = 0;
  };

  const LoopPlan& plan_;
  void* const* data_;
  std::byte* scratch_;
  std::byte** pointers_;
  Tile full_;
  int64_t capacity_ = 1, position_ = 0;
  bool moving_ = false;
  Ahead ahead_storage_[kMostAhead];
  std::span<Ahead> fetch_ahead_;
};

void run_plan(const LoopPlan& plan, void* const* data, const LaunchContext& context) {
  if (plan.items == 0) return;
  context.parallel_for(plan.items, plan.grain, [&](int64_t begin, int64_t end) {
    Piece(plan, data, context.scratch(context.pool, plan.scratch_bytes)).run(begin, end);
  });
}

}  // namespace

PreparedLoop::PreparedLoop(std::unique_ptr<const LoopPlan> plan) : plan_(std::move(plan)) {}
PreparedLoop::PreparedLoop(PreparedLoop&&) noexcept = default;
PreparedLoop& PreparedLoop::operator=(PreparedLoop&&) noexcept = default;
PreparedLoop::~PreparedLoop() = default;

Result<PreparedLoop> PreparedLoop::prepare(const LoopProgram& program, std::span<const TensorView> views,
                                           LoopIsa isa) {
  GE_TRY(verify_loop(program));
  GE_TRY(check_loop_operands(program, views));
  for (size_t i = 0; i < views.size(); ++i) {
    if (reinterpret_cast<uintptr_t>(views[i].data) % static_cast<uintptr_t>(width_of(views[i].dtype)) == 0)
      continue;
    return fail(Code::launch_refused)
        .say("operands do not fit the loop")
        .because("operand " + std::to_string(i) + ": its address is not a multiple of its element's size");
  }
  GE_ASSIGN(LoopPlan plan, plan_loop(program, views, loop_kernels(isa)));
  return PreparedLoop(std::make_unique<const LoopPlan>(std::move(plan)));
}

void PreparedLoop::run(const LaunchContext& context) const {
  void* data[kMaxLoopOperands];
  for (size_t i = 0; i < plan_->operands.size(); ++i) data[i] = plan_->operands[i].data;
  run_plan(*plan_, data, context);
}
void PreparedLoop::run(std::span<void* const> data, const LaunchContext& context) const {
  run_plan(*plan_, data.data(), context);
}

size_t PreparedLoop::scratch_bytes() const {
  return plan_->scratch_bytes;
}

Status run_loop(const LoopProgram& program, std::span<const TensorView> views, const LaunchContext& context) {
  GE_ASSIGN(const PreparedLoop loop, PreparedLoop::prepare(program, views));
  loop.run(context);
  return {};
}

}  // namespace ge::cpu

#include "runtime/cpu/scratch.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <span>

namespace ge::cpu {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kFirstBlockBytes = 256 << 10;
constexpr int64_t kMaxPieces = 256;  // of one parallel region: enough for any machine's threads to even out

// The range that this thread's pieces of work take from. A piece that starts another parallel region runs it
// inline and stays with its own range, so two threads never share one.
thread_local BumpRange* current_range = nullptr;
thread_local const Scratch* current_owner = nullptr;

size_t rounded(size_t size_bytes) {
  return (std::max<size_t>(size_bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
}

class UseRange {
 public:
  UseRange(const Scratch* owner, BumpRange& range)
      : range_(current_owner == owner && current_range ? *current_range : range),
        mark_(range_.mark()),
        former_range_(current_range),
        former_owner_(current_owner) {
    current_range = &range_;
    current_owner = owner;
  }
  ~UseRange() {
    range_.release(mark_);
    current_range = former_range_;
    current_owner = former_owner_;
  }

 private:
  BumpRange& range_;
  BumpRange::Mark mark_;
  BumpRange* former_range_;
  const Scratch* former_owner_;
};

}  // namespace

std::byte* BumpRange::take(size_t size_bytes) {
  const size_t size = rounded(size_bytes);
  taken_ += size;
  peak_ = std::max(peak_, taken_);
  for (; block_ < blocks_.size(); ++block_, used_ = 0) {
    if (used_ + size > blocks_[block_].size) continue;
    std::byte* p = blocks_[block_].bytes.get() + used_;
    used_ += size;
    return p;
  }
  if (!add_block(size))
    std::abort();  // the promise to kernels is "never null"; a machine this short of memory cannot go on
  used_ = size;
  return blocks_.back().bytes.get();
}

void BumpRange::reserve(size_t size_bytes) {
  const size_t size = rounded(size_bytes);
  const auto fits = [&](const Block& block) { return block.size >= size; };
  if (std::none_of(blocks_.begin(), blocks_.end(), fits)) add_block(size);
}

bool BumpRange::add_block(size_t size) {
  const size_t block_size = std::max(size, kFirstBlockBytes);
  auto* bytes = static_cast<std::byte*>(std::aligned_alloc(kAlignment, block_size));
  if (bytes) blocks_.push_back({{bytes, std::free}, block_size});
  return bytes != nullptr;
}

void Scratch::reserve(size_t size_bytes) {
  for (BumpRange& range : ranges_) range.reserve(size_bytes);
}

// Between launches: no worker is inside. Memory that is never touched costs addresses alone.
void Scratch::level() {
  grown_.store(false, std::memory_order_relaxed);
  const auto workers = std::span(ranges_).first(ranges_.size() - 1);
  size_t most = 0;
  for (const BumpRange& range : workers) most = std::max(most, range.peak());
  for (BumpRange& range : workers)
    if (most > 0) range.reserve(most);
}

void Scratch::parallel(void* self, int64_t count, int64_t grain, RangeFunction body, void* closure) {
  auto& scratch = *static_cast<Scratch*>(self);
  const int64_t chunk = std::max(grain, (count + kMaxPieces - 1) / kMaxPieces);
  scratch.pool_.parallel_for(count, chunk, [&](int64_t begin, int64_t end, int worker) {
    UseRange use(&scratch, scratch.ranges_[static_cast<size_t>(worker)]);
    body(closure, begin, end);
  });
}

std::byte* Scratch::scratch(void* self, size_t size_bytes) {
  auto& scratch = *static_cast<Scratch*>(self);
  BumpRange& range = current_owner == &scratch && current_range ? *current_range : scratch.launcher();
  const size_t before = range.blocks();
  std::byte* bytes = range.take(size_bytes);
  if (range.blocks() != before) scratch.grown_.store(true, std::memory_order_relaxed);
  return bytes;
}

}  // namespace ge::cpu

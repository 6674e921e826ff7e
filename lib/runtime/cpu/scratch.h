// Scratch memory for CPU kernels: a bump range per worker, emptied after each piece of work. Entry: Scratch.
// Invariant: a worker's range belongs to one thread at a time; take() never returns null and never fails a
// run: what does not fit the range is taken from the heap and kept for the next launches. What one worker
// needed, all get at the end of the launch, so a repeated run allocates nothing, whoever takes part in it.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/launch_context.h"
#include "platform/thread_pool.h"

namespace ge::cpu {

// A stack of blocks; mark and release nest.
class BumpRange {
 public:
  struct Mark {
    size_t block = 0, used = 0, taken = 0;
  };
  std::byte* take(size_t size_bytes);
  // Makes later take()s of so many bytes in all allocate nothing; does what the memory allows.
  void reserve(size_t size_bytes);
  Mark mark() const { return {block_, used_, taken_}; }
  void release(Mark m) {
    block_ = m.block;
    used_ = m.used;
    taken_ = m.taken;
  }
  size_t blocks() const { return blocks_.size(); }
  size_t peak() const { return peak_; }  // the most bytes that were taken at once

 private:
  bool add_block(size_t size);
  struct Block {
    std::unique_ptr<std::byte, void (*)(void*)> bytes;
    size_t size = 0;
  };
  std::vector<Block> blocks_;
  size_t block_ = 0, used_ = 0, taken_ = 0, peak_ = 0;
};

// What LaunchContext::pool points at: one per stream.
class Scratch {
 public:
  explicit Scratch(ThreadPool& pool) : pool_(pool), ranges_(static_cast<size_t>(pool.size()) + 1) {}
  // LaunchContext's function pointers; `self` is a Scratch.
  static void parallel(void* self, int64_t count, int64_t grain, RangeFunction body, void* closure);
  static std::byte* scratch(void* self, size_t size_bytes);
  // One launch: afterwards what the launching thread took outside parallel regions is given back, and every
  // worker's range holds what the largest piece of work took.
  class Launch {
   public:
    explicit Launch(Scratch& scratch) : scratch_(scratch), mark_(scratch.launcher().mark()) {}
    ~Launch() {
      scratch_.launcher().release(mark_);
      if (scratch_.grown_.load(std::memory_order_relaxed)) scratch_.level();
    }
    Launch(const Launch&) = delete;

   private:
    Scratch& scratch_;
    BumpRange::Mark mark_;
  };
  // At bind: every thread's range can give `size_bytes` without allocating.
  void reserve(size_t size_bytes);
  int threads() const { return pool_.size(); }
  ThreadPool& pool() { return pool_; }

 private:
  BumpRange& launcher() { return ranges_.back(); }
  void level();
  ThreadPool& pool_;
  std::vector<BumpRange> ranges_;   // one per worker, then the launching thread's
  std::atomic<bool> grown_{false};  // a range took from the heap since the last level()
};

}  // namespace ge::cpu

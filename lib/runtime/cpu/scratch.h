// Scratch memory for CPU kernels: a bump range per worker, emptied after each piece of work. Entry: Scratch.
// Invariant: a worker's range belongs to one thread at a time; take() never returns null and never fails a
// run: what does not fit the range is taken from the heap and kept for the next launches, so a repeated run
// allocates nothing.
#pragma once
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
    size_t block = 0, used = 0;
  };
  std::byte* take(size_t size_bytes);
  // Makes a later take() of so many bytes allocate nothing.
  void reserve(size_t size_bytes);
  Mark mark() const { return {block_, used_}; }
  void release(Mark m) {
    block_ = m.block;
    used_ = m.used;
  }

 private:
  void add_block(size_t size);
  struct Block {
    std::unique_ptr<std::byte, void (*)(void*)> bytes;
    size_t size = 0;
  };
  std::vector<Block> blocks_;
  size_t block_ = 0, used_ = 0;
};

// What LaunchContext::pool points at: one per stream.
class Scratch {
 public:
  explicit Scratch(ThreadPool& pool) : pool_(pool), ranges_(static_cast<size_t>(pool.size()) + 1) {}
  // LaunchContext's function pointers; `self` is a Scratch.
  static void parallel(void* self, int64_t count, int64_t grain, RangeFunction body, void* closure);
  static std::byte* scratch(void* self, size_t size_bytes);
  // Around one launch: what the launching thread takes outside parallel regions is given back after it.
  BumpRange& launcher() { return ranges_.back(); }
  // At bind: every thread's range can give `size_bytes` without allocating.
  void reserve(size_t size_bytes);
  int threads() const { return pool_.size(); }
  ThreadPool& pool() { return pool_; }

 private:
  ThreadPool& pool_;
  std::vector<BumpRange> ranges_;  // one per worker, then the launching thread's
};

}  // namespace ge::cpu

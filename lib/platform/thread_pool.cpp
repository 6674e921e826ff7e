// The pool. One word, the gate, holds {epoch, open, workers inside}: a worker joins by adding itself while
// the gate is open, the caller closes it when no chunk is left and waits for those inside. A worker that
// wakes too late finds it closed and is not waited for.
#include "platform/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

#include "platform/clock.h"

namespace ge {
namespace {

constexpr uint64_t kOpen = uint64_t{1} << 31;
constexpr uint64_t kInside = kOpen - 1;
constexpr int64_t kSpinNs = 30'000;  // about what a futex wake costs; longer only takes the core from others

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until `ready` or the time is over; says whether it was ready.
template <class Ready>
bool spin(int64_t duration_ns, Ready&& ready) {
  if (ready()) return true;
  if (duration_ns == 0) return false;
  const int64_t end = monotonic_ns() + duration_ns;
  do {
    for (int i = 0; i < 32; ++i) {
      relax();
      if (ready()) return true;
    }
  } while (monotonic_ns() < end);
  return false;
}

}  // namespace

struct ThreadPool::State {
  // The job: written by the caller while the gate is closed and nobody is inside, read only from inside.
  Function function = nullptr;
  void* body = nullptr;
  int64_t count = 0;
  int64_t chunk = 1;
  int64_t chunks = 0;

  alignas(64) std::atomic<int64_t> next{0};   // the next chunk
  alignas(64) std::atomic<uint64_t> gate{0};  // epoch << 32 | kOpen | workers inside
  alignas(64) std::atomic<int> sequence{0};   // what sleepers wait on: changes with every job and at the end
  std::atomic<int> sleepers{0};
  std::atomic<bool> stop{false};
  alignas(64) std::atomic<bool> busy{false};  // a job is running
  int64_t spin_ns = 0;
  std::vector<std::thread> threads;

  void work(int worker) {
    for (int64_t i = next.fetch_add(1, std::memory_order_relaxed); i < chunks;
         i = next.fetch_add(1, std::memory_order_relaxed)) {
      const int64_t begin = i * chunk;
      function(body, begin, begin + std::min(chunk, count - begin), worker);
    }
  }

  bool enter() {
    uint64_t seen = gate.load(std::memory_order_relaxed);
    while (seen & kOpen) {
      if (gate.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
    return false;
  }

  void leave() {
    // Release: what this worker wrote is visible to the caller, which acquires the gate.
    const uint64_t before = gate.fetch_sub(1, std::memory_order_acq_rel);
    if (!(before & kOpen) && (before & kInside) == 1) gate.notify_one();
  }

  void worker_main(int worker) {
    int seen = 0;
    while (true) {
      const auto changed = [&] { return sequence.load(std::memory_order_acquire) != seen; };
      if (!spin(spin_ns, changed)) {
        sleepers.fetch_add(1);
        sequence.wait(seen);
        sleepers.fetch_sub(1);
      }
      seen = sequence.load(std::memory_order_acquire);
      if (stop.load(std::memory_order_relaxed)) return;
      if (enter()) {
        work(worker);
        leave();
      }
    }
  }

  void wake(int64_t wanted) {
    sequence.fetch_add(1);  // before sleepers is read: one who is about to sleep sees the change instead
    const int asleep = sleepers.load();
    if (asleep == 0) return;
    if (wanted >= asleep) return sequence.notify_all();
    for (int64_t i = 0; i < wanted; ++i) sequence.notify_one();
  }

  void wait_for_workers() {
    uint64_t now = gate.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
    const auto empty = [&] {
      now = gate.load(std::memory_order_acquire);
      return (now & kInside) == 0;
    };
    if (spin(spin_ns, empty)) return;
    while (!empty()) gate.wait(now, std::memory_order_acquire);
  }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  // Spinning pays only where every thread can have a CPU of its own.
  const int cpus = static_cast<int>(std::thread::hardware_concurrency());
  state_->spin_ns = threads <= cpus ? kSpinNs : 0;
  state_->threads.reserve(static_cast<size_t>(std::max(0, threads - 1)));
  try {
    for (int worker = 1; worker < threads; ++worker) {
      state_->threads.emplace_back([state = state_.get(), worker] { state->worker_main(worker); });
    }
  } catch (const std::system_error&) {
    // The system gives no more threads: the pool works with those it has.
  }
  size_ = static_cast<int>(state_->threads.size()) + 1;
}

ThreadPool::~ThreadPool() {
  state_->stop.store(true, std::memory_order_relaxed);
  state_->sequence.fetch_add(1);
  state_->sequence.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

void ThreadPool::run(int64_t count, int64_t chunk, Function function, void* body) {
  if (count <= 0) return;
  State& s = *state_;
  const int64_t chunks = (count - 1) / chunk + 1;
  const bool alone = size_ == 1 || chunks == 1 || s.busy.exchange(true, std::memory_order_acquire);
  if (alone) {
    for (int64_t i = 0; i < chunks; ++i) {
      const int64_t begin = i * chunk;
      function(body, begin, begin + std::min(chunk, count - begin), 0);
    }
    return;
  }
  s.function = function;
  s.body = body;
  s.count = count;
  s.chunk = chunk;
  s.chunks = chunks;
  s.next.store(0, std::memory_order_relaxed);
  const uint64_t epoch = (s.gate.load(std::memory_order_relaxed) >> 32) + 1;
  s.gate.store(epoch << 32 | kOpen, std::memory_order_release);
  s.wake(chunks - 1);
  s.work(0);
  s.wait_for_workers();
  s.busy.store(false, std::memory_order_release);
}

}  // namespace ge

// A pool of threads for loops over ranges. Entry: ThreadPool::parallel_for.
// Invariant: chunk boundaries depend on (count, chunk) alone, never on the number of threads, so results do
// not either. The caller works too; a call made while the pool is busy (another thread, or a nested call)
// runs inline. No allocation per call.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

namespace ge {

// GE_THREADS where it is a number >= 1, else the CPUs this process may use: its affinity mask cut by the
// cgroup's quota.
int default_thread_count();

class ThreadPool {
 public:
  explicit ThreadPool(int threads = default_thread_count());  // counts the caller; below 1 means 1
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }

  // Calls body(begin, end), or body(begin, end, worker) with worker in [0, size()), for [0, chunk), [chunk,
  // 2*chunk), ... up to count, each once, on any thread; two running calls never share a worker number.
  // Returns when all are done, their writes visible. chunk < 1 means 1. `body` must not throw. Threads may
  // call at once (those that find the pool busy run inline as worker 0 of their own call: scratch indexed by
  // worker must belong to the call).
  template <class F>
  void parallel_for(int64_t count, int64_t chunk, F&& body) {
    using Body = std::remove_reference_t<F>;
    run(count, chunk < 1 ? 1 : chunk, &invoke<Body>,
        const_cast<void*>(static_cast<const void*>(std::addressof(body))));
  }

 private:
  using Function = void (*)(void* body, int64_t begin, int64_t end, int worker);
  template <class Body>
  static void invoke(void* body, int64_t begin, int64_t end, int worker) {
    if constexpr (std::is_invocable_v<Body&, int64_t, int64_t, int>) {
      (*static_cast<Body*>(body))(begin, end, worker);
    } else {
      (*static_cast<Body*>(body))(begin, end);
    }
  }
  void run(int64_t count, int64_t chunk, Function function, void* body);
  struct State;
  std::unique_ptr<State> state_;
  int size_ = 1;
};

}  // namespace ge

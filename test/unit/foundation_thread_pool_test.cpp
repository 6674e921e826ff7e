// The thread pool: every index once, same chunks for any number of threads, callers from many threads, nested
// calls.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "catch.h"
#include "platform/clock.h"
#include "platform/thread_pool.h"

namespace ge {
namespace {

TEST_CASE("parallel_for visits every index once", "[thread_pool]") {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    CHECK(pool.size() == threads);
    for (const int64_t count : {0, 1, 2, 7, 64, 1000, 1001}) {
      for (const int64_t chunk : {-1, 1, 3, 64, 5000}) {
        std::vector<int> visits(static_cast<size_t>(count), 0);
        pool.parallel_for(count, chunk, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
        });
        REQUIRE(visits == std::vector<int>(static_cast<size_t>(count), 1));
      }
    }
  }
}

TEST_CASE("Chunk boundaries do not depend on the number of threads", "[thread_pool]") {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::vector<std::atomic<int64_t>> ends(10);
    pool.parallel_for(95, 10, [&](int64_t begin, int64_t end) {
      ends[static_cast<size_t>(begin / 10)] =
          begin % 10 == 0 ? end : -1;  // Catch's macros are for one thread only
    });
    for (int64_t i = 0; i < 10; ++i) CHECK(ends[static_cast<size_t>(i)] == (i == 9 ? 95 : i * 10 + 10));
  }
}

TEST_CASE("Worker numbers are within the pool and not shared", "[thread_pool]") {
  ThreadPool pool(3);
  std::atomic<int> inside[3] = {};
  std::atomic<bool> fine{true};
  for (int round = 0; round < 200; ++round) {
    pool.parallel_for(20, 1, [&](int64_t, int64_t, int worker) {
      if (worker < 0 || worker >= 3 || inside[worker].fetch_add(1) != 0) fine = false;
      inside[worker].fetch_sub(1);
    });
  }
  CHECK(fine);
}

TEST_CASE("More than one thread works when there is much to do", "[thread_pool]") {
  ThreadPool pool(2);
  std::atomic<int> used[2] = {};
  // The second chunk can only end when both threads are inside, or when the pool is broken and the wait runs
  // out.
  const int64_t deadline = monotonic_ns() + int64_t{20} * 1000000000;
  pool.parallel_for(2, 1, [&](int64_t, int64_t, int worker) {
    used[worker] = 1;
    while (!(used[0] && used[1]) && monotonic_ns() < deadline) std::this_thread::yield();
  });
  CHECK(used[0] == 1);
  CHECK(used[1] == 1);
}

TEST_CASE("Calls from several threads and from inside a call all finish", "[thread_pool]") {
  ThreadPool pool(2);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        pool.parallel_for(16, 2, [&](int64_t begin, int64_t end) {
          pool.parallel_for(end - begin, 1, [&](int64_t b, int64_t e) { sum += e - b; });
        });
      }
    });
  }
  for (std::thread& t : callers) t.join();
  CHECK(sum == 4 * 50 * 16);
}

TEST_CASE("What workers wrote is visible after the call, without atomics", "[thread_pool]") {
  ThreadPool pool(4);
  std::vector<int64_t> data(4096, 0);
  for (int64_t round = 1; round <= 100; ++round) {
    pool.parallel_for(4096, 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) data[static_cast<size_t>(i)] += i;
    });
    for (int64_t i = 0; i < 4096; i += 511) REQUIRE(data[static_cast<size_t>(i)] == i * round);
  }
}

TEST_CASE("Sleeping workers wake up", "[thread_pool]") {
  ThreadPool pool(2);
  for (int round = 0; round < 20; ++round) {
    ::usleep(500);  // well past the spin
    std::atomic<int> done{0};
    pool.parallel_for(8, 1, [&](int64_t, int64_t) { ++done; });
    REQUIRE(done == 8);
  }
}

TEST_CASE("GE_THREADS sets the default", "[thread_pool]") {
  ::setenv("GE_THREADS", "3", 1);
  CHECK(default_thread_count() == 3);
  ::setenv("GE_THREADS", "none", 1);
  CHECK(default_thread_count() >= 1);
  ::setenv("GE_THREADS", "0", 1);
  CHECK(default_thread_count() >= 1);
  ::unsetenv("GE_THREADS");
  CHECK(default_thread_count() <= static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF)));
}

}  // namespace
}  // namespace ge

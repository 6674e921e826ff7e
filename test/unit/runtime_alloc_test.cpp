// A run that was seen before allocates nothing: operator new is counted around it.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

#include "catch.h"
#include "runtime/cpu/scratch.h"
#include "runtime_sample.h"

namespace {
std::atomic<long> allocations{0};
}  // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* p = std::malloc(size > 0 ? size : 1)) return p;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size > 0 ? size : 1);
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, size_t) noexcept {
  std::free(p);
}

using namespace ge;
using namespace ge::test;

TEST_CASE("a repeated run allocates nothing", "[runtime]") {
  Run r(affine_plan());
  REQUIRE(r.bind({{"batch", 64}}).ok());
  REQUIRE(r.write(0, std::vector<float>(192, 1.0f)).ok());
  REQUIRE(r.run().ok());
  const long before = allocations.load();
  ge_error* errors = nullptr;
  for (int i = 0; i < 20 && !errors; ++i) errors = ge_session_run(r.session);
  const long after = allocations.load();
  REQUIRE(Outcome(errors).ok());
  REQUIRE(after - before == 0);
  SECTION("also after switching between bindings that are kept") {
    REQUIRE(r.bind({{"batch", 3}}).ok());
    REQUIRE(r.run().ok());
    REQUIRE(r.bind({{"batch", 64}}).ok());
    const long again = allocations.load();
    REQUIRE(ge_session_run(r.session) == nullptr);
    REQUIRE(allocations.load() == again);
  }
}

// Which threads take part in a run is chance: a thread that comes in late must find its memory.
TEST_CASE("a worker that takes part for the first time allocates nothing", "[runtime]") {
  using cpu::Scratch;
  ThreadPool pool(4);
  Scratch scratch(pool);
  std::atomic<int> inside{0};
  const auto run = [&](int64_t pieces, size_t first, size_t second) {
    const auto piece = [&](int64_t, int64_t) {
      for (const size_t size : {first, second}) std::memset(Scratch::scratch(&scratch, size), 1, size);
      ++inside;
      while (inside < pieces) std::this_thread::yield();  // so that each worker has one piece
    };
    inside = 0;
    const Scratch::Launch launch(scratch);
    Scratch::parallel(
        &scratch, pieces, 1,
        [](void* body, int64_t begin, int64_t end) {
          (*static_cast<const decltype(piece)*>(body))(begin, end);
        },
        const_cast<void*>(static_cast<const void*>(&piece)));
  };
  run(1, 200'000, 300'000);  // the caller alone
  const long before = allocations.load();
  run(pool.size(), 200'000, 300'000);
  run(pool.size(), 499'000, 1000);
  run(pool.size(), 260'000, 240'000);
  REQUIRE(allocations.load() == before);
}

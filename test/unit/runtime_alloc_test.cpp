// A run that was seen before allocates nothing: operator new is counted around it.
#include <atomic>
#include <cstdlib>
#include <new>

#include "catch.h"
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

#include "memory_meter.h"

#include <malloc.h>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "catch.h"

namespace {

std::atomic<int64_t> live{0}, peak{0};

void* taken(void* p) {
  if (!p) return p;
  const int64_t now = live += static_cast<int64_t>(malloc_usable_size(p));
  for (int64_t seen = peak.load(); now > seen && !peak.compare_exchange_weak(seen, now);) {
  }
  return p;
}
void given_back(void* p) {
  if (p) live -= static_cast<int64_t>(malloc_usable_size(p));
  std::free(p);
}

}  // namespace

void* operator new(size_t size) {
  if (void* p = taken(std::malloc(size > 0 ? size : 1))) return p;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return taken(std::malloc(size > 0 ? size : 1));
}
void* operator new(size_t size, std::align_val_t alignment) {
  const auto a = static_cast<size_t>(alignment);
  if (void* p = taken(std::aligned_alloc(a, (size + a - 1) / a * a))) return p;
  throw std::bad_alloc();
}
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  const auto a = static_cast<size_t>(alignment);
  return taken(std::aligned_alloc(a, (size + a - 1) / a * a));
}
void operator delete(void* p) noexcept {
  given_back(p);
}
void operator delete(void* p, size_t) noexcept {
  given_back(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  given_back(p);
}
void operator delete(void* p, size_t, std::align_val_t) noexcept {
  given_back(p);
}

namespace ge::test {

int64_t live_bytes() {
  return live.load();
}
int64_t peak_bytes() {
  return peak.load();
}
void forget_peak() {
  peak.store(live.load());
}

void check_peak(const Case& c, const Measured& m, double most) {
  constexpr double kFault = 16384;
  INFO(c.name << ": " << m.said.substr(0, 100) << "; " << m.bytes << " bytes of " << c.bytes.size());
  CHECK(m.refused);
  CHECK(static_cast<double>(m.bytes) <= most * static_cast<double>(c.bytes.size()) + kFault);
}

std::string repeat(const std::string& part, size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += part;
  return text;
}

std::string many(int count, const std::function<std::string(int)>& part) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part(i);
  return text;
}
std::string number(int i) {
  return std::to_string(i);
}

}  // namespace ge::test

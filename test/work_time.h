// How long work takes, for tests that must tell linear from quadratic.
#pragma once
#include <ctime>

namespace ge::test {

// What a sanitizer makes of one second. GCC defines __SANITIZE_*, Clang has __has_feature.
#if defined(__has_feature)
#define GE_HAS_FEATURE(name) __has_feature(name)
#else
#define GE_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || GE_HAS_FEATURE(thread_sanitizer)
inline constexpr int kSlowdown = 6;
#elif defined(__SANITIZE_ADDRESS__) || GE_HAS_FEATURE(address_sanitizer)
inline constexpr int kSlowdown = 3;
#else
inline constexpr int kSlowdown = 1;
#endif
#undef GE_HAS_FEATURE

// Seconds of this process's own processor time, over kSlowdown: what else the machine does is not in it.
class WorkTime {
 public:
  double seconds() const { return (now() - start_) / kSlowdown; }

 private:
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  double start_ = now();
};

template <class F>
double seconds_of(const F& work) {
  const WorkTime time;
  work();
  return time.seconds();
}

}  // namespace ge::test

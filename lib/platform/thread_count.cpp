// How many threads this process may use. Entry: default_thread_count.
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "platform/file.h"
#include "platform/thread_pool.h"

namespace ge {
namespace {

constexpr int kMostThreads = 1024;

// Of the affinity mask; grows the mask for machines with more CPUs than cpu_set_t holds.
int cpus_allowed() {
  for (int capacity = 1024; capacity <= (1 << 20); capacity *= 4) {
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(capacity));
    if (!set) break;
    const size_t size = CPU_ALLOC_SIZE(static_cast<size_t>(capacity));
    const bool known = ::sched_getaffinity(0, size, set) == 0;
    const int count = known ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (known) return std::max(1, count);
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string text_of(const std::string& path) {
  const Result<ByteBuffer> bytes = read_file(path, 1 << 20);
  return bytes.ok() ? std::string(as_text(bytes->span())) : std::string();
}

bool parse_number(std::string_view text, int64_t& value) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

// CPUs of one cgroup's quota, rounded up; kMostThreads where it has none. Version 2: "max 100000" or "200000
// 100000".
int quota_of(const std::string& folder) {
  const std::string text = text_of(folder + "/cpu.max");
  const size_t space = text.find(' ');
  int64_t quota = 0, period = 0;
  if (space == std::string::npos || !parse_number(std::string_view(text).substr(0, space), quota) ||
      !parse_number(std::string_view(text).substr(space + 1), period) || quota <= 0 || period <= 0) {
    return kMostThreads;
  }
  return static_cast<int>(std::clamp<int64_t>((quota + period - 1) / period, 1, kMostThreads));
}

// The tightest quota from this process's cgroup up to the root (version 2), or version 1's two files where
// they are mounted.
int cpus_of_quota() {
  int allowed = kMostThreads;
  const std::string self = text_of("/proc/self/cgroup");
  const size_t at = self.find("0::/");
  if (at != std::string::npos) {
    std::string group = self.substr(at + 3, self.find('\n', at) - at - 3);
    while (true) {
      allowed = std::min(allowed, quota_of("/sys/fs/cgroup" + (group == "/" ? "" : group)));
      if (group.size() <= 1) break;
      group = group.substr(0, std::max<size_t>(1, group.rfind('/')));
    }
  }
  int64_t quota = 0, period = 0;
  if (parse_number(text_of("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), quota) &&
      parse_number(text_of("/sys/fs/cgroup/cpu/cpu.cfs_period_us"), period) && quota > 0 && period > 0) {
    allowed = std::min<int>(
        allowed, static_cast<int>(std::clamp<int64_t>((quota + period - 1) / period, 1, kMostThreads)));
  }
  return allowed;
}

}  // namespace

int default_thread_count() {
  int64_t asked = 0;
  const char* text = std::getenv("GE_THREADS");
  if (text && parse_number(text, asked) && asked >= 1)
    return static_cast<int>(std::min<int64_t>(asked, kMostThreads));
  return std::min({cpus_allowed(), cpus_of_quota(), kMostThreads});
}

}  // namespace ge

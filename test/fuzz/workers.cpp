#include "fuzz/workers.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <thread>

namespace ge::test {
namespace {

constexpr size_t kMaxThreads = 128;
constexpr size_t kIdle = SIZE_MAX;
constexpr int kNoDevice = 3;

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// What parent and worker share; lock-free atomics work across processes.
struct Shared {
  std::atomic<size_t> next{0};
  std::atomic<size_t> failures{0};
  std::atomic<size_t> running[kMaxThreads];
  std::atomic<int64_t> since_ms[kMaxThreads];
  Counts counts;
};

struct SharedMemory {
  Shared* p = nullptr;
  SharedMemory() {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    p = new (memory) Shared;
    for (auto& r : p->running) r = kIdle;
  }
  ~SharedMemory() {
    if (p != nullptr) munmap(p, sizeof(Shared));
  }
};

ge_device* open(ge_device_kind kind, int threads, std::string& error) {
  ge_device_options options{};
  options.size = sizeof options;
  options.kind = kind;
  options.threads = threads;
  ge_device* device = nullptr;
  if (ge_error* e = ge_device_open(&options, &device)) {
    error = ge_error_message(e);
    ge_error_free(e);
  }
  return device;
}

Devices open_devices(const RunOptions& options, std::string& error) {
  Devices d;
  d.cpu = open(GE_DEVICE_CPU, 1, error);
  d.cpu_threads = open(GE_DEVICE_CPU, 3, error);
  d.sabotage = options.sabotage;
  if (options.compile_cuda) d.cuda_target = "sm_90";
  if (!options.cuda) return d;
  d.cuda = open(GE_DEVICE_CUDA, 0, error);
  if (d.cuda != nullptr) d.cuda_target = ge_device_target(d.cuda);
  return d;
}

// A record on the pipe: index, then kind and detail, each with its length.
void send(int pipe, std::mutex& mutex, size_t index, const Failure& failure) {
  std::string record;
  const auto number = [&](uint64_t n) { record.append(reinterpret_cast<const char*>(&n), sizeof n); };
  number(index);
  for (const std::string* text : {&failure.kind, &failure.detail}) {
    const size_t size = std::min<size_t>(text->size(), 20'000);
    number(size);
    record.append(*text, 0, size);
  }
  const std::lock_guard<std::mutex> lock(mutex);
  for (size_t done = 0; done < record.size();) {
    const ssize_t n = write(pipe, record.data() + done, record.size() - done);
    if (n <= 0) return;
    done += static_cast<size_t>(n);
  }
}

[[noreturn]] void worker(int pipe, Shared& shared, size_t count, const std::function<Graph(size_t)>& make,
                         const RunOptions& options, size_t most) {
  std::string error;
  const Devices devices = open_devices(options, error);
  std::mutex mutex;
  if (!error.empty()) {
    send(pipe, mutex, kIdle, {"device", error});
    _exit(kNoDevice);
  }
  const auto work = [&](size_t thread) {
    Checker checker(devices, shared.counts);
    for (size_t i = shared.next++; i < count && shared.failures < most; i = shared.next++) {
      shared.since_ms[thread] = now_ms();
      shared.running[thread] = i;
      if (auto bad = checker.check(make(i))) {
        if (bad->kind != kNotThere) ++shared.failures;
        send(pipe, mutex, i, *bad);
      }
      shared.running[thread] = kIdle;
    }
  };
  std::vector<std::thread> threads;
  for (size_t t = 1; t < static_cast<size_t>(options.threads); ++t) threads.emplace_back(work, t);
  work(0);
  for (std::thread& t : threads) t.join();
  _exit(0);
}

class Supervisor {
 public:
  Supervisor(size_t count, const std::function<Graph(size_t)>& make, const RunOptions& options, size_t most)
      : count_(count), make_(make), options_(options), most_(most) {
    options_.threads =
        static_cast<int>(std::clamp<size_t>(static_cast<size_t>(options_.threads), 1, kMaxThreads));
  }

  Summary run() {
    if (shared_.p == nullptr) return {.no_device = "no shared memory"};
    while (shared_.p->next < count_ && shared_.p->failures < most_ && summary_.no_device.empty())
      if (const std::set<size_t> lost = one_worker(); !lost.empty()) find_culprits(lost);
    std::sort(summary_.failures.begin(), summary_.failures.end(),
              [](const CaseFailure& a, const CaseFailure& b) { return a.index < b.index; });
    const Counts& c = shared_.p->counts;
    summary_.cases = c.cases;
    summary_.refused = c.refused;
    summary_.runs = c.runs;
    summary_.elements = c.elements;
    summary_.explained = c.explained;
    summary_.faults = c.faults;
    return std::move(summary_);
  }

 private:
  // Forks a worker and reads what it says until it ends; gives the cases that were running if it died.
  std::set<size_t> one_worker() {
    int ends[2];
    if (pipe(ends) != 0) {
      summary_.no_device = "no pipe";
      return {};
    }
    for (auto& r : shared_.p->running) r = kIdle;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      worker(ends[1], *shared_.p, count_, make_, options_, most_);
    }
    close(ends[1]);
    hung_ = false;
    watch(child, ends[0]);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNoDevice) return {};
    died_ = hung_                 ? "no end"
            : WIFSIGNALED(status) ? "crash, signal " + std::to_string(WTERMSIG(status))
                                  : "crash, exit " + std::to_string(WEXITSTATUS(status));
    std::set<size_t> lost;
    for (const auto& r : shared_.p->running)
      if (r != kIdle) lost.insert(r);
    if (lost.empty()) summary_.no_device = "the worker ended between cases: " + died_;
    return lost;
  }

  void watch(pid_t child, int pipe) {
    std::string buffer;
    int64_t told = now_ms();
    for (;;) {
      fd_set set;
      FD_ZERO(&set);
      FD_SET(pipe, &set);
      timeval wait{1, 0};
      const int ready = select(pipe + 1, &set, nullptr, nullptr, &wait);
      if (ready > 0) {
        char part[4096];
        const ssize_t n = read(pipe, part, sizeof part);
        if (n <= 0) return;
        buffer.append(part, static_cast<size_t>(n));
        take(buffer);
      }
      for (size_t t = 0; t < kMaxThreads && !hung_; ++t) {
        if (shared_.p->running[t] == kIdle ||
            now_ms() - shared_.p->since_ms[t] < options_.seconds_per_case * 1000)
          continue;
        hung_ = true;
        kill(child, SIGKILL);
      }
      if (options_.progress && now_ms() - told > 10'000) {
        told = now_ms();
        std::fprintf(stderr, "%zu of %zu graphs, %zu failures\n", std::min(shared_.p->next.load(), count_),
                     count_, shared_.p->failures.load());
      }
    }
  }

  void take(std::string& buffer) {
    for (;;) {
      size_t at = 0;
      const auto number = [&](uint64_t& n) {
        if (buffer.size() < at + sizeof n) return false;
        std::memcpy(&n, buffer.data() + at, sizeof n);
        at += sizeof n;
        return true;
      };
      uint64_t index = 0, size = 0;
      CaseFailure f;
      if (!number(index)) return;
      for (std::string* text : {&f.failure.kind, &f.failure.detail}) {
        if (!number(size) || buffer.size() < at + size) return;
        text->assign(buffer, at, size);
        at += size;
      }
      buffer.erase(0, at);
      f.index = index;
      if (f.index == kIdle)
        summary_.no_device = f.failure.detail;
      else if (f.failure.kind == kNotThere)
        ++summary_.not_there[f.failure.detail];
      else
        summary_.failures.push_back(std::move(f));
    }
  }

  // Runs each lost case alone: the one that ends its process again is the culprit; the others are done then.
  void find_culprits(const std::set<size_t>& lost) {
    const size_t next = shared_.p->next;
    const int threads = options_.threads;
    const std::string how = died_;
    options_.threads = 1;
    bool found = false;
    for (const size_t index : lost) {
      const size_t all = count_;
      shared_.p->next = index;
      count_ = index + 1;
      if (!one_worker().empty()) {
        found = true;
        ++shared_.p->failures;
        summary_.failures.push_back({index, {died_, "the process ended while it ran this graph"}});
      }
      count_ = all;
    }
    if (!found) {
      ++shared_.p->failures;
      summary_.failures.push_back({*lost.begin(),
                                   {how, "only beside the other graphs that ran then (" +
                                             std::to_string(lost.size()) + " from this one on)"}});
    }
    options_.threads = threads;
    shared_.p->next = next;
  }

  size_t count_;
  const std::function<Graph(size_t)>& make_;
  RunOptions options_;
  size_t most_;
  SharedMemory shared_;
  Summary summary_;
  bool hung_ = false;
  std::string died_;
};

}  // namespace

Summary run_cases(size_t count, const std::function<Graph(size_t)>& make, const RunOptions& options,
                  size_t most) {
  return Supervisor(count, make, options, most).run();
}

}  // namespace ge::test

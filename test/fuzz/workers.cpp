#include "fuzz/workers.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

namespace ge::test {
namespace {

constexpr size_t kMaxJobs = 128;
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
  std::atomic<size_t> running[kMaxJobs];
  std::atomic<int64_t> since_ms[kMaxJobs];
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
void send(int pipe, size_t index, const Failure& failure) {
  std::string record;
  const auto number = [&](uint64_t n) { record.append(reinterpret_cast<const char*>(&n), sizeof n); };
  number(index);
  for (const std::string* text : {&failure.kind, &failure.detail}) {
    const size_t size = std::min<size_t>(text->size(), 20'000);
    number(size);
    record.append(*text, 0, size);
  }
  for (size_t done = 0; done < record.size();) {
    const ssize_t n = write(pipe, record.data() + done, record.size() - done);
    if (n <= 0) return;
    done += static_cast<size_t>(n);
  }
}

[[noreturn]] void worker(int pipe, Shared& shared, size_t slot, size_t count,
                         const std::function<Graph(size_t)>& make, const RunOptions& options, size_t most) {
  std::string error;
  const Devices devices = open_devices(options, error);
  if (!error.empty()) {
    send(pipe, kIdle, {"device", error});
    _exit(kNoDevice);
  }
  Checker checker(devices, shared.counts);
  for (size_t i = shared.next++; i < count && shared.failures < most; i = shared.next++) {
    shared.since_ms[slot] = now_ms();
    shared.running[slot] = i;
    if (auto bad = checker.check(make(i))) {
      if (bad->kind != kNotThere) ++shared.failures;
      send(pipe, i, *bad);
    }
    shared.running[slot] = kIdle;
  }
  _exit(0);
}

// The worker processes, one case at a time each. What they share is the number of the next case; a worker
// that dies takes one case with it, and another takes its place.
class Supervisor {
 public:
  Supervisor(size_t count, const std::function<Graph(size_t)>& make, const RunOptions& options, size_t most)
      : count_(count), make_(make), options_(options), most_(most) {}

  Summary run() {
    if (shared_.p == nullptr) return {.no_device = "no shared memory"};
    const size_t jobs = std::clamp<size_t>(static_cast<size_t>(std::max(options_.jobs, 1)), 1,
                                           std::min(kMaxJobs, std::max<size_t>(count_, 1)));
    for (size_t slot = 0; slot < jobs; ++slot) start(slot);
    while (!workers_.empty()) watch();
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
  struct Worker {
    pid_t process = -1;
    int pipe = -1;
    size_t slot = 0;
    bool hung = false;
    std::string told;  // read from the pipe, not yet whole records
  };

  void start(size_t slot) {
    int ends[2];
    if (pipe(ends) != 0) {
      summary_.no_device = "no pipe";
      return;
    }
    shared_.p->running[slot] = kIdle;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      for (const Worker& other : workers_) close(other.pipe);
      worker(ends[1], *shared_.p, slot, count_, make_, options_, most_);
    }
    close(ends[1]);
    workers_.push_back({child, ends[0], slot, false, ""});
  }

  // Waits for something to read, for at most a second; ends what has no end.
  void watch() {
    std::vector<pollfd> ends;
    for (const Worker& w : workers_) ends.push_back({w.pipe, POLLIN, 0});
    const int ready = poll(ends.data(), ends.size(), 1000);
    std::vector<size_t> ended;
    for (size_t i = 0; ready > 0 && i < ends.size(); ++i)
      if (ends[i].revents != 0 && !read_from(workers_[i])) ended.push_back(i);
    for (size_t k = ended.size(); k-- > 0;) reap(ended[k]);
    for (Worker& w : workers_) {
      const bool late = shared_.p->running[w.slot] != kIdle &&
                        now_ms() - shared_.p->since_ms[w.slot] >= options_.seconds_per_case * 1000;
      if (!late || w.hung) continue;
      w.hung = true;
      kill(w.process, SIGKILL);
    }
    if (!options_.progress || now_ms() - told_ms_ < 10'000) return;
    told_ms_ = now_ms();
    std::fprintf(stderr, "%zu of %zu graphs, %zu failures\n", std::min(shared_.p->next.load(), count_),
                 count_, shared_.p->failures.load());
  }

  bool read_from(Worker& w) {
    char part[4096];
    const ssize_t n = read(w.pipe, part, sizeof part);
    if (n <= 0) return false;
    w.told.append(part, static_cast<size_t>(n));
    take(w.told);
    return true;
  }

  void reap(size_t i) {
    const Worker w = std::move(workers_[i]);
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
    close(w.pipe);
    int status = 0;
    waitpid(w.process, &status, 0);
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kNoDevice)) return;
    const std::string how = w.hung                ? "no end"
                            : WIFSIGNALED(status) ? "crash, signal " + std::to_string(WTERMSIG(status))
                                                  : "crash, exit " + std::to_string(WEXITSTATUS(status));
    const size_t index = shared_.p->running[w.slot];
    if (index == kIdle) {
      summary_.no_device = "a worker ended between cases: " + how;
      return;
    }
    ++shared_.p->failures;
    fail({index, {how, "the process ended while it ran this graph"}});
    if (shared_.p->next < count_ && shared_.p->failures < most_) start(w.slot);
  }

  void fail(CaseFailure f) {
    if (options_.tell) options_.tell(f);
    summary_.failures.push_back(std::move(f));
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
        fail(std::move(f));
    }
  }

  size_t count_;
  const std::function<Graph(size_t)>& make_;
  const RunOptions& options_;
  size_t most_;
  SharedMemory shared_;
  Summary summary_;
  std::vector<Worker> workers_;
  int64_t told_ms_ = now_ms();
};

}  // namespace

Summary run_cases(size_t count, const std::function<Graph(size_t)>& make, const RunOptions& options,
                  size_t most) {
  return Supervisor(count, make, options, most).run();
}

}  // namespace ge::test

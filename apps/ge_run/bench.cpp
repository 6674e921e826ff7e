#include "ge_run/bench.h"

#include <algorithm>
#include <cmath>

#include "common/table.h"
#include "platform/clock.h"

namespace ge {
namespace {

constexpr int32_t kDefaultWarmup = 3;
constexpr double kDefaultDuration = 1;
constexpr size_t kMaxRuns = 1000000;

// Of sorted times; between two neighbours it is their weighted mean.
double percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

void write_latency(DocumentBuilder& b, std::string_view name, const Latency& l) {
  b.key(name).begin_object();
  b.member("runs", l.runs)
      .member("min", l.min)
      .member("mean", l.mean)
      .member("median", l.median)
      .member("p90", l.p90);
  b.member("p95", l.p95)
      .member("p99", l.p99)
      .member("max", l.max)
      .member("variance", l.variance)
      .end_object();
}

}  // namespace

Latency latency_of(std::vector<double> times) {
  Latency l;
  if (times.empty()) return l;
  std::sort(times.begin(), times.end());
  l.runs = static_cast<int64_t>(times.size());
  double sum = 0, squares = 0;
  for (double t : times) sum += t;
  l.mean = sum / static_cast<double>(times.size());
  for (double t : times) squares += (t - l.mean) * (t - l.mean);
  l.variance = times.size() > 1 ? squares / static_cast<double>(times.size() - 1) : 0;
  l.min = times.front();
  l.max = times.back();
  l.median = percentile(times, 0.5);
  l.p90 = percentile(times, 0.9);
  l.p95 = percentile(times, 0.95);
  l.p99 = percentile(times, 0.99);
  return l;
}

Result<Bench> run_bench(ge_session* session, const RunCommand& command) {
  std::vector<double> device, host;
  const int32_t before = command.warmup.value_or(kDefaultWarmup);
  const auto run = [&](int32_t warmup, int32_t count) -> Status {
    const size_t done = device.size();
    device.resize(done + static_cast<size_t>(count));
    host.resize(device.size());
    const ge_timing_options options{sizeof options, warmup, count, command.cold ? 1 : 0};
    return status_of(ge_session_time(session, &options, device.data() + done, host.data() + done));
  };
  if (command.iterations) {
    GE_TRY(run(before, *command.iterations));
  } else {
    GE_TRY(run(before, 1));
    const int64_t end =
        monotonic_ns() + static_cast<int64_t>(command.duration_s.value_or(kDefaultDuration) * 1e9);
    while (monotonic_ns() < end && device.size() < kMaxRuns) {
      // About a twentieth of a second at a time, so that the end is met.
      GE_TRY(run(0, static_cast<int32_t>(std::clamp(50000 / std::max(host.back(), 1.0), 1.0, 1000.0))));
    }
  }
  return Bench{latency_of(std::move(device)), latency_of(std::move(host))};
}

std::string bench_table(const Bench& bench) {
  Table table({"us", ">runs", ">min", ">mean", ">median", ">p90", ">p95", ">p99", ">max", ">variance"});
  const auto row = [&](const char* name, const Latency& l) {
    table.add({name, std::to_string(l.runs), number_text(l.min), number_text(l.mean), number_text(l.median),
               number_text(l.p90), number_text(l.p95), number_text(l.p99), number_text(l.max),
               number_text(l.variance)});
  };
  row("device", bench.device);
  row("host", bench.host);
  return table.text();
}

void write_json(DocumentBuilder& b, const Bench& bench) {
  b.begin_object();
  write_latency(b, "host_us", bench.host);
  write_latency(b, "device_us", bench.device);
  b.end_object();
}

}  // namespace ge

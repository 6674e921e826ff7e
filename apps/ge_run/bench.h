// --bench: latency over many runs. Entry: run_bench.
#pragma once
#include <string>
#include <vector>

#include "document/writer.h"
#include "ge_run/options.h"
#include "ge_run/runtime.h"

namespace ge {

struct Latency {  // microseconds; variance in square microseconds
  int64_t runs = 0;
  double min = 0, mean = 0, median = 0, p90 = 0, p95 = 0, p99 = 0, max = 0, variance = 0;
};
Latency latency_of(std::vector<double> times_us);
struct Bench {
  Latency device, host;
};
// `iterations` runs, or as many as fit into `duration_s` (1 s by default), after `warmup` ones.
Result<Bench> run_bench(ge_session* session, const RunCommand& command);
std::string bench_table(const Bench& bench);
void write_json(DocumentBuilder& b, const Bench& bench);  // {"host_us": {...}, "device_us": {...}}

}  // namespace ge

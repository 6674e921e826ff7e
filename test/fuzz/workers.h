// Cases in several processes, each with its own devices: a crash or an endless loop ends one process and is
// laid to the case that it was running. Entry: run_cases. The caller's process opens no device and starts no
// thread, so it can fork as often as it likes.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "fuzz/checker.h"
#include "work_time.h"

namespace ge::test {

struct CaseFailure {
  size_t index = 0;
  Failure failure;
};
struct RunOptions {
  bool cuda = false;          // compare the GPU with the reference
  bool compile_cuda = false;  // only compile for sm_90
  bool sabotage = false;      // spoil the results
  int jobs = 1;               // processes
  int seconds_per_case = 60 * kSlowdown;
  bool progress = false;
  // Told of each failure as it is found: a run that is cut short has said what it knows.
  std::function<void(const CaseFailure&)> tell;
};
struct Summary {
  std::vector<CaseFailure> failures;  // by index
  int64_t cases = 0, refused = 0, runs = 0, elements = 0, explained = 0, faults = 0;
  std::map<std::string, int64_t> not_there;  // what no kernel of the GPU can run, graphs
  std::string no_device;                     // why nothing ran; "" where it ran
};

// Runs check on make(0) .. make(count - 1); stops early after `most` failures.
Summary run_cases(size_t count, const std::function<Graph(size_t)>& make, const RunOptions& options,
                  size_t most);

}  // namespace ge::test

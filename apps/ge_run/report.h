// All that a run has to say on standard output, as text or as one JSON document. Entry: report_text,
// report_json.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ge_run/bench.h"
#include "ge_run/ceilings.h"
#include "ge_run/compare.h"
#include "ge_run/profile.h"
#include "ge_run/summary.h"

namespace ge {

struct InputNote {
  std::string name, source;
  DType dtype = DType::float32;
  std::vector<int64_t> dims;
};
struct StartupPart {
  std::string name;
  double time_us = 0;
};
struct RunReport {
  std::string plan, model, device, device_name, target, reason;
  std::vector<InputNote> inputs;
  std::vector<TensorSummary> outputs;  // where asked for
  std::vector<std::string> files;      // written
  std::vector<Comparison> comparisons;
  std::optional<Bench> bench;
  std::optional<Profile> profile;
  std::optional<DeviceCeilings> ceilings;  // measured now
  std::vector<StartupPart> startup;
  std::optional<ge_plan_needs> needs;  // --dry-run
};
std::string report_text(const RunReport& report);
std::string report_json(const RunReport& report);
// {"errors": [...]}, for --json.
std::string errors_json(const Error& error);

}  // namespace ge

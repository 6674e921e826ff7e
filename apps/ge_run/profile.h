// --profile: time, bytes and FLOPs per launch, as a table and as a Perfetto (Chrome) trace. Entry:
// run_profile.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "document/writer.h"
#include "ge_run/runtime.h"

namespace ge {

struct ProfileRow {
  std::string kernel, nodes;
  double time_us = 0, flops = 0, bytes = 0;
  DType dtype = DType::float32;    // of what the FLOPs are
  std::optional<double> floor_us;  // by the device's ceilings, where they are known
};
struct Profile {
  std::vector<ProfileRow> rows;  // in the order of running
  double total_us = 0;
};
Result<Profile> run_profile(ge_session* session, int32_t iterations);
std::string profile_table(const Profile& profile);
void write_json(DocumentBuilder& b, const Profile& profile);
// JSON of the trace-event format: one complete event per launch, end to end on one track.
std::string trace_json(const Profile& profile, const std::string& device);

}  // namespace ge

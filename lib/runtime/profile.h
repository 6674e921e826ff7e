// Time per launch of a profiled run. Entry: summarize_profile.
#pragma once
#include <string>
#include <vector>

#include "runtime/prepared_binding.h"

namespace ge {

struct LaunchProfile {
  std::string kernel;  // name, and in parentheses the library that computes it where one does; "copy" or
                       // "fill" for steps that are no kernels
  std::string source_nodes;  // "fc1 + act"
  double time_us = 0;        // median over the runs
  double flops = 0, bytes = 0;
  DType dtype = DType::float32;  // of the launch's first operand: what its FLOPs are of
};
// One row per step that ran, in the program's order. `runs[i].time_us[entry]` are the times of run i.
std::vector<LaunchProfile> summarize_profile(const Model& model, PreparedBinding& binding,
                                             const std::vector<StepTimes>& runs);
// The number of entries a profile of `program` has.
size_t profile_entry_count(const Program& program);

}  // namespace ge

// An opened plan: its file, its launch table and how far its code is trusted. Entry: PlanHandle::open.
// Immutable once open and shared: models keep it alive. Invariant: its records passed verify_structure; what
// a program's kernels need is checked when a model is loaded from it.
#pragma once
#include <memory>
#include <string>

#include "contract/plan_read.h"
#include "runtime/launch_table.h"

namespace ge {

struct PlanOptions {
  bool trust_builtin_only = false;
};

class PlanHandle {
 public:
  static Result<std::shared_ptr<PlanHandle>> open_file(const std::string& path, const PlanOptions& options);
  static Result<std::shared_ptr<PlanHandle>> open_memory(ByteSpan bytes,
                                                         const PlanOptions& options);  // copies

  const Plan& plan() const { return file_.plan; }
  const PlanFile& file() const { return file_; }
  const PlanOptions& options() const { return options_; }
  LaunchTable& launch_table() const { return launch_table_; }
  // Index of the program for a device target ("cpu", "sm_90"). no_target: lists what the plan has.
  Result<uint32_t> program_for(const std::string& target) const;
  double read_us() const { return read_us_; }

 private:
  PlanHandle(PlanFile file, const PlanOptions& options) : file_(std::move(file)), options_(options) {}
  static Result<std::shared_ptr<PlanHandle>> finish(Result<PlanFile> file, const PlanOptions& options,
                                                    int64_t began_ns);
  PlanFile file_;
  PlanOptions options_;
  mutable LaunchTable launch_table_;
  double read_us_ = 0;
};

}  // namespace ge

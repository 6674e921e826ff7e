// A plan on a device, bound again and again through ge.h. Entry: PlanSession::open.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "fuzz/case_data.h"
#include "ge/ge.h"
#include "tensor_file/host_tensor.h"

namespace ge::test {

struct RunResult {
  std::vector<HostTensor> outputs;
  std::string code, error;  // "E0609" and the message; empty where it ran
  bool bug = false;         // the error says that it is one of ours
  bool ok() const { return code.empty(); }
};

class PlanSession {
 public:
  // Empty pointer and `error` filled where the plan cannot be opened, loaded or given a session.
  static std::unique_ptr<PlanSession> open(ge_device* device, ByteSpan plan, std::string& error);
  ~PlanSession();
  PlanSession(const PlanSession&) = delete;
  PlanSession& operator=(const PlanSession&) = delete;

  // Binds by shapes and by names at once, runs `runs` times (CUDA: direct, recorded, replayed). An error
  // "changed" where a later run gave other bits than the first.
  RunResult run(const std::vector<HostTensor>& inputs, const Symbols& symbols, int runs);
  std::map<std::string, IndexRange> index_inputs() const;  // by the plan's hints

 private:
  PlanSession() = default;
  RunResult bind(const std::vector<HostTensor>& inputs, const Symbols& symbols);
  RunResult read();
  ge_plan* plan_ = nullptr;
  ge_model* model_ = nullptr;
  ge_session* session_ = nullptr;
};

// Same dtype, dims and bits (of floats: two NaNs are the same).
bool same_tensor(const HostTensor& a, const HostTensor& b);

}  // namespace ge::test

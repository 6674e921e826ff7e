// ge.h as values that free themselves, and its errors as Status. Entry: LoadedPlan::open.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "ge/ge.h"
#include "numeric/dtype.h"
#include "tensor_file/host_tensor.h"

namespace ge {

// Takes the error over; the diagnostics are those of the library.
Status status_of(ge_error* error);

template <class T, void (*kFree)(T*)>
struct Freed {
  void operator()(T* p) const { kFree(p); }
};
using DevicePtr = std::unique_ptr<ge_device, Freed<ge_device, ge_device_close>>;
using PlanPtr = std::unique_ptr<ge_plan, Freed<ge_plan, ge_plan_close>>;
using ModelPtr = std::unique_ptr<ge_model, Freed<ge_model, ge_model_free>>;
using SessionPtr = std::unique_ptr<ge_session, Freed<ge_session, ge_session_free>>;

// Freed in reverse order.
struct Runtime {
  PlanPtr plan;
  DevicePtr device;
  ModelPtr model;
  SessionPtr session;
};

struct PortInfo {
  std::string name;
  DType dtype = DType::float32;
  int32_t rank = 0;
  std::string hint_kind;
  double hint_low = 0, hint_high = 0;
};
Result<std::vector<PortInfo>> input_ports(const ge_model* model);
Result<std::vector<PortInfo>> output_ports(const ge_model* model);
// Dims of a port under the session's binding.
Result<std::vector<int64_t>> input_dims(ge_session* session, int32_t index);
Result<HostTensor> read_output(ge_session* session, int32_t index);
// Index of `name`; the code is unknown_input or unknown_output, with the nearest name.
Result<int32_t> find_port(const std::vector<PortInfo>& ports, const std::string& name, Code missing);

}  // namespace ge

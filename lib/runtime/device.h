// What a device does for the runtime: memory, copies, resolving kernels and running prepared steps.
// Entry: Device (cpu/device.cpp and cuda/device.cpp implement it). Invariant: the code above it (model,
// session, block_runner) never asks which kind of device it has.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "contract/plan_bind.h"
#include "contract/plan_verify.h"
#include "kernels/launch_context.h"

namespace ge {

// A range of device memory that can grow. 256-byte aligned.
class Memory {
 public:
  virtual ~Memory() = default;
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  // Makes at least `size_bytes` usable; contents survive only where base() stays. out_of_memory,
  // device_memory.
  virtual Status grow(int64_t size_bytes) = 0;
  std::byte* base() const { return base_; }
  int64_t size_bytes() const { return size_bytes_; }

 protected:
  std::byte* base_ = nullptr;
  int64_t size_bytes_ = 0;
};

// Where a run's commands go. One per session; one thread at a time.
class Stream;

// One step of a binding, ready to be enqueued any number of times. Everything it needs was computed when it
// was made.
class DeviceStep {
 public:
  virtual ~DeviceStep() = default;
  virtual Status enqueue(Stream& stream) = 0;
  // The library that computes it where that is not ge's own code ("oneDNN"), else null.
  virtual const char* library() const { return nullptr; }
};

// One launch under one binding: all that a kernel may look at to prepare itself.
struct LaunchSite {
  std::span<const TensorView> operands;  // data pointers are final; absent ones have rank -1
  const Choice* choice = nullptr;
  const BoundLaunch* bound = nullptr;  // grid, block, cluster, shared memory
  bool dependent_launch = false;       // may start before the launch enqueued just before it ends
  uint32_t launch = 0;                 // what a fault records
  void* device_block = nullptr;
};

// A kernel of the plan resolved on one device; shared by sessions and threads.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual Result<std::unique_ptr<DeviceStep>> bind(const LaunchSite& site, Stream& stream) = 0;
};

// Steps between two control steps: they run in order with no host decision among them. A device may record
// them.
class Recording {
 public:
  virtual ~Recording() = default;
};
struct StraightRun {
  std::vector<std::unique_ptr<DeviceStep>> steps;
  std::vector<uint32_t> entries;         // profile entry of each step
  bool reads_fault = false;              // ends by making the fault record readable
  std::unique_ptr<Recording> recording;  // the device's, made when it wants one
  uint32_t runs = 0;
};

// Times of one profiled run by entry: microseconds in all, and how often the step ran (loops).
struct StepTimes {
  explicit StepTimes(size_t entries) : time_us(entries), count(entries) {}
  void add(uint32_t entry, double us) {
    time_us[entry] += us;
    ++count[entry];
  }
  std::vector<double> time_us;
  std::vector<uint32_t> count;
};

class Stream {
 public:
  virtual ~Stream() = default;
  // Enqueues every step (on CUDA: directly, then recorded, then replayed). CPU: done on return.
  virtual Status run(StraightRun& steps) = 0;
  // Runs each step by itself, timed. Waits.
  virtual Status profile(StraightRun& steps, StepTimes& times) = 0;
  // Waits for all that was enqueued.
  virtual Status wait() = 0;
  // The fault that kernels noted up to the last wait(); kind 0: none. It is cleared.
  virtual Result<FaultRecord> take_fault() = 0;
  // Waits for what was enqueued and copies to host memory.
  virtual Status read(void* host, const void* device, int64_t size_bytes) = 0;
  // Enqueues a write of a few bytes into device memory (loop counters); `host` may be reused on return.
  virtual Status write(void* device, const void* host, int64_t size_bytes) = 0;
  // Time on the device between two marks, microseconds; see Session::time.
  virtual Status mark(bool end) = 0;
  virtual Result<double> marked_us() = 0;
  // The device block: kDeviceBlockBytes, zeroed, at a fixed address.
  virtual void* device_block() const = 0;
  // Steps that are no kernels. Views: same dims, same dtype.
  virtual Result<std::unique_ptr<DeviceStep>> bind_copy(const TensorView& from, const TensorView& to) = 0;
  virtual Result<std::unique_ptr<DeviceStep>> bind_fill(const TensorView& to, uint64_t bits) = 0;
};

struct StreamOptions {
  void* cuda_stream = nullptr;
  bool no_graph = false;
};

class PlanHandle;

class Device {
 public:
  virtual ~Device() = default;
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  bool is_cuda() const { return is_cuda_; }
  virtual const std::string& name() const = 0;
  const std::string& target() const { return target_; }

  // Makes the device current on this thread and gives what leave() restores. Use CurrentDevice.
  virtual void* enter() { return nullptr; }
  virtual void leave(void*) {}

  virtual Result<std::unique_ptr<Memory>> create_memory() = 0;
  // Memory that both host and device can read: values that steer the host (ReadDims, If, Loop).
  virtual Result<std::unique_ptr<Memory>> create_host_memory() = 0;
  // Kernels use host addresses: data may be put in place without a copy.
  bool reads_host_memory() const { return !is_cuda_; }
  // Blocking copies between host memory and device memory.
  virtual Status write(void* device, const void* host, int64_t size_bytes) = 0;
  virtual Status read(void* host, const void* device, int64_t size_bytes) = 0;
  // Calls body(begin, end) over [0, count) on the device's host threads.
  virtual void parallel_for(int64_t count, void* closure, RangeFunction body) = 0;
  virtual Result<std::unique_ptr<Stream>> create_stream(const StreamOptions& options) = 0;
  // Resolves kernel `index` of the plan. unknown_kernel, code_not_trusted, no_target, library_missing,
  // driver_error.
  virtual Result<std::unique_ptr<Kernel>> resolve(const PlanHandle& plan, const PlanKernels& kernels,
                                                  uint32_t index) = 0;
  // The fastest kernel of products (operands of dot_*) that needs no plan, for measuring. library_missing,
  // launch_refused where the device has none for `dtype`.
  virtual Result<std::unique_ptr<Kernel>> product_kernel(DType dtype) = 0;
  // Microseconds that opening it took.
  double open_us() const { return open_us_; }
  void set_open_us(double us) { open_us_ = us; }
  // What a launch may ask for; plan_bind checks against it.
  const DeviceLimits& limits() const { return limits_; }
  virtual int64_t free_memory_bytes() const = 0;

 protected:
  bool is_cuda_ = false;
  std::string target_;
  double open_us_ = 0;
  DeviceLimits limits_;
};

// Holds the device current for a scope. Every public function of Model and Session has one.
class CurrentDevice {
 public:
  explicit CurrentDevice(Device& device) : device_(device), former_(device.enter()) {}
  ~CurrentDevice() { device_.leave(former_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  Device& device_;
  void* former_;
};

struct DeviceOptions {
  bool cuda = false;
  int32_t index = 0;
  int32_t threads = 0;
  void* cuda_context = nullptr;
};
// Errors: no_gpu, driver_error.
Result<std::unique_ptr<Device>> open_device(const DeviceOptions& options);
// The optional library of CPU products: its version and file, or why there is none. Opens it.
const std::string& cpu_library();
// Without making a context; 0 where there is no driver or no such device.
int32_t cuda_device_count();
int32_t cuda_device_arch(int32_t index);
// no_gpu with the reason where no GPU can be used.
Status cuda_available();

}  // namespace ge

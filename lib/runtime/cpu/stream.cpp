#include "runtime/cpu/stream.h"

#include <cstring>
#include <utility>

#include "platform/clock.h"
#include "runtime/cpu/copy_fill.h"

namespace ge::cpu {

CpuStream::CpuStream(ThreadPool& pool) : scratch_(pool), block_(std::make_unique<Block>()) {
  std::memset(block_.get(), 0, sizeof(Block));
}

Status CpuStream::run(StraightRun& steps) {
  for (const auto& step : steps.steps) GE_TRY(step->enqueue(*this));
  ++steps.runs;
  return {};
}

Status CpuStream::profile(StraightRun& steps, StepTimes& times) {
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    const int64_t begin = monotonic_ns();
    GE_TRY(steps.steps[i]->enqueue(*this));
    times.add(steps.entries[i], static_cast<double>(monotonic_ns() - begin) / 1000);
  }
  return {};
}

Result<FaultRecord> CpuStream::take_fault() {
  return std::exchange(fault_record(), FaultRecord{});
}

Status CpuStream::read(void* host, const void* device, int64_t size_bytes) {
  if (size_bytes > 0) std::memcpy(host, device, static_cast<size_t>(size_bytes));  // empty: both may be null
  return {};
}

Status CpuStream::write(void* device, const void* host, int64_t size_bytes) {
  if (size_bytes > 0) std::memcpy(device, host, static_cast<size_t>(size_bytes));
  return {};
}

Status CpuStream::mark(bool end) {
  const int64_t now = monotonic_ns();
  if (end) {
    marked_us_ = static_cast<double>(now - marked_ns_) / 1000;
  } else {
    marked_ns_ = now;
  }
  return {};
}

LaunchContext CpuStream::context(uint32_t launch) {
  LaunchContext context;
  context.parallel = Scratch::parallel;
  context.pool = &scratch_;
  context.threads = scratch_.threads();
  context.scratch = Scratch::scratch;
  context.fault = &fault_record();
  context.launch = launch;
  return context;
}

Result<std::unique_ptr<DeviceStep>> CpuStream::bind_copy(const TensorView& from, const TensorView& to) {
  return make_copy(from, to);
}
Result<std::unique_ptr<DeviceStep>> CpuStream::bind_fill(const TensorView& to, uint64_t bits) {
  return make_fill(to, bits);
}

}  // namespace ge::cpu

// The CPU's stream: steps run on the calling thread (and the pool) as they come. Entry: cpu::Stream.
// Invariant: run() allocates nothing; everything was made when the steps were bound.
#pragma once
#include <memory>

#include "runtime/cpu/scratch.h"
#include "runtime/device.h"

namespace ge::cpu {

class CpuStream : public Stream {
 public:
  explicit CpuStream(ThreadPool& pool);
  Status run(StraightRun& steps) override;
  Status profile(StraightRun& steps, StepTimes& times) override;
  Status wait() override { return {}; }
  Result<FaultRecord> take_fault() override;
  Status read(void* host, const void* device, int64_t size_bytes) override;
  Status write(void* device, const void* host, int64_t size_bytes) override;
  Status mark(bool end) override;
  Result<double> marked_us() override { return marked_us_; }
  void* device_block() const override { return block_.get(); }
  Result<std::unique_ptr<DeviceStep>> bind_copy(const TensorView& from, const TensorView& to) override;
  Result<std::unique_ptr<DeviceStep>> bind_fill(const TensorView& to, uint64_t bits) override;

  // The context of a launch on this stream.
  LaunchContext context(uint32_t launch);
  Scratch& scratch() { return scratch_; }

 private:
  FaultRecord& fault_record() const { return *reinterpret_cast<FaultRecord*>(block_.get()); }
  struct alignas(256) Block {
    std::byte bytes[kDeviceBlockBytes];
  };
  Scratch scratch_;
  std::unique_ptr<Block> block_;
  int64_t marked_ns_ = 0;
  double marked_us_ = 0;
};

}  // namespace ge::cpu

// A CUDA stream that launches a straight run directly the first time, records it the second and replays it
// afterwards. Entry: CudaStream. Invariant: one enqueue() per step serves direct runs, recording and
// profiling; replay touches no step.
#pragma once
#include <memory>
#include <vector>

#include "runtime/cuda/context.h"
#include "runtime/cuda/memory.h"
#include "runtime/device.h"

namespace ge::cuda {

class CudaStream : public Stream {
 public:
  static Result<std::unique_ptr<Stream>> create(const Gpu& gpu, const StreamOptions& options);
  ~CudaStream() override;

  Status run(StraightRun& steps) override;
  Status profile(StraightRun& steps, StepTimes& times) override;
  Status wait() override;
  Result<FaultRecord> take_fault() override;
  Status read(void* host, const void* device, int64_t size_bytes) override;
  Status write(void* device, const void* host, int64_t size_bytes) override;
  Status mark(bool end) override;
  Result<double> marked_us() override;
  void* device_block() const override { return block_.base(); }
  Result<std::unique_ptr<DeviceStep>> bind_copy(const TensorView& from, const TensorView& to) override;
  Result<std::unique_ptr<DeviceStep>> bind_fill(const TensorView& to, uint64_t bits) override;

  // For steps: where to enqueue now (the stream, or the one being recorded).
  CUstream target() const { return target_; }
  const Gpu& gpu() const { return gpu_; }
  // Workspace for libraries, `kWorkspaceBytes`; taken on first use, at bind. Shared by this stream's steps,
  // which run in order.
  Result<void*> workspace();
  static constexpr int64_t kWorkspaceBytes = 32 << 20;

 private:
  explicit CudaStream(const Gpu& gpu) : gpu_(gpu), block_(gpu), workspace_(gpu), fault_copy_(gpu) {}
  Status init(const StreamOptions& options);
  Status enqueue_all(StraightRun& steps);
  Status record(StraightRun& steps);
  template <class Body>
  Result<CUgraphExec> capture(Body&& body);

  const Gpu& gpu_;
  CUstream stream_ = nullptr;    // runs go here: the caller's or our own
  CUstream recorder_ = nullptr;  // capturing happens here, never on the caller's stream
  CUstream target_ = nullptr;
  bool owns_stream_ = false;
  bool no_graph_ = false;
  DeviceMemory block_, workspace_;
  PinnedMemory fault_copy_;
  CUevent begin_ = nullptr, end_ = nullptr;
};

}  // namespace ge::cuda

#include "runtime/cuda/stream.h"

#include <cstring>

#include "runtime/cuda/copy_fill.h"
#include "runtime/cuda/recorder.h"

namespace ge::cuda {

Result<std::unique_ptr<Stream>> CudaStream::create(const Gpu& gpu, const StreamOptions& options) {
  auto stream = std::unique_ptr<CudaStream>(new CudaStream(gpu));
  GE_TRY(stream->init(options));
  return std::unique_ptr<Stream>(std::move(stream));
}

Status CudaStream::init(const StreamOptions& options) {
  const Driver& api = *gpu_.api;
  no_graph_ = options.no_graph;
  stream_ = static_cast<CUstream>(options.cuda_stream);
  if (!stream_) {
    GE_CU(api, cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
    owns_stream_ = true;
  }
  GE_CU(api, cuStreamCreate, &recorder_, CU_STREAM_NON_BLOCKING);
  target_ = stream_;
  GE_CU(api, cuEventCreate, &begin_, CU_EVENT_DEFAULT);
  GE_CU(api, cuEventCreate, &end_, CU_EVENT_DEFAULT);
  GE_TRY(block_.grow(kDeviceBlockBytes));
  GE_TRY(fault_copy_.grow(sizeof(FaultRecord)));
  std::memset(fault_copy_.base(), 0, sizeof(FaultRecord));
  GE_CU(api, cuMemsetD8, address(block_.base()), 0, kDeviceBlockBytes);
  GE_CU(api, cuStreamSynchronize, nullptr);  // our stream does not wait for the default one
  return {};
}

CudaStream::~CudaStream() {
  const Driver& api = *gpu_.api;
  if (stream_) api.cuStreamSynchronize(stream_);
  if (begin_) api.cuEventDestroy(begin_);
  if (end_) api.cuEventDestroy(end_);
  if (recorder_) api.cuStreamDestroy(recorder_);
  if (stream_ && owns_stream_) api.cuStreamDestroy(stream_);
}

Status CudaStream::run(StraightRun& steps) {
  const Driver& api = *gpu_.api;
  if (steps.steps.empty() && !steps.reads_fault) return {};
  const uint32_t former_runs = steps.runs++;
  if (no_graph_ || former_runs == 0) return enqueue_all(steps);
  if (!steps.recording) GE_TRY(record(steps));
  const auto& recording = static_cast<const GraphRecording&>(*steps.recording);
  GE_CU(api, cuGraphLaunch, recording.graph(), stream_);
  return {};
}

Status CudaStream::enqueue_all(StraightRun& steps) {
  for (const auto& step : steps.steps) GE_TRY(step->enqueue(*this));
  if (steps.reads_fault) {
    GE_CU(*gpu_.api, cuMemcpyDtoHAsync, fault_copy_.base(), address(block_.base()), sizeof(FaultRecord),
          target_);
  }
  return {};
}

Status CudaStream::record(StraightRun& steps) {
  GE_ASSIGN(const CUgraphExec graph, capture([&] { return enqueue_all(steps); }));
  steps.recording = std::make_unique<GraphRecording>(gpu_, graph);
  GE_CU(*gpu_.api, cuGraphUpload, graph, stream_);
  return {};
}

template <class Body>
Result<CUgraphExec> CudaStream::capture(Body&& body) {
  const Driver& api = *gpu_.api;
  GE_CU(api, cuStreamBeginCapture, recorder_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  target_ = recorder_;
  Status status = body();
  target_ = stream_;
  CUgraph graph = nullptr;
  const CUresult ended = api.cuStreamEndCapture(recorder_, &graph);
  if (!status.ok()) {
    if (graph) api.cuGraphDestroy(graph);
    return std::move(status).take_error().with_frame("while recording a CUDA graph");
  }
  GE_TRY(check(api, ended, "cuStreamEndCapture"));
  CUgraphExec exec = nullptr;
  status = check(api, api.cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiateWithFlags");
  api.cuGraphDestroy(graph);
  GE_TRY(std::move(status));
  return exec;
}

// One graph with an event after every step: the times are the GPU's own and hold no launch latency of the
// host.
Status CudaStream::profile(StraightRun& steps, StepTimes& times) {
  if (steps.steps.empty()) return run(steps);
  const Driver& api = *gpu_.api;
  GE_ASSIGN(auto events, EventList::create(gpu_, steps.steps.size() + 1));
  GE_ASSIGN(const CUgraphExec graph, capture([&]() -> Status {
              GE_CU(api, cuEventRecordWithFlags, events->at(0), target_, CU_EVENT_RECORD_EXTERNAL);
              for (size_t i = 0; i < steps.steps.size(); ++i) {
                GE_TRY(steps.steps[i]->enqueue(*this));
                GE_CU(api, cuEventRecordWithFlags, events->at(i + 1), target_, CU_EVENT_RECORD_EXTERNAL);
              }
              return {};
            }));
  const GraphRecording timed(gpu_, graph);
  GE_CU(api, cuGraphLaunch, graph, stream_);
  if (steps.reads_fault) {
    GE_CU(api, cuMemcpyDtoHAsync, fault_copy_.base(), address(block_.base()), sizeof(FaultRecord), stream_);
  }
  GE_TRY(wait());
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    float ms = 0;
    GE_CU(api, cuEventElapsedTime, &ms, events->at(i), events->at(i + 1));
    times.add(steps.entries[i], static_cast<double>(ms) * 1000);
  }
  return {};
}

Status CudaStream::wait() {
  GE_CU(*gpu_.api, cuStreamSynchronize, stream_);
  return {};
}

Result<FaultRecord> CudaStream::take_fault() {
  FaultRecord fault;
  std::memcpy(&fault, fault_copy_.base(), sizeof fault);
  if (fault.kind == 0) return fault;
  std::memset(fault_copy_.base(), 0, sizeof fault);
  GE_CU(*gpu_.api, cuMemsetD8Async, address(block_.base()), 0, sizeof fault, stream_);
  GE_TRY(wait());
  return fault;
}

Status CudaStream::read(void* host, const void* device, int64_t size_bytes) {
  if (size_bytes == 0) return wait();
  GE_CU(*gpu_.api, cuMemcpyDtoHAsync, host, address(device), static_cast<size_t>(size_bytes), stream_);
  return wait();
}

Status CudaStream::write(void* device, const void* host, int64_t size_bytes) {
  if (size_bytes == 0) return {};
  // From pageable memory the driver has taken its copy when this returns.
  GE_CU(*gpu_.api, cuMemcpyHtoDAsync, address(device), host, static_cast<size_t>(size_bytes), stream_);
  return {};
}

Status CudaStream::mark(bool end) {
  GE_CU(*gpu_.api, cuEventRecord, end ? end_ : begin_, stream_);
  return {};
}

Result<double> CudaStream::marked_us() {
  float ms = 0;
  GE_CU(*gpu_.api, cuEventSynchronize, end_);
  GE_CU(*gpu_.api, cuEventElapsedTime, &ms, begin_, end_);
  return static_cast<double>(ms) * 1000;
}

Result<void*> CudaStream::workspace() {
  GE_TRY(workspace_.grow(kWorkspaceBytes));
  return static_cast<void*>(workspace_.base());
}

Result<std::unique_ptr<DeviceStep>> CudaStream::bind_copy(const TensorView& from, const TensorView& to) {
  return make_copy(from, to);
}
Result<std::unique_ptr<DeviceStep>> CudaStream::bind_fill(const TensorView& to, uint64_t bits) {
  return make_fill(to, bits);
}

}  // namespace ge::cuda

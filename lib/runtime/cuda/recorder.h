// What a recording owns. Entry: GraphRecording (an instantiated CUDA graph), EventList (timing marks).
#pragma once
#include <memory>
#include <vector>

#include "runtime/cuda/context.h"
#include "runtime/device.h"

namespace ge::cuda {

class GraphRecording : public Recording {
 public:
  GraphRecording(const Gpu& gpu, CUgraphExec graph) : gpu_(gpu), graph_(graph) {}
  ~GraphRecording() override { gpu_.api->cuGraphExecDestroy(graph_); }
  CUgraphExec graph() const { return graph_; }

 private:
  const Gpu& gpu_;
  CUgraphExec graph_;
};

class EventList {
 public:
  static Result<std::unique_ptr<EventList>> create(const Gpu& gpu, size_t count) {
    auto list = std::unique_ptr<EventList>(new EventList(gpu));
    list->events_.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      CUevent event = nullptr;
      GE_CU(*gpu.api, cuEventCreate, &event, CU_EVENT_DEFAULT);
      list->events_.push_back(event);
    }
    return list;
  }
  ~EventList() {
    for (CUevent event : events_) gpu_.api->cuEventDestroy(event);
  }
  EventList(const EventList&) = delete;
  EventList& operator=(const EventList&) = delete;
  CUevent at(size_t i) const { return events_[i]; }

 private:
  explicit EventList(const Gpu& gpu) : gpu_(gpu) {}
  const Gpu& gpu_;
  std::vector<CUevent> events_;
};

}  // namespace ge::cuda

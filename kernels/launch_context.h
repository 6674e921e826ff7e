// What a CPU kernel gets besides its arguments: the thread pool, scratch memory, its code and where to note a
// fault. Entry: LaunchContext. Kernels know nothing else of the runtime.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ge {

struct LoopProgram;

enum class FaultKind : uint32_t { kNone = 0, kIndexOutOfRange = 1 };
// The first fault of a run: a kernel clamps, notes and goes on; the run then ends with the node's name. On
// CUDA the same struct stands at the start of the device block.
struct FaultRecord {
  uint32_t kind = 0;    // FaultKind; 0: none. Written last, by compare-and-swap from 0 to 0xffffffff first.
  uint32_t launch = 0;  // number of the launch: LaunchContext::launch, on CUDA the ArgSource::kLaunch field
  int64_t value = 0;    // the offending index
};

using RangeFunction = void (*)(void* closure, int64_t begin, int64_t end);
struct LaunchContext {
  // Runs body over [0, count) in pieces of at least `grain`, on all threads; the pieces do not depend on the
  // thread count where `fixed pieces` matter: results must be the same bits for any number of threads, so
  // never split a reduction.
  void (*parallel)(void* pool, int64_t count, int64_t grain, RangeFunction body, void* closure) = nullptr;
  void* pool = nullptr;
  int threads = 1;
  // Per-thread scratch that lives until the launch ends; nullptr never (a session reserves it at bind),
  // 64-byte aligned.
  std::byte* (*scratch)(void* pool, size_t size_bytes) = nullptr;
  FaultRecord* fault = nullptr;
  uint32_t launch = 0;
  const LoopProgram* loop = nullptr;  // generated CPU kernels: their program

  template <class F>
  void parallel_for(int64_t count, int64_t grain, F&& body) const {
    auto call = [](void* closure, int64_t begin, int64_t end) { (*static_cast<F*>(closure))(begin, end); };
    parallel(pool, count, grain, call, &body);
  }
  void note_fault(FaultKind kind, int64_t value) const {
    uint32_t none = 0;
    std::atomic_ref<uint32_t> state(fault->kind);
    if (!state.compare_exchange_strong(none, 0xffffffffu)) return;
    fault->launch = launch;
    fault->value = value;
    state.store(static_cast<uint32_t>(kind));
  }
};

}  // namespace ge

#include "runtime/load_weights.h"

#include <algorithm>
#include <mutex>

#include "base/checked_math.h"

namespace ge {
namespace {

// Blobs in the file's order, cut into runs of about kRunBytes: one reader works through a run, so a chunk
// that two blobs share is read once by it.
constexpr uint64_t kRunBytes = 32 << 20;

struct Run {
  std::vector<uint32_t> blobs;
  uint64_t size_bytes = 0;
};

std::vector<Run> make_runs(const Plan& plan, const BlobPlacement& placement) {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < plan.blobs.size(); ++i) {
    if (placement.offsets[i] >= 0 && plan.blobs[i].size_bytes > 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return plan.blobs[a].offset < plan.blobs[b].offset; });
  std::vector<Run> runs;
  for (uint32_t blob : order) {
    if (runs.empty() || runs.back().size_bytes >= kRunBytes) runs.emplace_back();
    runs.back().blobs.push_back(blob);
    runs.back().size_bytes += plan.blobs[blob].size_bytes;
  }
  return runs;
}

Status load_run(const PlanFile& file, const BlobPlacement& placement, const Run& run, Device& device,
                std::byte* base) {
  WeightReader reader(file);
  const CurrentDevice current(device);
  for (uint32_t index : run.blobs) {
    const Blob& blob = file.plan.blobs[index];
    std::byte* to = base + placement.offsets[index];
    if (device.reads_host_memory()) {
      GE_TRY(reader.read(blob, {to, blob.size_bytes}));
      continue;
    }
    ByteBuffer staging = ByteBuffer::allocate(blob.size_bytes);
    if (!staging.data())
      return fail(Code::out_of_memory)
          .because("a weight of " + std::to_string(blob.size_bytes) + " bytes passes through host memory");
    GE_TRY(reader.read(blob, staging.span()));
    GE_TRY(device.write(to, staging.data(), static_cast<int64_t>(blob.size_bytes)));
  }
  return {};
}

}  // namespace

BlobPlacement place_blobs(const Plan& plan, const Program& program) {
  BlobPlacement placement;
  placement.offsets.assign(plan.blobs.size(), -1);
  for (const Buffer& buffer : program.buffers) {
    if (buffer.region != Region::kWeights || placement.offsets[buffer.blob] >= 0) continue;
    placement.offsets[buffer.blob] = placement.size_bytes;
    placement.size_bytes +=
        align_up(static_cast<int64_t>(plan.blobs[buffer.blob].size_bytes), kBufferAlignment);
  }
  return placement;
}

Status load_blobs(const PlanFile& file, const BlobPlacement& placement, Device& device, std::byte* base) {
  const std::vector<Run> runs = make_runs(file.plan, placement);
  std::mutex mutex;
  ErrorList errors;
  auto load = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Status status = load_run(file, placement, runs[static_cast<size_t>(i)], device, base);
      if (status.ok()) continue;
      const std::lock_guard lock(mutex);
      if (errors.empty()) errors.add(std::move(status).take_error());
    }
  };
  device.parallel_for(static_cast<int64_t>(runs.size()), &load,
                      [](void* closure, int64_t begin, int64_t end) {
                        (*static_cast<decltype(load)*>(closure))(begin, end);
                      });
  return errors.take();
}

}  // namespace ge

// Copies the blobs that a program uses from the plan file to device memory, each once, checked chunk by
// chunk. Entry: place_blobs, load_blobs.
#pragma once
#include <vector>

#include "runtime/device.h"
#include "runtime/plan.h"

namespace ge {

struct BlobPlacement {
  std::vector<int64_t> offsets;  // by blob; -1: the program does not use it
  int64_t size_bytes = 0;        // of all of them, each at a multiple of kBufferAlignment
};
BlobPlacement place_blobs(const Plan& plan, const Program& program);
// Reads with all of the device's host threads. `base` holds placement.size_bytes. Errors: plan_checksum,
// file_unreadable.
Status load_blobs(const PlanFile& file, const BlobPlacement& placement, Device& device, std::byte* base);

}  // namespace ge

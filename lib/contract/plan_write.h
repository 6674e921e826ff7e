// Writing a plan file. Entry: write_plan. Invariant: the same plan and bytes give the same file, byte for
// byte.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "contract/plan.h"

namespace ge {

// Yields the bytes of images and blobs one at a time; each span lives until the next call. Blobs are asked
// for twice, in order: once for the checksums, which stand before them in the file, once to write.
struct PlanBytes {
  std::function<Result<ByteSpan>(uint32_t image)> image;
  std::function<Result<ByteSpan>(uint32_t blob)> blob;
};
// Asked once the plan is laid out, before its first byte is written; `code` is the code section.
using PlanCheck = std::function<Status(const Plan&, ByteSpan code)>;
using PlanSink = std::function<Status(ByteSpan)>;  // appends; AtomicFile::write fits

// Fills offset, size_bytes and hash of plan.images and plan.blobs, then writes the file from front to back. A
// blob's bytes must be bytes_of(dtype, product of dims) long (internal otherwise).
Status write_plan(Plan& plan, const PlanBytes& bytes, const PlanSink& sink, const PlanCheck& check = {});
// For small plans and tests: the whole file in memory.
Result<std::vector<std::byte>> write_plan_bytes(Plan& plan, const PlanBytes& bytes);
// The program section alone.
std::vector<std::byte> encode_program(const Plan& plan);

}  // namespace ge

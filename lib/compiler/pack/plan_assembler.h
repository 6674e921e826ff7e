// What the programs of one plan share: kernels, device code and weights, each once. Entry: PlanAssembler.
// Invariant: a content (weights, bytecode, code) stands once however often it is asked for.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/ir/graph.h"
#include "contract/plan.h"
#include "contract/plan_write.h"

namespace ge {

class PlanAssembler {
 public:
  Plan plan;

  uint32_t builtin_kernel(const KernelRow& row);
  uint32_t generated_kernel(KernelDesc description, uint32_t image);
  uint32_t add_image(std::string format, std::string arch, std::vector<std::byte> bytes);
  // The tensor's contents in the weights section; reads them if they are still in a file. Bytes decide, not
  // dims: a reshaped tensor has the same. What is remade is not kept.
  Result<uint32_t> blob(const TensorData& data);
  PlanBytes bytes() const;

 private:
  std::vector<std::vector<std::byte>> images_;
  // Contents, or how they are made again.
  struct Content {
    std::shared_ptr<const ByteBuffer> bytes;
    TensorData source;
    std::string hash;
  };
  Result<ByteSpan> content(uint32_t blob) const;
  std::vector<Content> blobs_;
  mutable std::shared_ptr<const ByteBuffer> remade_;  // the last one asked for
  std::map<std::string, uint32_t> image_by_hash_, blob_by_hash_;
  std::map<const void*, uint32_t> blob_by_source_;  // same TensorData storage, not read twice
};

}  // namespace ge

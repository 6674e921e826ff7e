#include "compiler/pack/plan_assembler.h"

#include "contract/hash.h"

namespace ge {

uint32_t PlanAssembler::builtin_kernel(const KernelRow& row) {
  for (uint32_t i = 0; i < plan.kernels.size(); ++i)
    if (plan.kernels[i].name == row.name && plan.kernels[i].kind == row.kind) return i;
  plan.kernels.push_back({std::string(row.name), row.revision, row.kind, {}, kNoIndex});
  return static_cast<uint32_t>(plan.kernels.size() - 1);
}

uint32_t PlanAssembler::generated_kernel(KernelDesc description, uint32_t image) {
  // One code may be described in several ways (what it may take for granted of its views differs): each has a
  // name.
  const std::string name = description.name;
  int same_name = 0;
  for (uint32_t i = 0; i < plan.kernels.size(); ++i) {
    const KernelRef& known = plan.kernels[i];
    if (known.kind != KernelKind::kGenerated || known.image != image ||
        known.generated[0].symbol != description.symbol)
      continue;
    description.name = known.name;
    if (known.generated[0] == description) return i;
    same_name += known.name.starts_with(name);
  }
  description.name = same_name == 0 ? name : name + "_" + std::to_string(same_name + 1);
  KernelRef ref{description.name, description.revision, KernelKind::kGenerated, {}, image};
  ref.generated.push_back(std::move(description));
  plan.kernels.push_back(std::move(ref));
  return static_cast<uint32_t>(plan.kernels.size() - 1);
}

uint32_t PlanAssembler::add_image(std::string format, std::string arch, std::vector<std::byte> bytes) {
  const std::string key = format + arch + hash128_hex(bytes);
  const auto [it, fresh] = image_by_hash_.emplace(key, static_cast<uint32_t>(plan.images.size()));
  if (fresh) {
    plan.images.push_back({"", std::move(format), std::move(arch), 0, 0});
    images_.push_back(std::move(bytes));
  }
  return it->second;
}

Result<uint32_t> PlanAssembler::blob(const TensorData& data) {
  const void* source = data.load ? static_cast<const void*>(data.load.get()) : data.bytes.get();
  if (const auto known = blob_by_source_.find(source); known != blob_by_source_.end()) return known->second;
  GE_ASSIGN(std::shared_ptr<const ByteBuffer> bytes, full_bytes(data));
  std::string hash = hash128_hex(bytes->span());
  const std::string key = std::string(name_of(data.dtype)) + hash + "," + std::to_string(data.count());
  const auto [it, fresh] = blob_by_hash_.emplace(key, static_cast<uint32_t>(plan.blobs.size()));
  if (fresh) {
    plan.blobs.push_back({"", data.dtype, data.dims, 0, 0});
    if (data.remade)
      blobs_.push_back({nullptr, data, std::move(hash)});
    else
      blobs_.push_back({std::move(bytes), {}, {}});
  }
  blob_by_source_.emplace(source, it->second);
  return it->second;
}

Result<ByteSpan> PlanAssembler::content(uint32_t blob) const {
  const Content& content = blobs_[blob];
  if (content.bytes != nullptr) return content.bytes->span();
  remade_ = nullptr;
  GE_ASSIGN(remade_, full_bytes(content.source));
  if (hash128_hex(remade_->span()) != content.hash)
    return fail(Code::file_unreadable)
        .say("a file of weights changed while it was read")
        .try_("compile again");
  return remade_->span();
}

PlanBytes PlanAssembler::bytes() const {
  return {[this](uint32_t i) -> Result<ByteSpan> { return ByteSpan(images_[i]); },
          [this](uint32_t i) { return content(i); }};
}

}  // namespace ge

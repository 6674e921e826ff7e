// Sections of a plan file: read at offsets, checked, decoded; and blobs, checked chunk by chunk while copied.
#include "contract/plan_read.h"

#include <algorithm>

#include "contract/hash.h"

namespace ge {
namespace {

class FileSource final : public PlanSource {
 public:
  explicit FileSource(File file) : file_(std::move(file)) {}
  const std::string& name() const override { return file_.path(); }
  uint64_t size() const override { return static_cast<uint64_t>(file_.size()); }
  Status read_at(uint64_t offset, MutableByteSpan into) const override {
    return file_.read_at(static_cast<int64_t>(offset), into);
  }

 private:
  File file_;
};

class MemorySource final : public PlanSource {
 public:
  MemorySource(ByteBuffer bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  uint64_t size() const override { return bytes_.size(); }
  Status read_at(uint64_t offset, MutableByteSpan into) const override {
    if (offset > bytes_.size() || into.size() > bytes_.size() - offset)
      return fail(Code::plan_truncated).at(name_);
    std::copy_n(bytes_.data() + offset, into.size(), into.begin());
    return {};
  }
  ByteSpan held() const override { return bytes_.span(); }

 private:
  ByteBuffer bytes_;
  std::string name_;
};

Result<ByteBuffer> read_range(const PlanSource& source, uint64_t offset, uint64_t size) {
  ByteBuffer bytes = ByteBuffer::allocate(size);
  if (bytes.size() != size || (size > 0 && bytes.data() == nullptr))
    return fail(Code::out_of_memory).at(source.name());
  GE_TRY(source.read_at(offset, bytes.span()));
  return bytes;
}

Status check_section(const Section& section, ByteSpan bytes) {
  if (hash64(bytes) == section.hash) return {};
  return fail(Code::plan_checksum)
      .because("section " + std::string(name_of(section.kind)) + " is damaged")
      .try_("copy the plan again, or compile the model again");
}

Result<ByteBuffer> read_section(const PlanSource& source, const Section& section) {
  GE_ASSIGN(ByteBuffer bytes, read_range(source, section.offset, section.size_bytes));
  GE_TRY(check_section(section, bytes.span()));
  return bytes;
}

Result<Plan> read_program(const PlanSource& source, const Section& section) {
  if (source.held().empty()) {
    GE_ASSIGN(const ByteBuffer program, read_section(source, section));
    return decode_program(program.span());
  }
  const ByteSpan program = source.held().subspan(section.offset, section.size_bytes);
  GE_TRY(check_section(section, program));
  return decode_program(program);
}

// What lies between header and sections must be zero: no byte of a plan is free to vary.
Status check_padding(const PlanSource& source, const PlanHeader& header) {
  uint64_t end = kPlanHeaderBytes;
  for (const Section& s : header.sections) {
    GE_ASSIGN(const ByteBuffer gap, read_range(source, end, s.offset - end));
    if (std::ranges::any_of(gap.span(), [](std::byte b) { return b != std::byte{0}; })) {
      return fail(Code::plan_malformed)
          .because("bytes before section " + std::string(name_of(s.kind)) + " are not zero");
    }
    end = s.offset + s.size_bytes;
  }
  return {};
}

Result<PlanFile> read_parts(const PlanSource& source) {
  GE_ASSIGN(const ByteBuffer head,
            read_range(source, 0, std::min<uint64_t>(kPlanHeaderBytes, source.size())));
  PlanFile file;
  GE_ASSIGN(file.header, parse_header(head.span(), source.size()));
  GE_TRY(check_padding(source, file.header));
  GE_ASSIGN(file.code, read_section(source, file.header.section(SectionKind::kCode)));
  GE_ASSIGN(const ByteBuffer sums, read_section(source, file.header.section(SectionKind::kChecksums)));
  file.weight_checksums.resize(sums.size() / 8);
  if (sums.size() > 0) std::memcpy(file.weight_checksums.data(), sums.data(), sums.size());
  GE_ASSIGN(file.plan, read_program(source, file.header.section(SectionKind::kProgram)));
  const std::vector<Blob>& blobs = file.plan.blobs;
  const uint64_t end = blobs.empty() ? 0 : blobs.back().offset + blobs.back().size_bytes;
  if (end != file.header.section(SectionKind::kWeights).size_bytes) {
    return fail(Code::plan_malformed).in("/program/blobs").because("blobs do not fill the weights section");
  }
  return file;
}

}  // namespace

std::shared_ptr<const PlanSource> plan_source(File file) {
  return std::make_shared<FileSource>(std::move(file));
}
std::shared_ptr<const PlanSource> plan_source(ByteBuffer bytes, std::string name) {
  return std::make_shared<MemorySource>(std::move(bytes), std::move(name));
}

Result<PlanFile> read_plan(std::shared_ptr<const PlanSource> source) {
  auto file = read_parts(*source);
  if (!file.ok()) {
    Error error = std::move(file).take_error();
    for (Diagnostic& d : error.list()) {
      if (d.place.empty()) d.place = source->name();
    }
    return error;
  }
  file->source = std::move(source);
  return file;
}

Result<PlanFile> read_plan_file(const std::string& path) {
  GE_ASSIGN(File file, File::open(path));
  return read_plan(plan_source(std::move(file)));
}

Result<PlanFile> read_plan_bytes(ByteSpan bytes) {
  ByteBuffer copy = ByteBuffer::copy_of(bytes);
  if (copy.size() != bytes.size()) return fail(Code::out_of_memory).say("out of memory while copying a plan");
  return read_plan(plan_source(std::move(copy)));
}

Status WeightReader::load_chunk(uint64_t index, MutableByteSpan into) {
  const Section& weights = file_.header.section(SectionKind::kWeights);
  GE_TRY(file_.source->read_at(weights.offset + index * kChecksumChunk, into));
  if (hash64(into) == file_.weight_checksums[index]) return {};
  return fail(Code::plan_checksum)
      .at(file_.source->name())
      .because("weights are damaged in the 4 MiB from byte " +
               std::to_string(weights.offset + index * kChecksumChunk))
      .try_("copy the plan again, or compile the model again");
}

Status WeightReader::read(const Blob& blob, MutableByteSpan into) {
  const uint64_t size = file_.header.section(SectionKind::kWeights).size_bytes;
  if (blob.offset > size || blob.size_bytes > size - blob.offset || into.size() != blob.size_bytes) {
    return fail(Code::plan_malformed)
        .at(file_.source->name())
        .because("a weight lies outside the weights section");
  }
  for (uint64_t done = 0; done < blob.size_bytes;) {
    const uint64_t at = blob.offset + done, index = at / kChecksumChunk, begin = index * kChecksumChunk;
    const uint64_t length = std::min<uint64_t>(kChecksumChunk, size - begin), skip = at - begin;
    const uint64_t n = std::min(length - skip, blob.size_bytes - done);
    if (n == length) {  // the whole chunk belongs to this blob: no second copy
      GE_TRY(load_chunk(index, into.subspan(done, n)));
    } else {
      if (loaded_ != index) {
        if (chunk_.size() == 0) chunk_ = ByteBuffer::allocate(std::min<uint64_t>(kChecksumChunk, size));
        if (chunk_.data() == nullptr) return fail(Code::out_of_memory).at(file_.source->name());
        loaded_ = UINT64_MAX;
        GE_TRY(load_chunk(index, chunk_.span().first(length)));
        loaded_ = index;
      }
      std::copy_n(chunk_.data() + skip, n, into.data() + done);
    }
    done += n;
  }
  return {};
}

}  // namespace ge

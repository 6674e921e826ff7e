// Program section from the records, then the file from front to back: header, code, program, checksums,
// weights.
#include "contract/plan_write.h"

#include <algorithm>
#include <array>

#include "contract/hash.h"
#include "contract/plan_document.h"
#include "contract/plan_layout.h"

namespace ge {
namespace {

// Hashes a stream in chunks of kChecksumChunk without holding more than one chunk.
class ChunkHasher {
 public:
  ChunkHasher() { chunk_.reserve(kChecksumChunk); }
  void add(ByteSpan bytes) {
    while (!bytes.empty()) {
      const size_t room = kChecksumChunk - chunk_.size(), n = std::min(room, bytes.size());
      if (chunk_.empty() && n == kChecksumChunk) {
        sums_.push_back(hash64(bytes.first(n)));
      } else {
        chunk_.insert(chunk_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
        if (chunk_.size() == kChecksumChunk) flush();
      }
      bytes = bytes.subspan(n);
    }
  }
  std::vector<uint64_t> finish() {
    if (!chunk_.empty()) flush();
    return std::move(sums_);
  }

 private:
  void flush() {
    sums_.push_back(hash64(chunk_));
    chunk_.clear();
  }
  std::vector<std::byte> chunk_;
  std::vector<uint64_t> sums_;
};

constexpr std::array<std::byte, kBlobAlignment> kZeros{};
constexpr uint64_t kImageAlignment = 64;

ByteSpan padding(uint64_t at, uint64_t alignment) {
  return ByteSpan(kZeros).first((alignment - at % alignment) % alignment);
}

Result<std::vector<std::byte>> gather_code(Plan& plan, const PlanBytes& bytes) {
  std::vector<std::byte> code;
  for (uint32_t i = 0; i < plan.images.size(); ++i) {
    Image& image = plan.images[i];
    GE_ASSIGN(const ByteSpan content, bytes.image(i));
    const ByteSpan pad = padding(code.size(), kImageAlignment);
    code.insert(code.end(), pad.begin(), pad.end());
    image.offset = code.size();
    image.size_bytes = content.size();
    image.hash = hash128_hex(content);
    code.insert(code.end(), content.begin(), content.end());
  }
  return code;
}

Status lay_out_blobs(Plan& plan, const PlanBytes& bytes, std::vector<uint64_t>& checksums,
                     uint64_t& weights_size) {
  ChunkHasher hasher;
  uint64_t end = 0;
  for (uint32_t i = 0; i < plan.blobs.size(); ++i) {
    Blob& blob = plan.blobs[i];
    GE_ASSIGN(const ByteSpan content, bytes.blob(i));
    int64_t count = 1;
    for (const int64_t d : blob.dims) count *= d;
    if (static_cast<int64_t>(content.size()) != bytes_of(blob.dtype, count))
      return fail(Code::internal).say("a weight's bytes do not fit its dims");
    const ByteSpan pad = padding(end, kBlobAlignment);
    hasher.add(pad);
    blob.offset = end + pad.size();
    blob.size_bytes = content.size();
    blob.hash = hash128_hex(content);
    hasher.add(content);
    end = blob.offset + blob.size_bytes;
  }
  checksums = hasher.finish();
  weights_size = end;
  return {};
}

Status write_section(const PlanSink& sink, uint64_t& at, const Section& section, ByteSpan bytes) {
  GE_TRY(sink(ByteSpan(kZeros).first(section.offset - at)));
  at = section.offset + section.size_bytes;
  return sink(bytes);
}

Status write_blobs(const Plan& plan, const PlanBytes& bytes, const PlanSink& sink) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < plan.blobs.size(); ++i) {
    const Blob& blob = plan.blobs[i];
    GE_TRY(sink(padding(at, kBlobAlignment)));
    GE_ASSIGN(const ByteSpan content, bytes.blob(i));
    if (content.size() != blob.size_bytes)
      return fail(Code::internal).say("a weight changed its size while being written");
    GE_TRY(sink(content));
    at = blob.offset + blob.size_bytes;
  }
  return {};
}

}  // namespace

std::vector<std::byte> encode_program(const Plan& plan) {
  DocumentBuilder builder;
  RecordWriter<PlanForm::kFile>(builder).put(plan);
  return to_cbor(std::move(builder).finish("plan"));
}

Status write_plan(Plan& plan, const PlanBytes& bytes, const PlanSink& sink, const PlanCheck& check) {
  GE_ASSIGN(const std::vector<std::byte> code, gather_code(plan, bytes));
  std::vector<uint64_t> checksums;
  PlanHeader header;
  header.format = kPlanFormat;
  GE_TRY(lay_out_blobs(plan, bytes, checksums, header.section(SectionKind::kWeights).size_bytes));
  if (check) GE_TRY(check(plan, code));
  const std::vector<std::byte> program = encode_program(plan);
  const ByteSpan sums = std::as_bytes(std::span(checksums));
  const auto fill = [&](SectionKind kind, ByteSpan content) {
    header.section(kind).size_bytes = content.size();
    header.section(kind).hash = hash64(content);
  };
  fill(SectionKind::kCode, code);
  fill(SectionKind::kProgram, program);
  fill(SectionKind::kChecksums, sums);
  place_sections(header);
  GE_TRY(sink(encode_header(header)));
  uint64_t at = kPlanHeaderBytes;
  GE_TRY(write_section(sink, at, header.section(SectionKind::kCode), code));
  GE_TRY(write_section(sink, at, header.section(SectionKind::kProgram), program));
  GE_TRY(write_section(sink, at, header.section(SectionKind::kChecksums), sums));
  GE_TRY(write_section(sink, at, header.section(SectionKind::kWeights), {}));
  return write_blobs(plan, bytes, sink);
}

Result<std::vector<std::byte>> write_plan_bytes(Plan& plan, const PlanBytes& bytes) {
  std::vector<std::byte> file;
  GE_TRY(write_plan(plan, bytes, [&](ByteSpan part) {
    file.insert(file.end(), part.begin(), part.end());
    return Status();
  }));
  return file;
}

}  // namespace ge

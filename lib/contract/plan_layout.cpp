// Header and section table. Every field of the header is checked: what is not named is not free to vary.
#include "contract/plan_layout.h"

#include <algorithm>
#include <string>

#include "contract/hash.h"
#include "contract/plan.h"

namespace ge {
namespace {

constexpr size_t kHashOffset = 24;  // of PlanHeader::hash in the file

uint64_t round_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

uint64_t size_limit(SectionKind kind) {
  switch (kind) {
    case SectionKind::kCode:
      return kMaxCodeBytes;
    case SectionKind::kProgram:
      return kMaxProgramBytes;
    case SectionKind::kChecksums:
      return chunk_count(kMaxWeightsBytes) * 8;
    case SectionKind::kWeights:
      return kMaxWeightsBytes;
  }
  return 0;
}

Diagnostic malformed(SectionKind kind, const char* why) {
  return fail(Code::plan_malformed).because("section " + std::string(name_of(kind)) + ": " + why);
}

uint64_t header_hash(ByteSpan bytes) {
  std::array<std::byte, kPlanHeaderBytes> copy;
  std::copy_n(bytes.begin(), kPlanHeaderBytes, copy.begin());
  store_as<uint64_t>(copy.data() + kHashOffset, 0);
  return hash64(copy);
}

Section parse_section(const std::byte* at) {
  return {static_cast<SectionKind>(load_as<uint32_t>(at)), load_as<uint32_t>(at + 4),
          load_as<uint64_t>(at + 8), load_as<uint64_t>(at + 16), load_as<uint64_t>(at + 24)};
}

// Sections tile the file: each stands exactly where place_sections() would put it.
Status check_sections(const PlanHeader& header) {
  PlanHeader expected = header;
  for (size_t i = 0; i < kSectionCount; ++i) {
    const Section& s = header.sections[i];
    const auto kind = static_cast<SectionKind>(i);
    if (s.kind != kind) return malformed(kind, "another section stands in its place in the table");
    if (s.alignment != alignment_of(kind)) return malformed(kind, "its alignment is wrong");
    if (s.size_bytes > size_limit(kind)) return malformed(kind, "it is larger than the limit");
  }
  place_sections(expected);
  for (size_t i = 0; i < kSectionCount; ++i) {
    if (header.sections[i].offset != expected.sections[i].offset) {
      return malformed(static_cast<SectionKind>(i), "it does not start where the one before it ends");
    }
  }
  if (header.file_size_bytes != expected.file_size_bytes)
    return fail(Code::plan_malformed).because("the header's file size is not where the last section ends");
  if (header.section(SectionKind::kWeights).hash != 0)
    return malformed(SectionKind::kWeights, "it has a hash of its own");
  if (header.section(SectionKind::kChecksums).size_bytes !=
      8 * chunk_count(header.section(SectionKind::kWeights).size_bytes)) {
    return malformed(SectionKind::kChecksums, "it does not hold one checksum per 4 MiB of weights");
  }
  return {};
}

}  // namespace

std::string_view name_of(SectionKind kind) {
  static constexpr std::array<std::string_view, kSectionCount> kNames = {"code", "program", "checksums",
                                                                         "weights"};
  return kNames[static_cast<size_t>(kind)];
}

uint32_t alignment_of(SectionKind kind) {
  static constexpr std::array<uint32_t, kSectionCount> kAlignments = {64, 8, 8, kBlobAlignment};
  return kAlignments[static_cast<size_t>(kind)];
}

uint64_t chunk_count(uint64_t weights_bytes) {
  return (weights_bytes + kChecksumChunk - 1) / kChecksumChunk;
}

void place_sections(PlanHeader& header) {
  uint64_t end = kPlanHeaderBytes;
  for (size_t i = 0; i < kSectionCount; ++i) {
    Section& s = header.sections[i];
    s.kind = static_cast<SectionKind>(i);
    s.alignment = alignment_of(s.kind);
    s.offset = round_up(end, s.alignment);
    end = s.offset + s.size_bytes;
  }
  header.file_size_bytes = end;
}

std::array<std::byte, kPlanHeaderBytes> encode_header(PlanHeader& header) {
  std::array<std::byte, kPlanHeaderBytes> out{};
  std::transform(kPlanMagic.begin(), kPlanMagic.end(), out.begin(),
                 [](unsigned char c) { return std::byte{c}; });
  store_as<uint32_t>(&out[8], header.format);
  store_as<uint32_t>(&out[12], kSectionCount);
  store_as<uint64_t>(&out[16], header.file_size_bytes);
  std::byte* at = &out[32];
  for (const Section& s : header.sections) {
    store_as<uint32_t>(at, static_cast<uint32_t>(s.kind));
    store_as<uint32_t>(at + 4, s.alignment);
    store_as<uint64_t>(at + 8, s.offset);
    store_as<uint64_t>(at + 16, s.size_bytes);
    store_as<uint64_t>(at + 24, s.hash);
    at += 32;
  }
  header.hash = header_hash(out);
  store_as<uint64_t>(&out[kHashOffset], header.hash);
  return out;
}

Result<PlanHeader> parse_header(ByteSpan bytes, uint64_t file_size_bytes) {
  const size_t seen = std::min(bytes.size(), kPlanMagic.size());
  for (size_t i = 0; i < seen; ++i) {
    if (std::to_integer<unsigned char>(bytes[i]) != kPlanMagic[i]) {
      return fail(Code::not_a_plan)
          .because("it does not start with a plan's eight bytes")
          .try_("make a plan with ge-compile");
    }
  }
  if (file_size_bytes == 0)
    return fail(Code::not_a_plan).because("the file is empty").try_("make a plan with ge-compile");
  if (bytes.size() >= 12 && load_as<uint32_t>(&bytes[8]) != kPlanFormat) {
    return fail(Code::plan_version)
        .because("the plan has format " + std::to_string(load_as<uint32_t>(&bytes[8])) +
                 ", this ge reads format " + std::to_string(kPlanFormat))
        .try_("compile the model again with this version");
  }
  if (bytes.size() < kPlanHeaderBytes)
    return fail(Code::plan_truncated).because("the file ends inside the header");
  PlanHeader header;
  header.format = load_as<uint32_t>(&bytes[8]);
  header.file_size_bytes = load_as<uint64_t>(&bytes[16]);
  header.hash = load_as<uint64_t>(&bytes[kHashOffset]);
  if (header.hash != header_hash(bytes)) return fail(Code::plan_checksum).because("the header is damaged");
  if (load_as<uint32_t>(&bytes[12]) != kSectionCount)
    return fail(Code::plan_malformed).because("a plan has four sections");
  for (size_t i = 0; i < kSectionCount; ++i) header.sections[i] = parse_section(&bytes[32 + i * 32]);
  if (file_size_bytes < header.file_size_bytes) {
    return fail(Code::plan_truncated)
        .because("the file has " + std::to_string(file_size_bytes) + " bytes of " +
                 std::to_string(header.file_size_bytes))
        .try_("copy it again");
  }
  if (file_size_bytes > header.file_size_bytes)
    return fail(Code::plan_malformed).because("bytes stand after the end of the plan");
  GE_TRY(check_sections(header));
  return header;
}

}  // namespace ge

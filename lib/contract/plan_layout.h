// The plan file's outer form: header, section table, checksums. Entry: parse_header, encode_header,
// place_sections. docs/plan-format.md says the same in words. Invariant: the four sections stand in the order
// of SectionKind and tile the file: each starts at the end of the one before it, rounded up to its alignment;
// what lies between is zero.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/status.h"

namespace ge {

inline constexpr std::array<unsigned char, 8> kPlanMagic = {0x89, 'G', 'E', 'P', 'L', 'A', 'N', '\n'};

enum class SectionKind : uint32_t { kCode, kProgram, kChecksums, kWeights };
inline constexpr size_t kSectionCount = 4;
std::string_view name_of(SectionKind kind);  // "code", "program", "checksums", "weights"
uint32_t alignment_of(SectionKind kind);     // 64, 8, 8, 4096

struct Section {
  SectionKind kind = SectionKind::kCode;
  uint32_t alignment = 0;
  uint64_t offset = 0, size_bytes = 0;
  uint64_t hash = 0;  // hash64 of the bytes; of weights: 0, their checksums are a section of their own
};
struct PlanHeader {
  uint32_t format = 0;
  uint64_t file_size_bytes = 0;
  uint64_t hash = 0;  // hash64 of the header with this field zero: names the plan
  std::array<Section, kSectionCount> sections;
  const Section& section(SectionKind kind) const { return sections[static_cast<size_t>(kind)]; }
  Section& section(SectionKind kind) { return sections[static_cast<size_t>(kind)]; }
};

// magic 8 · format u32 · section count u32 · file size u64 · header hash u64 · 4 x (kind u32, alignment u32,
// offset u64, size u64, hash u64)
inline constexpr size_t kPlanHeaderBytes = 32 + kSectionCount * 32;
inline constexpr uint64_t kMaxProgramBytes = uint64_t{512} << 20;
inline constexpr uint64_t kMaxCodeBytes = uint64_t{4} << 30;
inline constexpr uint64_t kMaxWeightsBytes = uint64_t{1} << 46;

// Fills offsets, alignments and file size from the sections' sizes.
void place_sections(PlanHeader& header);
// The header's bytes; fills header.hash.
std::array<std::byte, kPlanHeaderBytes> encode_header(PlanHeader& header);
// Checks all that the header says against itself and against the size of the file it came from.
// Errors: not_a_plan, plan_version, plan_truncated, plan_checksum, plan_malformed.
Result<PlanHeader> parse_header(ByteSpan bytes, uint64_t file_size_bytes);
// Number of checksums for so many bytes of weights.
uint64_t chunk_count(uint64_t weights_bytes);

}  // namespace ge

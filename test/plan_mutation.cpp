// Mutations of plan files with right checksums.
#include "plan_mutation.h"

#include <algorithm>
#include <cstdio>

#include "contract/hash.h"
#include "contract/plan_layout.h"
#include "contract/plan_read.h"

namespace ge::test {
namespace {

// Where things are in the undamaged file.
struct Map {
  PlanHeader header;
  std::vector<Image> images;
};

std::string describe(const char* part, size_t at, int from, int to) {
  char text[96];
  std::snprintf(text, sizeof text, "%s byte %zu: 0x%02x -> 0x%02x", part, at, from, to);
  return text;
}

void fix_section_hash(std::vector<std::byte>& file, const Section& s) {
  const uint64_t hash = hash64(ByteSpan(file).subspan(s.offset, s.size_bytes));
  store_as<uint64_t>(&file[32 + 32 * static_cast<size_t>(s.kind) + 24], hash);
}
void fix_header_hash(std::vector<std::byte>& file) {
  store_as<uint64_t>(&file[24], 0);
  store_as<uint64_t>(&file[24], hash64(ByteSpan(file).first(kPlanHeaderBytes)));
}

// The hash of an image stands in the program as text: replaces it there.
void fix_image_hash(std::vector<std::byte>& file, const Map& map, const Image& image) {
  const Section& code = map.header.section(SectionKind::kCode);
  const Section& program = map.header.section(SectionKind::kProgram);
  const std::string hash = hash128_hex(ByteSpan(file).subspan(code.offset + image.offset, image.size_bytes));
  const auto old = as_bytes(image.hash);
  const auto begin = file.begin() + static_cast<std::ptrdiff_t>(program.offset);
  const auto end = begin + static_cast<std::ptrdiff_t>(program.size_bytes);
  for (auto at = std::search(begin, end, old.begin(), old.end()); at != end;
       at = std::search(at, end, old.begin(), old.end())) {
    std::ranges::copy(as_bytes(hash), at);
  }
}

void make_right(std::vector<std::byte>& file, const Map& map, const Image* image) {
  if (image) fix_image_hash(file, map, *image);
  fix_section_hash(file, map.header.section(SectionKind::kCode));
  fix_section_hash(file, map.header.section(SectionKind::kProgram));
  fix_header_hash(file);
}

}  // namespace

size_t for_each_mutation(ByteSpan original, const std::function<void(const Mutation&)>& visit, size_t step) {
  auto read = read_plan_bytes(original);
  if (!read.ok()) return 0;
  const Map map{read->header, read->plan.images};
  size_t count = 0;
  const auto change = [&](const char* part, uint64_t begin, uint64_t size, const Image* image) {
    for (uint64_t i = 0; i < size; i += step) {
      const auto old = std::to_integer<int>(original[begin + i]);
      std::vector<int> values = {0x00, 0xff};
      for (int bit = 0; bit < 8; ++bit) values.push_back(old ^ (1 << bit));
      for (const int value : values) {
        if (value == old) continue;
        Mutation m{{original.begin(), original.end()}, describe(part, i, old, value), begin + i};
        m.file[begin + i] = static_cast<std::byte>(value);
        // A change of the header is covered by its own hash alone: the sections keep what the table says.
        if (begin == 0) {
          if (i < 24 || i >= 32) fix_header_hash(m.file);
        } else {
          make_right(m.file, map, image);
        }
        visit(m);
        ++count;
      }
    }
  };
  change("header", 0, kPlanHeaderBytes, nullptr);
  const Section& program = map.header.section(SectionKind::kProgram);
  change("program", program.offset, program.size_bytes, nullptr);
  for (const Image& image : map.images) {
    if (image.format != "bytecode") continue;
    change("bytecode", map.header.section(SectionKind::kCode).offset + image.offset, image.size_bytes,
           &image);
  }
  return count;
}

void for_each_truncation(ByteSpan file, const std::function<void(ByteSpan)>& visit, size_t step) {
  for (size_t size = 0; size < file.size(); size += step) visit(file.first(size));
}

}  // namespace ge::test

// Steps over bytes that check_wire has passed: every length fits, every number ends.
#include "compiler/onnx_file/messages.h"

#include <algorithm>

namespace ge::onnx_wire {

uint64_t take_varint(std::string_view& rest) {
  uint64_t value = 0;
  for (int shift = 0; !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

Field take_field(std::string_view& rest) {
  const auto block = [&](size_t size) {
    const std::string_view bytes = rest.substr(0, size);
    rest.remove_prefix(bytes.size());
    return bytes;
  };
  const auto fixed = [&](size_t size) {
    uint64_t bits = 0;
    const std::string_view bytes = block(size);
    std::memcpy(&bits, bytes.data(), bytes.size());  // little-endian
    return bits;
  };
  const uint64_t tag = take_varint(rest);
  Field field;
  field.number = static_cast<uint32_t>(tag >> 3);
  switch (tag & 7) {
    case 0:
      field.bits = take_varint(rest);
      break;
    case 1:
      field.bits = fixed(8);
      break;
    case 5:
      field.bits = fixed(4);
      break;
    default:
      field.is_block = true;
      field.bytes = block(take_varint(rest));
  }
  return field;
}

uint64_t Message::field_count() const {
  uint64_t count = 0;
  for (std::string_view rest = bytes_; !rest.empty(); ++count) take_field(rest);
  return count;
}

uint32_t Message::last_of(std::initializer_list<uint32_t> numbers) const {
  uint32_t last = 0;
  for (std::string_view rest = bytes_; !rest.empty();) {
    const uint32_t number = take_field(rest).number;
    if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) last = number;
  }
  return last;
}

uint32_t Attribute::held_types() const {
  static constexpr std::pair<uint32_t, int> kFields[] = {
      {2, kFloat},   {3, kInt},      {4, kString},  {5, kTensor},   {6, kGraph},
      {7, kFloats},  {8, kInts},     {9, kStrings}, {10, kTensors}, {11, kGraphs},
      {22, kSparse}, {23, kSparses}, {14, kType},   {15, kTypes}};
  uint32_t held = 0;
  for (std::string_view rest = bytes(); !rest.empty();) {
    const Field found = take_field(rest);
    if ((found.number == 7 || found.number == 8) && found.is_block && found.bytes.empty()) continue;
    for (const auto& [field, type] : kFields) held |= field == found.number ? 1u << type : 0;
  }
  return held;
}

std::optional<Field> Message::last(uint32_t number) const {
  std::optional<Field> found;
  for (std::string_view rest = bytes_; !rest.empty();) {
    const Field field = take_field(rest);
    if (field.number == number) found = field;
  }
  return found;
}

}  // namespace ge::onnx_wire

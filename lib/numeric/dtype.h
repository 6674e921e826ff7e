// Element types. Entry: DType and its facts. Invariant: numeric values of the enum are stable (plans hold
// names, not numbers).
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace ge {

// GE_DTYPE(name, bits, class) — name as graph.json spells it.
// clang-format off
#define GE_DTYPES(X)                                                                                         \
  X(float64, 64, kFloat) X(float32, 32, kFloat) X(float16, 16, kFloat) X(bfloat16, 16, kFloat)               \
  X(float8e4m3fn, 8, kFloat) X(float8e5m2, 8, kFloat)                                                        \
  X(int64, 64, kSigned) X(int32, 32, kSigned) X(int16, 16, kSigned) X(int8, 8, kSigned) X(int4, 4, kSigned)  \
  X(uint64, 64, kUnsigned) X(uint32, 32, kUnsigned) X(uint16, 16, kUnsigned) X(uint8, 8, kUnsigned)          \
  X(uint4, 4, kUnsigned) X(boolean, 8, kBool)
// clang-format on

enum class DType : uint8_t {
#define GE_X(name, bits, cls) name,
  GE_DTYPES(GE_X)
#undef GE_X
};
enum class DTypeClass : uint8_t { kFloat, kSigned, kUnsigned, kBool };
inline constexpr int kDTypeCount = 17;

int bits_of(DType dtype);  // 4 .. 64
DTypeClass class_of(DType dtype);
std::string_view name_of(DType dtype);  // "float32", ..., "bool"
std::optional<DType> dtype_from_name(std::string_view name);
std::string_view npy_descr(DType dtype);  // "<f4"; "" where numpy has no such type
inline bool is_float(DType t) {
  return class_of(t) == DTypeClass::kFloat;
}
inline bool is_bool(DType t) {
  return t == DType::boolean;
}
inline bool is_integer(DType t) {
  return !is_float(t) && !is_bool(t);
}
// Bytes of `count` elements; 4-bit types are packed two to a byte, low nibble first. count >= 0, no overflow
// check.
inline int64_t bytes_of(DType t, int64_t count) {
  return (count * bits_of(t) + 7) / 8;
}

// A set of element types, as kernel rows and operator tables state them.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(std::initializer_list<DType> list) {
    for (DType t : list) bits_ |= bit(t);
  }
  constexpr bool contains(DType t) const { return (bits_ & bit(t)) != 0; }
  constexpr DTypeSet operator|(DTypeSet o) const {
    DTypeSet r;
    r.bits_ = bits_ | o.bits_;
    return r;
  }
  constexpr bool operator==(const DTypeSet&) const = default;
  constexpr uint32_t bits() const { return bits_; }
  static constexpr DTypeSet from_bits(uint32_t bits) {
    DTypeSet r;
    r.bits_ = bits;
    return r;
  }

 private:
  static constexpr uint32_t bit(DType t) { return 1u << static_cast<unsigned>(t); }
  uint32_t bits_ = 0;
};

}  // namespace ge

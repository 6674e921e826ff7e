// int64 arithmetic that reports overflow instead of wrapping. Entry: checked_add/sub/mul, floor_div,
// floor_mod. Every size, stride and offset in ge is computed through these.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>

namespace ge {

using MaybeInt = std::optional<int64_t>;  // nullopt: overflow or division by zero

constexpr MaybeInt checked_add(int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}
constexpr MaybeInt checked_sub(int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_sub_overflow(a, b, &r)) return std::nullopt;
  return r;
}
constexpr MaybeInt checked_mul(int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}
// Rounds toward minus infinity; nullopt for b == 0 and INT64_MIN / -1.
constexpr MaybeInt floor_div(int64_t a, int64_t b) {
  if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1)) return std::nullopt;
  const int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}
// a - b * floor_div(a, b): has b's sign. nullopt for b == 0.
constexpr MaybeInt floor_mod(int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  if (b == -1) return 0;
  const int64_t r = a % b;
  return (r != 0 && ((r < 0) != (b < 0))) ? r + b : r;
}
constexpr int64_t align_up(int64_t value, int64_t alignment) {  // value >= 0, alignment a power of two
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace ge

// Byte buffers: an owned, 64-byte aligned, immutable-when-shared block. Entry: ByteBuffer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace ge {

using ByteSpan = std::span<const std::byte>;
using MutableByteSpan = std::span<std::byte>;

// Owned heap block aligned to 64 bytes; contents are uninitialised unless `zeroed`. Moves, never copies.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  // Returns an empty buffer with data() == nullptr where memory is not to be had and size > 0.
  static ByteBuffer allocate(size_t size_bytes, bool zeroed = false);
  static ByteBuffer copy_of(ByteSpan bytes);
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }
  ByteSpan span() const { return {data_.get(), size_}; }
  MutableByteSpan span() { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

inline ByteSpan as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
// Unaligned little-endian access (the only byte order ge supports; a static_assert in bytes.cpp says so).
template <class T>
T load_as(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void store_as(std::byte* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

}  // namespace ge

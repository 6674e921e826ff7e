// ByteBuffer's memory: aligned to 64 bytes, freed by the matching operator.
#include "base/bytes.h"

#include <algorithm>
#include <bit>
#include <new>

namespace ge {

static_assert(std::endian::native == std::endian::little, "ge supports little-endian machines only");

namespace {
constexpr std::align_val_t kAlignment{64};
}

void ByteBuffer::Free::operator()(std::byte* p) const {
  ::operator delete(p, kAlignment);
}

ByteBuffer ByteBuffer::allocate(size_t size_bytes, bool zeroed) {
  ByteBuffer buffer;
  // An empty buffer still has an address, so that nullptr means one thing: no memory.
  const size_t rounded = std::max<size_t>(size_bytes, 1);
  buffer.data_.reset(static_cast<std::byte*>(::operator new(rounded, kAlignment, std::nothrow)));
  if (!buffer.data_) return buffer;
  buffer.size_ = size_bytes;
  if (zeroed) std::memset(buffer.data_.get(), 0, size_bytes);
  return buffer;
}

ByteBuffer ByteBuffer::copy_of(ByteSpan bytes) {
  ByteBuffer buffer = allocate(bytes.size());
  if (buffer.data() && !bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return buffer;
}

}  // namespace ge

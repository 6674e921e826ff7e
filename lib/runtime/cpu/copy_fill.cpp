#include "runtime/cpu/copy_fill.h"

#include <algorithm>
#include <cstring>

#include "runtime/cpu/stream.h"

namespace ge::cpu {
namespace {

constexpr int64_t kPieceBytes = 1 << 20;

class CopyStep : public DeviceStep {
 public:
  CopyStep(const TensorView& from, const TensorView& to)
      : from_(static_cast<const std::byte*>(from.data)),
        to_(static_cast<std::byte*>(to.data)),
        size_bytes_(bytes_of(to.dtype, element_count(to))) {}
  Status enqueue(Stream& stream) override {
    static_cast<CpuStream&>(stream).context(0).parallel_for(
        size_bytes_, kPieceBytes, [this](int64_t begin, int64_t end) {
          std::memcpy(to_ + begin, from_ + begin, static_cast<size_t>(end - begin));
        });
    return {};
  }

 private:
  const std::byte* from_;
  std::byte* to_;
  int64_t size_bytes_;
};

// `count` units of T.
template <class T>
class FillStep : public DeviceStep {
 public:
  FillStep(void* to, uint64_t bits, int64_t count)
      : to_(static_cast<T*>(to)), value_(static_cast<T>(bits)), count_(count) {}
  Status enqueue(Stream& stream) override {
    static_cast<CpuStream&>(stream).context(0).parallel_for(
        count_, kPieceBytes / static_cast<int64_t>(sizeof(T)),
        [this](int64_t begin, int64_t end) { std::fill(to_ + begin, to_ + end, value_); });
    return {};
  }

 private:
  T* to_;
  T value_;
  int64_t count_;
};

}  // namespace

std::unique_ptr<DeviceStep> make_copy(const TensorView& from, const TensorView& to) {
  return std::make_unique<CopyStep>(from, to);
}

std::unique_ptr<DeviceStep> make_fill(const TensorView& to, uint64_t bits) {
  const int64_t count = element_count(to);
  switch (bits_of(to.dtype)) {
    case 4:
      return std::make_unique<FillStep<uint8_t>>(to.data, (bits & 0xf) << 4 | (bits & 0xf),
                                                 bytes_of(to.dtype, count));
    case 8:
      return std::make_unique<FillStep<uint8_t>>(to.data, bits, count);
    case 16:
      return std::make_unique<FillStep<uint16_t>>(to.data, bits, count);
    case 32:
      return std::make_unique<FillStep<uint32_t>>(to.data, bits, count);
    default:
      return std::make_unique<FillStep<uint64_t>>(to.data, bits, count);
  }
}

}  // namespace ge::cpu

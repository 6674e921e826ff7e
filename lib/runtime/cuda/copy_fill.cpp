#include "runtime/cuda/copy_fill.h"

#include "runtime/cuda/stream.h"

namespace ge::cuda {
namespace {

class CopyStep : public DeviceStep {
 public:
  CopyStep(const void* from, void* to, int64_t size_bytes)
      : from_(from), to_(to), size_bytes_(static_cast<size_t>(size_bytes)) {}
  Status enqueue(Stream& stream) override {
    auto& s = static_cast<CudaStream&>(stream);
    GE_CU(*s.gpu().api, cuMemcpyDtoDAsync, address(to_), address(from_), size_bytes_, s.target());
    return {};
  }

 private:
  const void* from_;
  void* to_;
  size_t size_bytes_;
};

class FillStep : public DeviceStep {
 public:
  // `width` bytes per unit, `count` units.
  FillStep(void* to, uint64_t bits, int width, int64_t count)
      : to_(address(to)), bits_(bits), width_(width), count_(static_cast<size_t>(count)) {}
  Status enqueue(Stream& stream) override {
    auto& s = static_cast<CudaStream&>(stream);
    const Driver& api = *s.gpu().api;
    switch (width_) {
      case 1:
        GE_CU(api, cuMemsetD8Async, to_, static_cast<unsigned char>(bits_), count_, s.target());
        break;
      case 2:
        GE_CU(api, cuMemsetD16Async, to_, static_cast<unsigned short>(bits_), count_, s.target());
        break;
      case 4:
        GE_CU(api, cuMemsetD32Async, to_, static_cast<unsigned int>(bits_), count_, s.target());
        break;
      default:
        return fill_64(s);
    }
    return {};
  }

 private:
  // Two strided sets of 32 bits: the low words, then the high words.
  Status fill_64(CudaStream& s) const {
    const Driver& api = *s.gpu().api;
    GE_CU(api, cuMemsetD2D32Async, to_, 8, static_cast<unsigned int>(bits_), 1, count_, s.target());
    GE_CU(api, cuMemsetD2D32Async, to_ + 4, 8, static_cast<unsigned int>(bits_ >> 32), 1, count_, s.target());
    return {};
  }
  CUdeviceptr to_;
  uint64_t bits_;
  int width_;
  size_t count_;
};

Diagnostic not_dense(std::string_view what) {
  return fail(Code::launch_refused).because("a " + std::string(what) + " step on the GPU needs dense views");
}

}  // namespace

Result<std::unique_ptr<DeviceStep>> make_copy(const TensorView& from, const TensorView& to) {
  if (!is_contiguous(from) || !is_contiguous(to)) return not_dense("copy");
  return std::unique_ptr<DeviceStep>(
      std::make_unique<CopyStep>(from.data, to.data, bytes_of(to.dtype, element_count(to))));
}

Result<std::unique_ptr<DeviceStep>> make_fill(const TensorView& to, uint64_t bits) {
  if (!is_contiguous(to)) return not_dense("fill");
  const int64_t count = element_count(to);
  const int width = bits_of(to.dtype) / 8;
  if (width == 0) {
    const uint64_t nibble = bits & 0xf;
    return std::unique_ptr<DeviceStep>(
        std::make_unique<FillStep>(to.data, nibble << 4 | nibble, 1, bytes_of(to.dtype, count)));
  }
  // A 64-bit pattern of two equal halves (zero above all) is a 32-bit fill.
  if (width == 8 && (bits & 0xffffffffu) == bits >> 32) {
    return std::unique_ptr<DeviceStep>(std::make_unique<FillStep>(to.data, bits, 4, count * 2));
  }
  return std::unique_ptr<DeviceStep>(std::make_unique<FillStep>(to.data, bits, width, count));
}

}  // namespace ge::cuda

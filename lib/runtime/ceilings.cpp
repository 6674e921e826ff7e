#include "runtime/ceilings.h"

#include <algorithm>
#include <limits>

#include "numeric/convert.h"
#include "runtime/dense_view.h"

namespace ge {
namespace {

constexpr int kRuns = 10;                           // the first of them warm up
constexpr int64_t kCopyBytes = int64_t{256} << 20;  // more than caches hold
constexpr int64_t kTinyBytes = 256;

TensorView absent() {
  TensorView view;
  view.rank = -1;
  return view;
}

class Measurement {
 public:
  explicit Measurement(Device& device) : device_(device) {}

  Result<Ceilings> run() {
    Ceilings found;
    GE_ASSIGN(stream_, device_.create_stream({}));
    GE_ASSIGN(memory_, device_.create_memory());
    GE_TRY(memory_->grow(2 * kCopyBytes));
    GE_ASSIGN(auto copy, stream_->bind_copy(bytes_at(0, kCopyBytes), bytes_at(kCopyBytes, kCopyBytes)));
    GE_ASSIGN(const double copy_us, best_us(std::move(copy)));
    found.gb_per_s = 2 * static_cast<double>(kCopyBytes) / copy_us / 1e3;
    GE_ASSIGN(auto fill, stream_->bind_fill(bytes_at(0, kTinyBytes), 0));
    GE_ASSIGN(found.launch_us, best_us(std::move(fill)));
    GE_ASSIGN(found.tflop_per_s_f32, product(DType::float32));
    GE_ASSIGN(found.tflop_per_s_f16, product(DType::float16));
    GE_ASSIGN(found.tflop_per_s_bf16, product(DType::bfloat16));
    return found;
  }

 private:
  std::byte* at(int64_t offset) const { return memory_->base() + offset; }
  TensorView bytes_at(int64_t offset, int64_t count) const {
    return dense_view(at(offset), DType::uint8, {count});
  }

  Result<double> best_us(std::unique_ptr<DeviceStep> step) {
    StraightRun run;
    run.steps.push_back(std::move(step));
    run.entries = {0};
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kRuns; ++i) {
      StepTimes times(1);
      GE_TRY(stream_->profile(run, times));
      if (times.time_us[0] > 0) best = std::min(best, times.time_us[0]);
    }
    return best;
  }

  // Of two squares; 0 where the device has nothing for it.
  Result<double> product(DType dtype) {
    const int64_t side = !device_.is_cuda() ? 2048 : bits_of(dtype) == 16 ? 8192 : 4096;
    const int64_t bytes = bytes_of(dtype, side * side);
    auto kernel = device_.product_kernel(dtype);
    if (!kernel.ok()) return 0.0;
    GE_TRY(write_random(at(0), dtype, 2 * side * side));
    const auto square = [&](int i) { return dense_view(at(i * bytes), dtype, {side, side}); };
    const TensorView operands[] = {square(0), square(1), absent(), square(2), absent()};
    const double flops =
        2.0 * static_cast<double>(side) * static_cast<double>(side) * static_cast<double>(side);
    Choice choice;
    choice.attrs = {{"activation", int64_t{0}}};
    BoundLaunch bound;
    bound.attrs = &choice.attrs;
    bound.flops = static_cast<int64_t>(flops);
    LaunchSite site;
    site.operands = operands;
    site.choice = &choice;
    site.bound = &bound;
    site.device_block = stream_->device_block();
    GE_ASSIGN(auto step, (*kernel)->bind(site, *stream_));
    GE_ASSIGN(const double us, best_us(std::move(step)));
    return flops / us / 1e6;
  }

  // Numbers of both signs around 1: zeros and ones would draw less power, and so reach more.
  Status write_random(std::byte* to, DType dtype, int64_t count) {
    constexpr int64_t kPart = 1 << 20;
    ByteBuffer part = ByteBuffer::allocate(bytes_of(dtype, kPart));
    if (!part.data()) return fail(Code::out_of_memory);
    uint64_t state = 1;
    for (int64_t i = 0; i < kPart; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      store_from_double(dtype, part.data(), i,
                        static_cast<double>(static_cast<int32_t>(state >> 32)) * 0x1p-30);
    }
    for (int64_t done = 0; done < count; done += kPart)
      GE_TRY(device_.write(to + bytes_of(dtype, done), part.data(),
                           bytes_of(dtype, std::min(kPart, count - done))));
    return {};
  }

  Device& device_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace

Result<Ceilings> measure_ceilings(Device& device) {
  const CurrentDevice current(device);
  return Measurement(device).run();
}

}  // namespace ge

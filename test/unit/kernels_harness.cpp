// The harness of kernels_harness.h.
#include "kernels_harness.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/bytes.h"
#include "platform/thread_pool.h"

namespace ge::test {
namespace {

constexpr unsigned char kGuard = 0xA5;
constexpr size_t kGuardBytes = 64;

void pool_parallel(void* pool, int64_t count, int64_t grain, RangeFunction body, void* closure) {
  static_cast<ThreadPool*>(pool)->parallel_for(
      count, grain, [&](int64_t begin, int64_t end) { body(closure, begin, end); });
}
std::byte* thread_scratch(void*, size_t size_bytes) {
  thread_local ByteBuffer scratch;
  if (scratch.size() < size_bytes) scratch = ByteBuffer::allocate(size_bytes);
  return scratch.data();
}

}  // namespace

TestTensor::TestTensor(DType dtype, std::vector<int64_t> dims, Layout layout, int broadcast_axes) {
  view_.dtype = dtype;
  view_.rank = static_cast<int32_t>(dims.size());
  std::vector<int> order(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) order[i] = static_cast<int>(i);
  if (layout == Layout::kTransposed) std::reverse(order.begin(), order.end());
  const int64_t gap = layout == Layout::kGapped ? 3 : 1;
  int64_t step = layout == Layout::kGapped ? 2 : 1, low = 0, high = 0;
  for (size_t i = dims.size(); i-- > 0;) {
    const auto axis = static_cast<size_t>(order[i]);
    view_.dims[axis] = dims[axis];
    view_.strides[axis] = layout == Layout::kBroadcast && ((broadcast_axes >> axis) & 1) ? 0 : step;
    if (layout == Layout::kReversed) view_.strides[axis] = -step;
    const int64_t reach = view_.strides[axis] * std::max<int64_t>(0, dims[axis] - 1);
    (reach < 0 ? low : high) += reach;
    if (view_.strides[axis] != 0) step *= std::max<int64_t>(1, dims[axis]) + (gap == 1 ? 0 : gap);
  }
  size_ = static_cast<size_t>(bytes_of(dtype, high - low + 1));
  bytes_.assign(kGuardBytes + size_ + kGuardBytes + 64, kGuard);
  begin_ = kGuardBytes;
  while (reinterpret_cast<uintptr_t>(bytes_.data() + begin_) % 64 != 0) ++begin_;
  view_.data = bytes_.data() + begin_ + bytes_of(dtype, -low);
  if (element_count(view_) > 0) std::memset(bytes_.data() + begin_, 0, size_);
}

TestTensor& TestTensor::random(std::mt19937& rng, int range) {
  std::uniform_int_distribution<int> pick(-range, range);
  for (int64_t i = 0; i < count(); ++i) {
    const int v = pick(rng);
    if (is_float(view_.dtype))
      set(i, v / 4.0);
    else
      set_int(i, class_of(view_.dtype) == DTypeClass::kSigned
                     ? v
                     : std::abs(v) % (is_bool(view_.dtype) ? 2 : 1000));
  }
  return *this;
}

TestTensor& TestTensor::fill(double value) {
  for (int64_t i = 0; i < count(); ++i) set(i, value);
  return *this;
}

int64_t TestTensor::offset(int64_t linear) const {
  int64_t offset = 0;
  for (int axis = view_.rank - 1; axis >= 0; --axis) {
    offset += linear % view_.dims[axis] * view_.strides[axis];
    linear /= view_.dims[axis];
  }
  return offset;
}

bool TestTensor::guards_stand() const {
  const bool empty = element_count(view_) == 0;
  for (size_t i = 0; i < bytes_.size(); ++i) {
    if (!empty && i >= begin_ && i < begin_ + size_) continue;
    if (bytes_[i] != kGuard) return false;
  }
  return true;
}

TensorView absent() {
  TensorView view;
  view.rank = -1;
  return view;
}

Status run_kernel(std::string_view name, std::vector<TensorView> operands, Attrs attrs, RunOptions options) {
  const KernelRow* row = find_kernel_row(name);
  const CpuEntry entry = cpu_entry(name);
  if (row == nullptr || entry == nullptr) return fail(Code::unknown_kernel).because(std::string(name));
  std::sort(attrs.begin(), attrs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  while (operands.size() < row->operands.size() && row->operands[operands.size()].optional)
    operands.push_back(absent());
  const KernelDesc description = desc(*row);
  GE_TRY(check_desc(description));
  GE_TRY(check_attrs(description, attrs));
  GE_TRY(check_operands(description, operands));
  if (row->check != nullptr) GE_TRY(row->check({operands, attrs, {1, 1, 1}, {1, 1, 1}}));
  for (TensorView& v : operands) {
    if (v.rank < 0) v = TensorView{};
  }
  alignas(16) std::byte args[kMaxArgsSize];
  GE_TRY(pack_args(description, operands, attrs, nullptr, {args, description.args_size}));
  ThreadPool pool(options.threads);
  FaultRecord fault;
  LaunchContext context;
  context.parallel = pool_parallel;
  context.pool = &pool;
  context.threads = options.threads;
  context.scratch = thread_scratch;
  context.fault = options.fault != nullptr ? options.fault : &fault;
  if (options.instead)
    options.instead(args, context);
  else
    entry(args, context);
  return {};
}

double rounded(DType dtype, double value) {
  alignas(8) unsigned char bytes[8] = {};
  store_from_double(dtype, bytes, 0, value);
  return load_as_double(dtype, bytes, 0);
}

bool near(DType dtype, double a, double b, double ulps, double floor) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  if (std::isinf(a) || std::isinf(b)) return false;
  const double epsilon = dtype == DType::float64        ? 0x1p-52
                         : dtype == DType::float32      ? 0x1p-23
                         : dtype == DType::float16      ? 0x1p-10
                         : dtype == DType::bfloat16     ? 0x1p-7
                         : dtype == DType::float8e4m3fn ? 0x1p-3
                         : dtype == DType::float8e5m2   ? 0x1p-2
                                                        : 0;
  return std::abs(a - b) <= ulps * epsilon * std::max(std::abs(b), floor);
}

std::vector<int64_t> index_of(const TensorView& view, int64_t linear) {
  std::vector<int64_t> index(static_cast<size_t>(view.rank));
  for (int axis = view.rank - 1; axis >= 0; --axis) {
    index[static_cast<size_t>(axis)] = linear % view.dims[axis];
    linear /= view.dims[axis];
  }
  return index;
}

int64_t linear_of(const TensorView& view, const std::vector<int64_t>& index) {
  int64_t linear = 0;
  for (int axis = 0; axis < view.rank; ++axis)
    linear = linear * view.dims[axis] + index[static_cast<size_t>(axis)];
  return linear;
}

std::string layout_name(Layout layout) {
  static const char* const kNames[] = {"dense", "transposed", "reversed", "gapped", "broadcast"};
  return kNames[static_cast<int>(layout)];
}

}  // namespace ge::test

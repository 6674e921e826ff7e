// TensorData: contents of constants, splats and contents that load when first needed. Entry: splat,
// tensor_of, full_bytes, transposed.
#include <cstring>

#include "base/checked_math.h"
#include "compiler/ir/graph.h"
#include "numeric/convert.h"

namespace ge {

int64_t TensorData::count() const {
  int64_t n = 1;
  for (const int64_t d : dims) {
    if (d == 0) return 0;
    n = checked_mul(n, d).value_or(
        INT64_MAX);  // readers have refused such sizes: saturating keeps this total
  }
  return n;
}

int64_t TensorData::size_bytes() const {
  const int64_t n = count();
  return n > INT64_MAX / 64 ? INT64_MAX : bytes_of(dtype, n);
}

namespace {
std::shared_ptr<const ByteBuffer> share(ByteBuffer buffer) {
  return std::make_shared<const ByteBuffer>(std::move(buffer));
}
}  // namespace

TensorData splat(DType dtype, std::vector<int64_t> dims, double value) {
  ByteBuffer one = ByteBuffer::allocate(static_cast<size_t>(bytes_of(dtype, 1)), true);
  store_from_double(dtype, one.data(), 0, value);
  return {dtype, std::move(dims), share(std::move(one)), true, nullptr};
}

TensorData tensor_of(const std::vector<int64_t>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {
      DType::int64, {static_cast<int64_t>(values.size())}, share(ByteBuffer::copy_of(bytes)), false, nullptr};
}

TensorData tensor_of_floats(std::vector<int64_t> dims, const std::vector<float>& values) {
  return {DType::float32, std::move(dims), share(ByteBuffer::copy_of(std::as_bytes(std::span(values)))),
          false, nullptr};
}

namespace {
Result<ByteBuffer> expand_splat(const TensorData& data, size_t size_bytes) {
  ByteBuffer out = ByteBuffer::allocate(size_bytes);
  if (out.data() == nullptr && size_bytes > 0) {
    return fail(Code::out_of_memory).because("a constant of " + std::to_string(size_bytes) + " bytes");
  }
  if (size_bytes == 0) return out;
  std::byte one[8] = {};
  std::memcpy(one, data.bytes->data(), data.bytes->size());
  size_t width = data.bytes->size();
  if (bits_of(data.dtype) == 4) one[0] = (one[0] & std::byte{0xf}) | (one[0] << 4);
  // Doubling copies: the number of calls is logarithmic, each a plain memcpy.
  std::memcpy(out.data(), one, width);
  for (size_t done = width; done < size_bytes; done *= 2)
    std::memcpy(out.data() + done, out.data(), std::min(done, size_bytes - done));
  if (bits_of(data.dtype) == 4 && data.count() % 2 != 0) out.data()[size_bytes - 1] &= std::byte{0xf};
  return out;
}
}  // namespace

Result<std::shared_ptr<const ByteBuffer>> full_bytes(const TensorData& data) {
  const int64_t size_bytes = data.size_bytes();
  if (data.load != nullptr) {
    GE_ASSIGN(ByteBuffer read, (*data.load)());
    if (static_cast<int64_t>(read.size()) != size_bytes) {
      return fail(Code::bad_tensor_data)
          .because("found " + std::to_string(read.size()) + " bytes; shape and dtype need " +
                   std::to_string(size_bytes));
    }
    return share(std::move(read));
  }
  if (!data.splat) return data.bytes;
  GE_ASSIGN(ByteBuffer expanded, expand_splat(data, static_cast<size_t>(size_bytes)));
  return share(std::move(expanded));
}

namespace {
// Rows of the result's last axis, one after the other.
template <class Element>
void move_elements(const std::byte* from, std::byte* to, const std::vector<int64_t>& dims,
                   const std::vector<int64_t>& strides) {
  const int64_t row = dims.back(), step = strides.back();
  std::vector<int64_t> at(dims.size(), 0);
  for (int64_t start = 0;;) {
    for (int64_t i = 0; i < row; ++i, to += sizeof(Element))
      std::memcpy(to, from + (start + i * step) * static_cast<int64_t>(sizeof(Element)), sizeof(Element));
    size_t a = dims.size() - 1;
    for (; a > 0; --a) {
      start += strides[a - 1];
      if (++at[a - 1] < dims[a - 1]) break;
      start -= at[a - 1] * strides[a - 1];
      at[a - 1] = 0;
    }
    if (a == 0) return;
  }
}

Result<ByteBuffer> moved(const TensorData& data, const std::vector<int64_t>& perm) {
  GE_ASSIGN(const auto bytes, full_bytes(data));
  ByteBuffer out = ByteBuffer::allocate(bytes->size());
  if (out.data() == nullptr && bytes->size() > 0)
    return fail(Code::out_of_memory).because("a constant of " + std::to_string(bytes->size()) + " bytes");
  if (bytes->size() == 0) return out;
  std::vector<int64_t> dense(data.dims.size(), 1), dims, strides;
  for (size_t a = data.dims.size(); a-- > 1;) dense[a - 1] = dense[a] * data.dims[a];
  for (const int64_t axis : perm) {
    dims.push_back(data.dims[static_cast<size_t>(axis)]);
    strides.push_back(dense[static_cast<size_t>(axis)]);
  }
  switch (bits_of(data.dtype)) {
    case 8:
      move_elements<uint8_t>(bytes->data(), out.data(), dims, strides);
      return out;
    case 16:
      move_elements<uint16_t>(bytes->data(), out.data(), dims, strides);
      return out;
    case 32:
      move_elements<uint32_t>(bytes->data(), out.data(), dims, strides);
      return out;
    case 64:
      move_elements<uint64_t>(bytes->data(), out.data(), dims, strides);
      return out;
    default:
      return fail(Code::internal).say("elements of less than 8 bits are not moved");
  }
}
}  // namespace

TensorData transposed(const TensorData& data, const std::vector<int64_t>& perm) {
  TensorData out = data;
  for (size_t i = 0; i < perm.size(); ++i) out.dims[i] = data.dims[static_cast<size_t>(perm[i])];
  if (data.splat || perm.empty()) return out;
  out.bytes = nullptr;
  out.load =
      std::make_shared<const std::function<Result<ByteBuffer>()>>([data, perm] { return moved(data, perm); });
  out.start = std::nullopt;
  out.remade = true;
  return out;
}

TensorData reshaped(const TensorData& data, std::vector<int64_t> dims) {
  TensorData out = data;
  out.dims = std::move(dims);
  return out;
}

}  // namespace ge

#include "compiler/onnx_file/tensors.h"

#include <charconv>

#include "compiler/ir/onnx_dtype.h"
#include "compiler/source/graph_json.h"
#include "numeric/convert.h"
#include "tensor_file/host_tensor.h"

namespace ge::onnx_wire {
namespace {

std::string type_text(const TensorData& data) {
  return std::string(name_of(data.dtype)) + dims_to_string(data.dims);
}

Diagnostic unfit(const std::string& found) {
  return fail(Code::bad_tensor_data).because(found);
}

Result<TensorData> empty_tensor(const Tensor& tensor) {
  TensorData data;
  if (tensor.has_segment())
    return fail(Code::unsupported_feature)
        .say("a tensor in segments is not supported")
        .try_("store it whole, or as external data");
  if (tensor.data_location() != 0 && !tensor.is_external())
    return unfit("data_location is " + std::to_string(tensor.data_location()) +
                 ", allowed 0 (in the file) and 1 (external)");
  const auto dtype = dtype_from_onnx(tensor.data_type());
  if (!dtype) {
    return fail(Code::unknown_dtype)
        .say("the tensor's dtype is not supported")
        .because("found " + onnx_dtype_name(tensor.data_type()));
  }
  data.dtype = *dtype;
  const int64_t rank = tensor.dims().size();
  if (rank > static_cast<int64_t>(kMaxTensorRank)) {
    return fail(Code::document_limit)
        .say("too many dims")
        .because("found " + std::to_string(rank) + ", allowed up to " + std::to_string(kMaxTensorRank));
  }
  data.dims = tensor.dims().list<decltype(data.dims)>();
  for (const int64_t d : data.dims) {
    if (d < 0)
      return fail(Code::bad_dim).say("dimension is negative").because("found " + dims_to_string(data.dims));
  }
  if (!tensor_bytes(data.dtype, data.dims))
    return fail(Code::size_overflow).because("found " + type_text(data));
  return data;
}

// One number of int32_data or uint64_data, of a type of fewer bits: a number of that type; of floats and of
// two elements of 4 bits the bits, with or without a sign.
template <class T>
bool store_low_bits(T value, DType dtype, int bits, std::byte* into) {
  if (bits < static_cast<int>(8 * sizeof(T))) {
    const bool any_sign = is_float(dtype) || bits_of(dtype) < 8;
    const bool is_unsigned = class_of(dtype) == DTypeClass::kUnsigned;
    const T half = T{1} << (bits - 1);
    const T low = std::is_signed_v<T> && (any_sign || !is_unsigned) ? -half : T{0};
    const T high = any_sign || is_unsigned ? 2 * half - 1 : half - 1;
    if (value < low || value > high) return false;
  }
  std::memcpy(into, &value, static_cast<size_t>(bits) / 8);  // little-endian
  return true;
}

// `list` holds an entry for each element, or for two of 4 bits.
template <class T>
Result<TensorData> from_list(const Numbers<T>& list, TensorData data, const char* field) {
  const bool packed = bits_of(data.dtype) < 8;
  const int64_t needed = packed ? (data.count() + 1) / 2 : data.count();
  if (const int64_t found = list.size(); found != needed) {
    return unfit(std::string(field) + " has " + std::to_string(found) + " numbers, " + type_text(data) +
                 " needs " + std::to_string(needed));
  }
  ByteBuffer bytes = ByteBuffer::allocate(static_cast<size_t>(data.size_bytes()), true);
  if (bytes.data() == nullptr && data.size_bytes() > 0) return fail(Code::out_of_memory);
  const int bits = packed ? 8 : bits_of(data.dtype);
  std::byte* at = bytes.data();
  std::optional<T> unfitting;
  list.for_each([&](T value) {
    bool fits = true;
    if constexpr (std::is_floating_point_v<T>) {
      std::memcpy(at, &value, sizeof(T));
    } else if (is_bool(data.dtype)) {
      *at = std::byte{value != 0};
    } else {
      fits = store_low_bits(value, data.dtype, bits, at);
    }
    if (!fits && !unfitting) unfitting = value;
    at += bits / 8;
  });
  if (unfitting) {
    return unfit(std::string(field) + " holds " + std::to_string(*unfitting) + ", which does not fit " +
                 std::string(name_of(data.dtype)));
  }
  normalize(data.dtype, data.count(), bytes.span());
  data.bytes = std::make_shared<const ByteBuffer>(std::move(bytes));
  return data;
}

Result<TensorData> from_typed(const Tensor& tensor, TensorData data) {
  switch (data.dtype) {
    case DType::float32:
      return from_list(tensor.float_data(), std::move(data), "float_data");
    case DType::float64:
      return from_list(tensor.double_data(), std::move(data), "double_data");
    case DType::int64:
      return from_list(tensor.int64_data(), std::move(data), "int64_data");
    case DType::uint64:
    case DType::uint32:
      return from_list(tensor.uint64_data(), std::move(data), "uint64_data");
    default:
      return from_list(tensor.int32_data(), std::move(data), "int32_data");
  }
}

std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::string onnx_dtype_name(int64_t number) {
  static constexpr std::pair<int64_t, std::string_view> kNames[] = {
      {0, "no dtype"},    {8, "string"},          {14, "complex64"},
      {15, "complex128"}, {18, "float8e4m3fnuz"}, {20, "float8e5m2fnuz"},
      {23, "float4e2m1"}, {24, "float8e8m0"},     {25, "uint2"},
      {26, "int2"}};
  for (const auto& [n, name] : kNames) {
    if (n == number) return std::string(name);
  }
  const auto known = dtype_from_onnx(number);
  return known ? std::string(name_of(*known)) : "dtype number " + std::to_string(number);
}

Result<TensorData> TensorProtos::read(const Tensor& tensor) {
  const auto at = known_.find(tensor.bytes().data());
  if (at != known_.end()) return at->second;
  GE_ASSIGN(TensorData data, read_new(tensor));
  known_.emplace(tensor.bytes().data(), data);
  return data;
}

Result<TensorData> TensorProtos::read_new(const Tensor& tensor) {
  GE_ASSIGN(TensorData data, empty_tensor(tensor));
  if (tensor.is_external()) return external(tensor, std::move(data));
  if (tensor.has_raw_data()) return from_raw(tensor, std::move(data));
  return from_typed(tensor, std::move(data));
}

Result<TensorData> TensorProtos::from_raw(const Tensor& tensor, TensorData data) {
  const int64_t size = data.size_bytes();
  const std::string_view raw = tensor.raw_data();
  if (static_cast<int64_t>(raw.size()) != size) {
    return unfit("raw_data has " + std::to_string(raw.size()) + " bytes, " + type_text(data) + " needs " +
                 std::to_string(size));
  }
  const auto copy = [raw, file = file_](int64_t most) -> Result<ByteBuffer> {
    ByteBuffer bytes = ByteBuffer::copy_of(as_bytes(raw.substr(0, static_cast<size_t>(most))));
    if (bytes.data() == nullptr && !raw.empty()) return fail(Code::out_of_memory);
    return bytes;
  };
  if (file_) return with_bytes(std::move(data), copy);
  GE_ASSIGN(ByteBuffer bytes, copy(size));
  normalize(data.dtype, data.count(), bytes.span());
  data.bytes = std::make_shared<const ByteBuffer>(std::move(bytes));
  return data;
}

Result<TensorData> TensorProtos::external(const Tensor& tensor, TensorData data) {
  std::string location, offset_text = "0", length_text = std::to_string(data.size_bytes());
  for (const KeyValue& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset_text = entry.value();
    if (entry.key() == "length") length_text = entry.value();
  }
  if (location.empty()) return unfit("its external data names no location");
  const auto offset = whole_number(offset_text), length = whole_number(length_text);
  if (!offset || !length) return unfit("offset or length of its external data is no whole number from 0 up");
  if (*length != data.size_bytes()) {
    return unfit("length " + length_text + " of its external data; " + type_text(data) + " needs " +
                 std::to_string(data.size_bytes()));
  }
  return files_.raw_data(location, *offset, std::move(data));
}

}  // namespace ge::onnx_wire

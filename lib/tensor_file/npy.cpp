// Elements of .npy files, in and out. Entry: read_npy, write_npy.
#include "tensor_file/npy.h"

#include <algorithm>

#include "tensor_file/npy_format.h"

namespace ge {

namespace {

// Writes dst in row-major order; src has its first dim fastest. Steps through dst with an odometer whose
// strides are src's.
template <class T>
void transpose(const std::vector<int64_t>& dims, const std::byte* src, std::byte* dst, int64_t count) {
  const size_t rank = dims.size();
  std::vector<int64_t> strides(rank, 1), index(rank, 0);
  for (size_t d = 1; d < rank; ++d) strides[d] = strides[d - 1] * dims[d - 1];
  int64_t from = 0;
  for (int64_t to = 0; to < count; ++to) {
    store_as(dst + to * static_cast<int64_t>(sizeof(T)),
             load_as<T>(src + from * static_cast<int64_t>(sizeof(T))));
    for (size_t d = rank; d-- > 0;) {
      from += strides[d];
      if (++index[d] < dims[d]) break;
      from -= strides[d] * dims[d];
      index[d] = 0;
    }
  }
}

Result<HostTensor> from_fortran_order(const HostTensor& source) {
  GE_ASSIGN(HostTensor result, make_host_tensor(source.dtype, source.dims));
  const int64_t count = source.count();
  const std::byte* src = source.bytes.data();
  switch (bits_of(source.dtype)) {
    case 8:
      transpose<uint8_t>(source.dims, src, result.bytes.data(), count);
      break;
    case 16:
      transpose<uint16_t>(source.dims, src, result.bytes.data(), count);
      break;
    case 32:
      transpose<uint32_t>(source.dims, src, result.bytes.data(), count);
      break;
    default:
      transpose<uint64_t>(source.dims, src, result.bytes.data(), count);
      break;
  }
  return result;
}

Result<HostTensor> finish(const NpyHeader& header, HostTensor tensor) {
  normalize(tensor.dtype, tensor.count(), tensor.bytes.span());
  const auto longer = [](int64_t d) { return d > 1; };
  const bool same_order = std::count_if(header.dims.begin(), header.dims.end(), longer) < 2;
  if (!header.fortran_order || same_order) return tensor;
  return from_fortran_order(tensor);
}

}  // namespace

Result<HostTensor> read_npy(ByteSpan bytes, const std::string& name) {
  GE_ASSIGN(NpyHeader header, read_npy_header(bytes, static_cast<int64_t>(bytes.size()), name));
  GE_ASSIGN(HostTensor tensor, make_host_tensor(header.dtype, header.dims));
  const ByteSpan elements = bytes.subspan(static_cast<size_t>(header.data_offset));
  std::copy(elements.begin(), elements.end(), tensor.bytes.data());
  return finish(header, std::move(tensor));
}

Result<HostTensor> read_npy(const File& file) {
  constexpr int64_t kPreamble = 12;
  GE_ASSIGN(const ByteBuffer start, file.read(0, std::min(kPreamble, file.size())));
  GE_ASSIGN(const NpyPreamble preamble, read_npy_preamble(start.span(), file.size(), file.path()));
  GE_ASSIGN(const ByteBuffer prefix, file.read(0, preamble.header_offset + preamble.header_size));
  GE_ASSIGN(NpyHeader header, read_npy_header(prefix.span(), file.size(), file.path()));
  GE_ASSIGN(HostTensor tensor, make_host_tensor(header.dtype, header.dims));
  GE_TRY(file.read_at(header.data_offset, tensor.bytes.span()));
  return finish(header, std::move(tensor));
}

Result<HostTensor> read_npy_file(const std::string& path) {
  GE_ASSIGN(const File file, File::open(path));
  return read_npy(file);
}

Result<std::string> npy_header(DType dtype, std::span<const int64_t> dims) {
  const std::string_view descr = npy_descr(dtype);
  if (descr.empty()) {
    return fail(Code::unsupported_feature)
        .say("npy files cannot hold " + std::string(name_of(dtype)))
        .because("numpy has no such dtype")
        .try_("write a .safetensors file, or cast the value to float32 first");
  }
  std::string shape = "(";
  for (size_t i = 0; i < dims.size(); ++i) shape += (i ? ", " : "") + std::to_string(dims[i]);
  shape += dims.size() == 1 ? ",)" : ")";
  std::string text =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + shape + ", }";
  const auto padded = [&](size_t preamble) { return (preamble + text.size() + 1 + 63) / 64 * 64 - preamble; };
  const bool small = padded(10) <= 0xffff;
  const size_t preamble = small ? 10 : 12;
  const size_t size = padded(preamble);
  text.resize(size - 1, ' ');
  text += '\n';
  std::string header(kNpyMagic);
  header += small ? '\x01' : '\x02';
  header += '\0';
  for (size_t i = 0; i < preamble - 8; ++i) header += static_cast<char>(size >> (8 * i));
  return header + text;
}

Result<ByteBuffer> write_npy(const TensorSpan& tensor) {
  GE_ASSIGN(const std::string header, npy_header(tensor.dtype, tensor.dims));
  ByteBuffer bytes = ByteBuffer::allocate(header.size() + tensor.bytes.size());
  if (!bytes.data()) return fail(Code::out_of_memory).say("out of memory while writing an npy file");
  const ByteSpan head = as_bytes(header);
  std::copy(tensor.bytes.begin(), tensor.bytes.end(), std::copy(head.begin(), head.end(), bytes.data()));
  return bytes;
}

Status write_npy_file(const std::string& path, const TensorSpan& tensor) {
  GE_ASSIGN(const std::string header, npy_header(tensor.dtype, tensor.dims));
  GE_ASSIGN(AtomicFile file, AtomicFile::create(path));
  GE_TRY(file.write(as_bytes(header)));
  GE_TRY(file.write(tensor.bytes));
  return file.commit();
}

}  // namespace ge

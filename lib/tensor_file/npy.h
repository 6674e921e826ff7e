// NumPy's .npy, format 1 to 3. Entry: read_npy, write_npy. Invariant: what is returned is row-major (Fortran
// order is transposed) and nothing is allocated before the header's shape has been checked against the bytes
// that are there. Refused as tensor_file_corrupt, saying what was found: object, big-endian, structured and
// text dtypes, truncated or trailing bytes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "platform/file.h"
#include "tensor_file/host_tensor.h"

namespace ge {

struct NpyHeader {
  DType dtype = DType::float32;
  std::vector<int64_t> dims;
  bool fortran_order = false;
  int64_t data_offset = 0;  // where the elements start
};

// `prefix` is the file's first bytes: at least its whole header, or the whole file. `file_size` is checked
// against the shape.
Result<NpyHeader> read_npy_header(ByteSpan prefix, int64_t file_size, const std::string& name);
Result<HostTensor> read_npy(const File& file);
Result<HostTensor> read_npy(ByteSpan bytes, const std::string& name);
Result<HostTensor> read_npy_file(const std::string& path);

// The header (64-byte aligned, version 1.0, or 2.0 where it is long). unsupported_feature for types numpy
// lacks (bfloat16, float8, 4-bit): the fix says to use safetensors.
Result<std::string> npy_header(DType dtype, std::span<const int64_t> dims);
Result<ByteBuffer> write_npy(const TensorSpan& tensor);
Status write_npy_file(const std::string& path, const TensorSpan& tensor);

}  // namespace ge

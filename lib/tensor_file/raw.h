// Raw little-endian row-major elements at an offset of a file. Entry: read_raw.
#pragma once
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "platform/file.h"
#include "tensor_file/host_tensor.h"

namespace ge {

// Reads bytes_of(dtype, dims) bytes at `offset`. Errors: bad_tensor_data where the file is too short or the
// offset negative, size_overflow.
Result<HostTensor> read_raw(const File& file, int64_t offset, DType dtype, std::vector<int64_t> dims);

}  // namespace ge

// Raw elements at an offset. Entry: read_raw.
#include "tensor_file/raw.h"

#include "tensor_file/npy_format.h"

namespace ge {

Result<HostTensor> read_raw(const File& file, int64_t offset, DType dtype, std::vector<int64_t> dims) {
  const MaybeInt size = tensor_bytes(dtype, dims);
  const std::string what = std::string(name_of(dtype)) + " " + dims_to_string(dims);
  if (!size) {
    return fail(Code::size_overflow).say("tensor size overflows").at(file.path()).because(what);
  }
  // Before anything is allocated.
  if (offset < 0 || offset > file.size() || *size > file.size() - offset) {
    return fail(Code::bad_tensor_data)
        .say("tensor data is outside its file")
        .at(file.path())
        .because(what + " at offset " + std::to_string(offset) + " needs " + std::to_string(*size) +
                 " bytes; the file has " + std::to_string(file.size()));
  }
  GE_ASSIGN(HostTensor tensor, make_host_tensor(dtype, std::move(dims)));
  GE_TRY(file.read_at(offset, tensor.bytes.span()));
  normalize(tensor.dtype, tensor.count(), tensor.bytes.span());
  return tensor;
}

}  // namespace ge

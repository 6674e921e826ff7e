// The safetensors format: a JSON header, then the tensors' bytes. Entry: SafetensorsFile::open,
// write_safetensors. Invariant: after open() every entry lies inside the file and its size is that of its
// dtype and shape; reads are lazy (pread).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "platform/file.h"
#include "tensor_file/host_tensor.h"

namespace ge {

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::float32;
  std::vector<int64_t> dims;
  int64_t offset = 0;  // from the file's start, bytes
  int64_t size_bytes = 0;
};

class SafetensorsFile {
 public:
  // Errors: tensor_file_corrupt (what and where), duplicate_key.
  static Result<SafetensorsFile> open(File file);
  static Result<SafetensorsFile> open_path(const std::string& path);
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }  // by offset, then name
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return metadata_; }
  const SafetensorsEntry* find(std::string_view name) const;  // nullptr where there is none
  // undefined_value with the nearest name where there is none. An entry of a dtype that ge lacks is refused
  // here, not at open().
  Result<HostTensor> read(std::string_view name) const;
  // The first `most` bytes of an entry of this file, or all where it has fewer.
  Result<ByteBuffer> read_start(const SafetensorsEntry& entry, int64_t most) const;
  const std::string& path() const { return file_.path(); }

 private:
  explicit SafetensorsFile(File file) : file_(std::move(file)) {}
  File file_;
  std::vector<SafetensorsEntry> entries_;                     // sorted by offset, then name
  std::vector<uint32_t> by_name_;                             // indices into entries_, sorted by name
  std::vector<std::pair<std::string, std::string>> foreign_;  // name, dtype ge has no type for
  std::vector<std::pair<std::string, std::string>> metadata_;
};

struct NamedTensor {
  std::string name;
  TensorSpan tensor;
};
// Deterministic: widest dtype first, then by name; the header is padded with spaces to 8 bytes. Errors:
// unsupported_feature (4-bit types), duplicate_name.
Result<ByteBuffer> write_safetensors(const std::vector<NamedTensor>& tensors,
                                     const std::vector<std::pair<std::string, std::string>>& metadata = {});

}  // namespace ge

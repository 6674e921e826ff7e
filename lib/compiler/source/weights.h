// Tensor data of graph.json: inline numbers, fills, base64, safetensors, npy and raw files. Entry:
// TensorReader. Invariant: what is returned has exactly the bytes its dtype and dims need; files were found,
// checked, and are read later.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/source/fields.h"
#include "platform/file.h"
#include "tensor_file/safetensors.h"

namespace ge {

class TensorReader {
 public:
  TensorReader(std::string folder, ErrorList& errors) : folder_path_(std::move(folder)), errors_(errors) {}

  // The tensor that an object with dtype, shape and data describes (an initializer, or a tensor attribute).
  std::optional<TensorData> read(const Fields& fields);
  std::optional<DType> dtype(const Fields& fields) const;
  // Little-endian bytes of a file beneath the folder, for a tensor whose dtype and dims are known. Errors:
  // bad_tensor_data where the file is too short, and those of Folder::open_beneath.
  Result<TensorData> raw_data(const std::string& path, int64_t offset, TensorData tensor);
  // Makes the bytes of tensors whose numbers stand in the text: eight for a digit and a comma, so not before
  // the whole text is known to be sound. Until then they were checked and are empty.
  Status store_inline();
  // The files that tensors come from, as paths.
  std::vector<std::string> files() const { return {files_.begin(), files_.end()}; }

 private:
  std::optional<std::vector<int64_t>> static_dims(const Value& shape) const;
  std::optional<TensorData> inline_data(const Value& data, TensorData tensor);
  std::optional<TensorData> object_data(const Value& data, TensorData tensor);
  std::optional<TensorData> fill_data(const Value& fill, TensorData tensor) const;
  std::optional<TensorData> base64_data(const Value& text, TensorData tensor) const;
  std::optional<TensorData> file_data(const Fields& data, TensorData tensor);
  Result<TensorData> safetensors_data(const std::string& path, const std::string& name, TensorData tensor);
  Result<TensorData> npy_data(const std::string& path, TensorData tensor);
  Result<std::shared_ptr<const Folder>> folder();
  Result<File> open(const std::string& path);
  Result<std::shared_ptr<const SafetensorsFile>> safetensors(const std::string& path);
  Result<std::shared_ptr<const File>> raw_file(const std::string& path);

  struct Inline {
    Value data;
    DType dtype;
    int64_t size_bytes;
    std::shared_ptr<ByteBuffer> bytes;
  };
  std::string folder_path_;
  ErrorList& errors_;
  std::vector<Inline> inline_;
  std::shared_ptr<const Folder> folder_;
  std::map<std::string, Result<std::shared_ptr<const SafetensorsFile>>>
      safetensors_;  // each file is opened once
  std::map<std::string, Result<std::shared_ptr<const File>>> raw_files_;
  std::set<std::string> files_;
  std::set<std::string> told_;  // faults of files
};

// That a shape has no more dims than a tensor may have, before any of them is looked at; else it is told.
bool check_rank(const Value& shape, ErrorList& errors);

// The tensor with the bytes that `load` gives, normalized: read at once where they are few, since shapes,
// axes and scalars are looked at while compiling; else when they are asked for. `load(n)` gives the first n
// bytes, at most all of them.
Result<TensorData> with_bytes(TensorData tensor, std::function<Result<ByteBuffer>(int64_t)> load);

// Stores one JSON number (or "NaN", "Infinity", "-Infinity") as element `index`; false and why where it does
// not fit the dtype.
bool store_number(const Value& number, DType dtype, std::byte* bytes, int64_t index, std::string& why);
// "NaN", "Infinity" and "-Infinity"; nullopt for other text.
std::optional<double> special_number(std::string_view text);

}  // namespace ge

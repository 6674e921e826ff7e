// TensorProto -> TensorData: typed lists, raw bytes, external files, in every dtype ge has. Entry:
// TensorProtos. Invariant: what is returned has exactly the bytes its dtype and dims need; nothing is
// allocated by a number that was not compared with the bytes that are there.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>

#include "compiler/onnx_file/messages.h"
#include "compiler/source/weights.h"

namespace ge::onnx_wire {

class TensorProtos {
 public:
  // `file` is what tensors are views into, kept for as long as any of their bytes may be asked for; null:
  // bytes are copied at once.
  TensorProtos(std::string folder, ErrorList& errors, std::shared_ptr<const ByteBuffer> file)
      : files_(std::move(folder), errors), file_(std::move(file)) {}

  // Asked again for one tensor (functions are inlined more than once) it gives the same bytes. The error has
  // no place: the caller says whose tensor it is.
  Result<TensorData> read(const Tensor& tensor);
  std::vector<std::string> files() const { return files_.files(); }  // of external data

 private:
  Result<TensorData> read_new(const Tensor& tensor);
  Result<TensorData> from_raw(const Tensor& tensor, TensorData data);
  Result<TensorData> external(const Tensor& tensor, TensorData data);
  TensorReader files_;
  std::shared_ptr<const ByteBuffer> file_;
  std::unordered_map<const char*, TensorData> known_;  // by where the message starts
};

// "float8e4m3fnuz" for 18: dtypes ge does not have, for messages; "dtype number 99" for others.
std::string onnx_dtype_name(int64_t number);

}  // namespace ge::onnx_wire

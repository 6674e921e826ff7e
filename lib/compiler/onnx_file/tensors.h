// TensorProto -> TensorData: typed lists, raw bytes, external files, in every dtype ge has. Entry:
// TensorProtos. Invariant: what is returned has exactly the bytes its dtype and dims need; nothing is
// allocated by a number that was not compared with the bytes that are there.
#pragma once
#include <string>
#include <unordered_map>

#include "compiler/onnx_file/onnx.pb.h"
#include "compiler/source/weights.h"

namespace ge::onnx_wire {

class TensorProtos {
 public:
  TensorProtos(std::string folder, ErrorList& errors) : files_(std::move(folder), errors) {}

  // Takes the tensor's bytes; asked again (functions are inlined more than once) it gives the same ones. The
  // error has no place: the caller says whose tensor it is.
  Result<TensorData> read(Tensor& tensor);
  std::vector<std::string> files() const { return files_.files(); }  // of external data

 private:
  Result<TensorData> read_new(Tensor& tensor);
  Result<TensorData> external(const Tensor& tensor, TensorData data);
  TensorReader files_;
  std::unordered_map<const Tensor*, TensorData> known_;
};

// "float8e4m3fnuz" for 18: dtypes ge does not have, for messages; "dtype number 99" for others.
std::string onnx_dtype_name(int64_t number);

}  // namespace ge::onnx_wire

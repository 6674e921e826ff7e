// What stands in for the ONNX reader where ge is built without protobuf.
#include "compiler/onnx_file/onnx_file.h"

namespace ge {
namespace {
Diagnostic refusal(const std::string& name) {
  return fail(Code::onnx_unavailable)
      .say("this build of ge reads graph.json only: it was made without protobuf")
      .at(name)
      .try_(
          "install libprotobuf-dev and protobuf-compiler and build ge again, or write the model as "
          "graph.json with --emit graph where ge reads ONNX");
}
}  // namespace

bool reads_onnx() {
  return false;
}

Result<Graph> read_onnx(ByteBuffer, const std::string& display_name, std::string, const OnnxReadOptions&) {
  return refusal(display_name);
}

Result<TensorData> read_onnx_tensor(ByteSpan, const std::string& display_name, std::string*) {
  return refusal(display_name);
}

}  // namespace ge

// Small ONNX models, made by protobuf's own writer. Entry: ModelMaker.
#pragma once
#include <string>
#include <vector>

#include "compiler/onnx_file/onnx_file.h"
#include "onnx.pb.h"

namespace ge::test {

// ONNX's numbers of element types.
inline constexpr int kOnnxFloat = 1, kOnnxInt64 = 7, kOnnxInt32 = 6, kOnnxFloat16 = 10;

// A model of IR version 8 under opset 13.
struct ModelMaker {
  onnx_proto::Model model;
  ModelMaker(int64_t opset = 13);
  onnx_proto::Graph& graph() { return *model.mutable_graph(); }

  // "3" is a number, other texts are symbols, "" is unknown.
  ModelMaker& input(const std::string& name, const std::vector<std::string>& dims, int dtype = kOnnxFloat);
  ModelMaker& output(const std::string& name);
  ModelMaker& output(const std::string& name, const std::vector<std::string>& dims, int dtype = kOnnxFloat);
  onnx_proto::Node& node(const std::string& op, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs, const std::string& name = "");
  onnx_proto::Tensor& floats(const std::string& name, const std::vector<int64_t>& dims,
                             const std::vector<float>& values);
  onnx_proto::Tensor& ints(const std::string& name, const std::vector<int64_t>& values);

  Result<Graph> read(const std::string& folder = "") const;
  Error fault() const;     // of reading; fails the test where there is none
  std::string ir() const;  // the graph as read, printed
};

ByteBuffer bytes_of_model(const onnx_proto::Model& model);
onnx_proto::Node& add_node(google::protobuf::RepeatedPtrField<onnx_proto::Node>& nodes, const std::string& op,
                           const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                           const std::string& name = "");
void set_int(onnx_proto::Node& node, const std::string& name, int64_t value);
void set_ints(onnx_proto::Node& node, const std::string& name, const std::vector<int64_t>& values);
void set_float(onnx_proto::Node& node, const std::string& name, float value);

}  // namespace ge::test

#include "unit/onnx_models.h"

#include <algorithm>

#include "catch.h"
#include "compiler/ir/text.h"

namespace ge::test {
namespace {

void set_type(onnx_proto::ValueInfo& info, const std::vector<std::string>& dims, int dtype) {
  auto& tensor = *info.mutable_type()->mutable_tensor();
  tensor.set_elem_type(dtype);
  tensor.mutable_shape();
  for (const std::string& d : dims) {
    auto& dim = *tensor.mutable_shape()->add_dim();
    const bool number = !d.empty() && std::all_of(d.begin(), d.end(),
                                                  [](char c) { return (c >= '0' && c <= '9') || c == '-'; });
    if (number)
      dim.set_value(std::stoll(d));
    else if (!d.empty())
      dim.set_symbol(d);
  }
}

onnx_proto::Attribute& attribute(onnx_proto::Node& node, const std::string& name, int type) {
  auto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(type);
  return a;
}

}  // namespace

ModelMaker::ModelMaker(int64_t opset) {
  model.set_ir_version(8);
  model.add_opset_import()->set_version(opset);
  graph().set_name("made");
}

ModelMaker& ModelMaker::input(const std::string& name, const std::vector<std::string>& dims, int dtype) {
  auto& info = *graph().add_input();
  info.set_name(name);
  set_type(info, dims, dtype);
  return *this;
}

ModelMaker& ModelMaker::output(const std::string& name) {
  graph().add_output()->set_name(name);
  return *this;
}

ModelMaker& ModelMaker::output(const std::string& name, const std::vector<std::string>& dims, int dtype) {
  auto& info = *graph().add_output();
  info.set_name(name);
  set_type(info, dims, dtype);
  return *this;
}

onnx_proto::Node& ModelMaker::node(const std::string& op, const std::vector<std::string>& inputs,
                                   const std::vector<std::string>& outputs, const std::string& name) {
  return add_node(*graph().mutable_node(), op, inputs, outputs, name);
}

onnx_proto::Tensor& ModelMaker::floats(const std::string& name, const std::vector<int64_t>& dims,
                                       const std::vector<float>& values) {
  auto& t = *graph().add_initializer();
  t.set_name(name);
  t.set_data_type(kOnnxFloat);
  for (const int64_t d : dims) t.add_dims(d);
  for (const float v : values) t.add_float_data(v);
  return t;
}

onnx_proto::Tensor& ModelMaker::ints(const std::string& name, const std::vector<int64_t>& values) {
  auto& t = *graph().add_initializer();
  t.set_name(name);
  t.set_data_type(kOnnxInt64);
  t.add_dims(static_cast<int64_t>(values.size()));
  for (const int64_t v : values) t.add_int64_data(v);
  return t;
}

Result<Graph> ModelMaker::read(const std::string& folder) const {
  return read_onnx(bytes_of_model(model), "m.onnx", folder);
}

Error ModelMaker::fault() const {
  auto graph = read();
  REQUIRE_FALSE(graph.ok());
  return std::move(graph).take_error();
}

std::string ModelMaker::ir() const {
  auto graph = read();
  if (!graph.ok()) return graph.error().to_string();
  return print(*graph);
}

ByteBuffer bytes_of_model(const onnx_proto::Model& model) {
  return ByteBuffer::copy_of(as_bytes(model.SerializeAsString()));
}

onnx_proto::Node& add_node(google::protobuf::RepeatedPtrField<onnx_proto::Node>& nodes, const std::string& op,
                           const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                           const std::string& name) {
  auto& node = *nodes.Add();
  node.set_op_type(op);
  for (const std::string& i : inputs) node.add_input(i);
  for (const std::string& o : outputs) node.add_output(o);
  if (!name.empty()) node.set_name(name);
  return node;
}

void set_int(onnx_proto::Node& node, const std::string& name, int64_t value) {
  attribute(node, name, 2).set_i(value);
}
void set_ints(onnx_proto::Node& node, const std::string& name, const std::vector<int64_t>& values) {
  auto& a = attribute(node, name, 7);
  for (const int64_t v : values) a.add_ints(v);
}
void set_float(onnx_proto::Node& node, const std::string& name, float value) {
  attribute(node, name, 1).set_f(value);
}

}  // namespace ge::test

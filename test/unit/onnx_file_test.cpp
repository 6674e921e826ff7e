// ONNX models that can be read: names, types, weights, functions, subgraphs; and that graph.json says the
// same.
#include "catch.h"
#include "compiler/compile.h"
#include "compiler/ir/text.h"
#include "compiler/onnx_ops/lower.h"
#include "compiler/source/graph_json.h"
#include "compiler/source/graph_json_write.h"
#include "numeric/convert.h"
#include "platform/file.h"
#include "temp_folder.h"
#include "unit/onnx_models.h"
#include "work_time.h"

using namespace ge;
using namespace ge::test;

namespace {

Graph read_ok(const ModelMaker& m, const std::string& folder = "") {
  auto graph = m.read(folder);
  REQUIRE_OK(graph);
  return std::move(graph).value();
}

std::vector<double> numbers_of(const TensorData& data) {
  const auto bytes = full_bytes(data);
  REQUIRE_OK(bytes);
  std::vector<double> list;
  for (int64_t i = 0; i < data.count(); ++i) list.push_back(load_as_double(data.dtype, (*bytes)->data(), i));
  return list;
}

// The first initializer's numbers.
std::vector<double> initializer(const ModelMaker& m, const std::string& folder = "") {
  const Graph graph = read_ok(m, folder);
  for (NodeId id = 0; id < graph.node_capacity(); ++id)
    if (graph.node(id).data) return numbers_of(*graph.node(id).data);
  return {};
}

std::string plan_of(Graph graph) {
  auto compiled = compile(std::move(graph), {});
  REQUIRE_OK(compiled);
  std::string bytes;
  REQUIRE_OK(compiled->write([&](ByteSpan part) {
    bytes += as_text(part);
    return Status();
  }));
  return bytes;
}

ModelMaker two_layers() {
  ModelMaker m;
  m.input("x", {"batch", "4"});
  std::vector<float> w(40);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i) / 7;
  m.floats("w", {4, 10}, w);
  m.floats("b", {10}, std::vector<float>(10, 0.5f));
  m.node("MatMul", {"x", "w"}, {"h"}, "fc");
  m.node("Add", {"h", "b"}, {"s"}, "/bias/Add");
  set_int(m.node("Softmax", {"s"}, {"y"}), "axis", -1);
  m.output("y", {"batch", "10"});
  return m;
}

// The graph.json written from the model, and the plan of that.
struct ByWayOfJson {
  std::string text, plan;
};
ByWayOfJson by_way_of_json(const ModelMaker& m) {
  const TempFolder folder;
  REQUIRE_OK(write_graph_json(read_ok(m), folder / "g.json"));
  const auto text = read_file(folder / "g.json");
  REQUIRE_OK(text);
  auto graph = read_graph_json(text->span(), "g.json", folder.path());
  REQUIRE_OK(graph);
  return {std::string(as_text(text->span())), plan_of(std::move(graph).value())};
}

}  // namespace

TEST_CASE("a model and the graph.json written from it give the same plan, byte for byte") {
  const ModelMaker m = two_layers();
  CHECK(plan_of(read_ok(m)) == by_way_of_json(m).plan);
}

namespace {
// Constant nodes of one tensor each.
void add_constant(ModelMaker& m, const std::string& output, int dtype, const std::vector<int64_t>& dims,
                  const std::string& raw) {
  onnx_proto::Attribute& value = *m.node("Constant", {}, {output}).add_attribute();
  value.set_name("value");
  value.set_type(4);
  for (const int64_t d : dims) value.mutable_t()->add_dims(d);
  value.mutable_t()->set_data_type(dtype);
  value.mutable_t()->set_raw_data(raw);
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}
}  // namespace

TEST_CASE("equal constants are one, wherever and however their bytes are written, and from graph.json too") {
  std::string ramp(8192, 'a'), other_end = ramp, ones(8192, '\1'), twos(8192, '\2');
  other_end.back() = 'b';
  struct Row {
    const char* name;
    int dtype;
    std::vector<int64_t> dims;
    std::string first, second;
    bool equal;
  };
  const std::vector<Row> rows = {
      {"large", kOnnxFloat, {2, 1024}, ramp, ramp, true},
      {"large, apart in the last byte alone", kOnnxFloat, {2, 1024}, ramp, other_end, false},
      {"bools", 9, {4}, std::string("\0\1\2\xff", 4), std::string("\0\1\1\1", 4), true},
      {"many bools", 9, {8192}, ones, twos, true},
      {"one bool", 9, {}, "\2", "\1", true},
      {"half a byte of 4 bits", 22, {3}, "\x21\xf3", "\x21\x03", true},
      {"one of 4 bits", 22, {1}, "\xf3", "\x53", true},
      {"two of 4 bits", 22, {2}, "\xf3", "\x53", false},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    ModelMaker m(21);
    std::vector<std::string> dims;
    for (const int64_t d : row.dims) dims.push_back(std::to_string(d));
    m.input("x", dims).output("y").output("z");
    add_constant(m, "c", row.dtype, row.dims, row.first);
    add_constant(m, "d", row.dtype, row.dims, row.second);
    for (const char* name : {"c", "d"}) {
      onnx_proto::Node& cast = m.node("Cast", {name}, {std::string(name) + "f"});
      set_int(cast, "to", 1);
      m.node("Add", {"x", std::string(name) + "f"}, {name == std::string("c") ? "y" : "z"});
    }
    const ByWayOfJson json = by_way_of_json(m);
    if (row.first.size() <= 4) CHECK(count_of(json.text, "base64") == 0);
    CHECK(plan_of(read_ok(m)) == json.plan);
    CompileOptions options;
    options.targets = {"cpu"};
    const auto optimised = optimise(read_ok(m), options, "cpu");
    REQUIRE_OK(optimised);
    // One loop makes both outputs of one sum.
    CHECK((optimised->outputs[0] == optimised->outputs[1]) == row.equal);
  }
}

TEST_CASE("a dim and a type of several forms is the form that stands last, as protobuf reads it") {
  ModelMaker m;
  m.input("x", {"n", "3"}).output("y");
  m.node("Relu", {"x"}, {"y"});
  std::string bytes = m.model.SerializeAsString();
  const auto put = [](std::string text, const std::string& part, const std::string& by) {
    const size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    return text.replace(at, part.size(), by);
  };
  const auto dims_of = [](const std::string& model) {
    auto graph = read_onnx(ByteBuffer::copy_of(as_bytes(model)), "m.onnx", "");
    REQUIRE_OK(graph);
    return to_string(graph->type(graph->inputs[0]).dims);
  };
  // In the place of {dim "n"} {dim 3}, of as many bytes: one dim of both.
  const std::string both("\x0a\x03\x12\x01n\x0a\x02\x08\x03", 9);
  CHECK(dims_of(bytes) == "[n, 3]");
  CHECK(dims_of(put(bytes, both, std::string("\x0a\x07\x12\x01n\x08\x03\x08\x03", 9))) == "[3]");
  CHECK(dims_of(put(bytes, both, std::string("\x0a\x07\x08\x03\x08\x03\x12\x01n", 9))) == "[n]");
  onnx_proto::ValueInfo& info = *m.graph().mutable_input(0);
  std::string type = info.type().SerializeAsString();
  m.graph().mutable_input(0)->mutable_type()->ParseFromString(type);
  std::string sequence_last = info.type().SerializeAsString() + std::string("\x22\x00", 2);
  info.mutable_type()->ParseFromString(sequence_last);
  CHECK(m.fault().first().code == Code::unsupported_feature);
}

TEST_CASE("unsorted nodes, absent operands, names of any bytes, nodes that share a name") {
  ModelMaker m;
  m.input("x", {"2"}).output("y");
  m.node("Relu", {"in\x01side\xff"}, {"y"}, "same");
  m.node("Clip", {"x", "", "top"}, {"in\x01side\xff"}, "same");
  m.floats("top", {}, {1});
  const Graph graph = read_ok(m);
  const auto order = graph.order();
  REQUIRE(order.size() == 3);
  CHECK(graph.node(order[1]).onnx->type == "Clip");
  CHECK(graph.node(order[1]).operands[1] == kNone);
  CHECK(graph.value(graph.node(order[1]).results[0]).name == "in\\x01side\\xff");
  CHECK(graph.node(order[1]).sources[0].name == "same#2");
  CHECK(graph.node(order[2]).sources[0].name == "same");
  CHECK(graph.node(order[1]).sources[0].path == "/nodes/1");
}

TEST_CASE("an initializer that is an input is its default: no input is left") {
  ModelMaker m;
  m.input("x", {"2"}).input("w", {"2"}).output("y");
  m.floats("w", {2}, {1, 2});
  m.node("Add", {"x", "w"}, {"y"});
  const Graph graph = read_ok(m);
  REQUIRE(graph.inputs.size() == 1);
  CHECK(graph.value(graph.inputs[0]).name == "x");
}

TEST_CASE("dims: numbers, names, expressions, texts that are none, unknown ones by input and axis") {
  ModelMaker m;
  m.input("a:0", {"3", "batch", "2*seq + 1", "batch size?", "", "-1", "n\xff"}).output("y");
  m.node("Relu", {"a:0"}, {"y"});
  const Graph graph = read_ok(m);
  CHECK(to_string(graph.type(graph.inputs[0]).dims) ==
        "[3, batch, 2*seq + 1, 'batch size?', 'a:0.4', 'a:0.5', nxff]");
}

TEST_CASE("typed lists and raw bytes of every kind of dtype") {
  struct Row {
    int dtype;
    std::vector<double> values;
    std::function<void(onnx_proto::Tensor&)> fill;
  };
  const std::vector<Row> rows = {
      {11, {0.1, -2}, [](auto& t) { t.add_double_data(0.1), t.add_double_data(-2); }},
      {3, {-128, 127}, [](auto& t) { t.add_int32_data(-128), t.add_int32_data(127); }},
      {4, {65535, 1}, [](auto& t) { t.add_int32_data(65535), t.add_int32_data(1); }},
      {9, {1, 0}, [](auto& t) { t.add_int32_data(1), t.add_int32_data(0); }},
      {10, {1, -2}, [](auto& t) { t.add_int32_data(0x3c00), t.add_int32_data(0xc000); }},
      {16, {1, -2}, [](auto& t) { t.add_int32_data(0x3f80), t.add_int32_data(0xc000); }},
      {17, {1, -2}, [](auto& t) { t.add_int32_data(0x38), t.add_int32_data(0xc0); }},
      {12, {4294967295.0, 0}, [](auto& t) { t.add_uint64_data(4294967295u), t.add_uint64_data(0); }},
      {22, {-8, 7}, [](auto& t) { t.add_int32_data(0x78); }},
      {21, {8, 7}, [](auto& t) { t.add_int32_data(0x78); }},
      {21, {8, 7}, [](auto& t) { t.set_raw_data("\x78"); }},
      {5, {258, -1}, [](auto& t) { t.set_raw_data(std::string("\x02\x01\xff\xff", 4)); }},
  };
  for (const Row& row : rows) {
    ModelMaker m;
    m.input("x", {"2"}).output("x");
    onnx_proto::Tensor& t = *m.graph().add_initializer();
    t.set_name("w");
    t.set_data_type(row.dtype);
    t.add_dims(2);
    row.fill(t);
    INFO("dtype " << row.dtype);
    CHECK(initializer(m) == row.values);
  }
}

TEST_CASE("external data: from a file beneath the model's folder") {
  const TempFolder folder;
  folder.write("weights/w.bin", std::string("....", 4) + std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  ModelMaker m;
  m.input("x", {"2"}).output("x");
  onnx_proto::Tensor& t = m.floats("w", {2}, {});
  t.set_data_location(1);
  const auto entry = [&](const std::string& key, const std::string& value) {
    auto& e = *t.add_external_data();
    e.set_key(key);
    e.set_value(value);
  };
  entry("location", "weights/w.bin");
  entry("offset", "4");
  entry("length", "8");
  CHECK(initializer(m, folder.path()) == std::vector<double>{1, 2});
}

TEST_CASE(
    "functions are inlined: attributes, defaults, nested calls, absent inputs, outputs that are inputs") {
  ModelMaker m;
  m.input("x", {"2"}).output("y").output("same");
  auto& inner = *m.model.add_functions();
  inner.set_domain("made.here");
  inner.set_name("Leaky");
  inner.add_input("a");
  inner.add_output("b");
  inner.add_opset_import()->set_version(13);
  auto& leaky = add_node(*inner.mutable_node(), "LeakyRelu", {"a"}, {"b"}, "act");
  auto& alpha = *leaky.add_attribute();
  alpha.set_name("alpha");
  alpha.set_type(1);
  alpha.set_ref_attr_name("slope");
  auto& fallback = *inner.add_attribute_default();
  fallback.set_name("slope");
  fallback.set_type(1);
  fallback.set_f(0.25f);
  auto& outer = *m.model.add_functions();
  outer.set_domain("made.here");
  outer.set_name("Twice");
  outer.add_input("a");
  outer.add_input("limit");
  outer.add_output("b");
  outer.add_output("a");
  outer.add_opset_import()->set_version(13);
  auto& first = add_node(*outer.mutable_node(), "Leaky", {"a"}, {"t"}, "one");
  first.set_domain("made.here");
  set_float(first, "slope", 0.5f);
  add_node(*outer.mutable_node(), "Leaky", {"t"}, {"u"}, "two").set_domain("made.here");
  add_node(*outer.mutable_node(), "Clip", {"u", "", "limit"}, {"b"});
  m.node("Twice", {"x"}, {"y", "same"}, "call").set_domain("made.here");
  const Graph graph = read_ok(m);
  const auto order = graph.order();
  REQUIRE(order.size() == 4);
  CHECK(graph.node(order[0]).sources[0].name == "call/one/act");
  CHECK(attr_double(graph.node(order[0]), "alpha") == 0.5);
  CHECK(attr_double(graph.node(order[1]), "alpha") == 0.25);
  CHECK(graph.node(order[2]).operands == std::vector<ValueId>{graph.node(order[1]).results[0], kNone, kNone});
  CHECK(graph.value(graph.node(order[2]).results[0]).name == "y");
  CHECK(graph.node(order[3]).onnx->type == "Identity");
  CHECK(graph.node(order[3]).operands[0] == graph.inputs[0]);
  Graph lowered = graph.clone();
  REQUIRE_OK(lower_onnx(lowered));
}

TEST_CASE("subgraphs are read with what they use of the graph around them") {
  ModelMaker m;
  m.input("x", {"2"}).input("c", {}, 9).output("y");
  auto& node = m.node("If", {"c"}, {"y"});
  auto& branch = *node.add_attribute();
  branch.set_name("then_branch");
  branch.set_type(5);
  add_node(*branch.mutable_g()->mutable_node(), "Relu", {"x"}, {"r"});
  branch.mutable_g()->add_output()->set_name("r");
  const Graph graph = read_ok(m);
  const Node& read = graph.node(graph.order()[0]);
  CHECK(read.operands == std::vector<ValueId>{graph.inputs[1], graph.inputs[0]});
  Graph lowered = graph.clone();
  const Status status = lower_onnx(lowered);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().first().code == Code::needs_constant);
}

TEST_CASE("what the model declares is compared with what is inferred: dtypes must agree, shapes are noted") {
  ModelMaker m;
  m.input("x", {"2"}).output("y", {"3"});
  m.node("Relu", {"x"}, {"y"}, "act");
  Graph graph = read_ok(m);
  REQUIRE_OK(lower_onnx(graph));
  REQUIRE(graph.notes.size() == 1);
  CHECK(graph.notes[0] == "Relu 'act': output 'y' is declared as [3], inferred as [2]; the latter is used");
  m.graph().mutable_output(0)->mutable_type()->mutable_tensor()->set_elem_type(kOnnxFloat16);
  graph = read_ok(m);
  const Status status = lower_onnx(graph);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().first().code == Code::dtype_mismatch);
  CHECK(status.error().first().found == "declared float16, inferred float32");
}

namespace {
// Bytes of the CPU plan that the model compiles to.
size_t plan_size(const ModelMaker& m) {
  CompileOptions options;
  options.targets = {"cpu"};
  auto compiled = compile(read_ok(m), options);
  REQUIRE_OK(compiled);
  size_t size = 0;
  REQUIRE_OK(compiled->write([&](ByteSpan part) {
    size += part.size();
    return Status();
  }));
  return size;
}
}  // namespace

TEST_CASE("50,000 nodes in a chain and 20,000 inputs of one Concat take linear time") {
  const WorkTime time;
  ModelMaker chain;
  chain.input("v0", {"2"}).output("v50000");
  for (int i = 50000; i > 0; --i)  // the worst order; a softmax now and then, so that it is no single loop
    chain.node(i % 100 == 0 ? "Softmax"
               : i % 2 == 0 ? "Relu"
                            : "Neg",
               {"v" + std::to_string(i - 1)}, {"v" + std::to_string(i)});
  CHECK(plan_size(chain) > 0);
  ModelMaker wide;
  wide.input("x", {"1"}).input("z", {"2"}).output("y");
  std::vector<std::string> parts;
  for (int i = 0; i < 20000; ++i) parts.push_back(i % 2 == 0 ? "x" : "z");
  set_int(wide.node("Concat", parts, {"y"}), "axis", 0);
  CHECK(plan_size(wide) > 0);
  CHECK(time.seconds() < 30);  // about 2
}

TEST_CASE("a model whose weights are written as one number stays small") {
  ModelMaker m;  // as ONNX's light_vgg19: 9 kB that unfold to 575 MB
  m.input("x", {"batch", "25088"}).output("y");
  m.ints("shape", {25088, 4096});
  onnx_proto::Node& weight = m.node("ConstantOfShape", {"shape"}, {"w"});
  onnx_proto::Attribute& value = *weight.add_attribute();
  value.set_name("value");
  value.set_type(4);  // TENSOR
  value.mutable_t()->add_dims(1);
  value.mutable_t()->set_data_type(kOnnxFloat);
  value.mutable_t()->add_float_data(0.01F);
  m.node("MatMul", {"x", "w"}, {"h"});
  m.node("Relu", {"h"}, {"y"});
  CHECK(plan_size(m) < 64 * 1024);
}

// ONNX models that cannot be read: what is said, and where.
#include <bit>
#include <limits>

#include "catch.h"
#include "temp_folder.h"
#include "unit/onnx_models.h"

using namespace ge;
using namespace ge::test;

namespace {

// "E0211 message: found" of the first fault.
std::string said(const Error& error) {
  const Diagnostic& d = error.first();
  return code_string(d.code) + " " + (d.message.empty() ? std::string(title_of(d.code)) : d.message) +
         (d.found.empty() ? "" : ": " + d.found);
}

ModelMaker relu() {
  ModelMaker m;
  m.input("x", {"2"}).output("y");
  m.node("Relu", {"x"}, {"y"}, "act");
  return m;
}

onnx_proto::Function& function(ModelMaker& m, const std::string& name, const std::string& calls) {
  auto& f = *m.model.add_functions();
  f.set_domain("f");
  f.set_name(name);
  f.add_input("a");
  f.add_output("b");
  f.add_opset_import()->set_version(13);
  add_node(*f.mutable_node(), calls, {"a"}, {"b"}).set_domain("f");
  return f;
}

}  // namespace

TEST_CASE("versions outside what ge reads are refused") {
  ModelMaker m = relu();
  m.model.set_ir_version(2);
  CHECK(said(m.fault()) == "E0314 the model's IR version is not supported: found 2, allowed 3 .. 13");
  m.model.set_ir_version(99);
  CHECK(m.fault().first().code == Code::unsupported_op_version);
  m = relu();
  m.model.mutable_opset_import(0)->set_version(1000);
  CHECK(said(m.fault()) == "E0314 opset is not supported: found 1000 of ai.onnx, allowed 1 .. 28");
  m = relu();
  m.model.clear_opset_import();
  CHECK(said(m.fault()) == "E0205 the model says no opset version of ai.onnx");
  m.model.clear_graph();
  CHECK(m.fault().first().code == Code::onnx_syntax);
}

TEST_CASE("faults of the graph name the node, all at once") {
  ModelMaker m = relu();
  m.node("Add", {"x", "nowhere"}, {"y"}, "sum");
  m.output("gone");
  const Error error = m.fault();
  REQUIRE(error.list().size() == 3);
  CHECK(said(error) ==
        "E0210 value 'y' is defined twice: names of inputs, initializers and node outputs are unique");
  CHECK(error.list()[1].path == "/nodes/1/inputs/1");
  CHECK(error.list()[1].code == Code::undefined_value);
  CHECK(error.list()[2].path == "/outputs/1");
  for (const Diagnostic& d : error.list()) CHECK(d.place == "m.onnx");
}

TEST_CASE("nodes without an operator and initializers without a name are refused") {
  ModelMaker m = relu();
  m.node("", {"x"}, {"z"}, "blank");
  CHECK(said(m.fault()) == "E0205 a node names no operator");
  CHECK(m.fault().first().path == "/nodes/1");
  ModelMaker w = relu();
  w.floats("", {1}, {1});
  CHECK(said(w.fault()) == "E0205 an initializer has no name");
  CHECK(w.fault().first().path == "/initializers/0");
}

TEST_CASE("of very many faults the first thousand are told") {
  ModelMaker m = relu();
  for (int i = 0; i < 5000; ++i) m.node("Relu", {"x"}, {"y"});
  const Error error = m.fault();
  REQUIRE(error.list().size() == 1001);
  CHECK(error.list().back().code == Code::document_limit);
  CHECK(error.list().back().found == "the rest is not read");
}

TEST_CASE("cycles of nodes and of functions are named") {
  ModelMaker m;
  m.input("x", {"2"}).output("a");
  m.node("Add", {"x", "b"}, {"a"}, "first");
  m.node("Relu", {"a"}, {"b"}, "second");
  CHECK(said(m.fault()) == "E0212 nodes form a cycle: Add 'first' -> Relu 'second' -> Add 'first'");
  ModelMaker f = relu();
  function(f, "A", "B");
  function(f, "B", "A");
  f.node("A", {"x"}, {"z"}, "call").set_domain("f");
  CHECK(f.fault().first().code == Code::graph_cycle);
}

TEST_CASE("a function that calls itself from a subgraph is told, and ends") {
  ModelMaker m = relu();
  auto& f = function(m, "A", "Other");
  f.mutable_node(0)->set_op_type("If");
  f.mutable_node(0)->set_domain("");
  auto& branch = *f.mutable_node(0)->add_attribute();
  branch.set_name("then_branch");
  branch.set_type(5);
  add_node(*branch.mutable_g()->mutable_node(), "A", {"a"}, {"r"}).set_domain("f");
  branch.mutable_g()->add_output()->set_name("r");
  m.node("A", {"x"}, {"z"}, "call").set_domain("f");
  CHECK(said(m.fault()) == "E0212 function A 'call/A.0' calls itself: A -> A");
}

TEST_CASE("functions that hold subgraphs that call functions nest so deep and no deeper") {
  ModelMaker m = relu();
  for (int i = 0; i < 40; ++i) {
    auto& f = function(m, "f" + std::to_string(i), "If");
    f.mutable_node(0)->set_domain("");
    auto& branch = *f.mutable_node(0)->add_attribute();
    branch.set_name("then_branch");
    branch.set_type(5);
    add_node(*branch.mutable_g()->mutable_node(), i == 39 ? "Relu" : "f" + std::to_string(i + 1), {"a"},
             {"r"})
        .set_domain(i == 39 ? "" : "f");
    branch.mutable_g()->add_output()->set_name("r");
  }
  m.node("f0", {"x"}, {"z"}).set_domain("f");
  CHECK(said(m.fault()).find("too deep: allowed 64 levels") != std::string::npos);
  m.graph().mutable_node(1)->set_op_type("f9");  // 31 functions and as many subgraphs
  CHECK(m.read().ok());
}

TEST_CASE("functions that would unfold to more nodes than allowed are refused") {
  ModelMaker m = relu();
  for (int i = 0; i < 40; ++i) {  // 2^40 nodes
    auto& f = function(m, "f" + std::to_string(i), "f" + std::to_string(i + 1));
    add_node(*f.mutable_node(), "f" + std::to_string(i + 1), {"a"}, {"c"}).set_domain("f");
  }
  m.node("f0", {"x"}, {"z"}).set_domain("f");
  CHECK(said(m.fault()).starts_with("E0202 too many nodes"));
}

TEST_CASE("inputs: no shape, no tensor, a negative dim, a dtype ge has not") {
  ModelMaker m = relu();
  m.graph().mutable_input(0)->mutable_type()->mutable_tensor()->clear_shape();
  CHECK(said(m.fault()) == "E0209 input 'x' has no shape: its rank is not known");
  m.graph().mutable_input(0)->mutable_type()->clear_tensor();
  m.graph().mutable_input(0)->mutable_type()->set_sequence("");
  CHECK(said(m.fault()) == "E0316 input 'x' is no tensor: found a sequence");
  ModelMaker negative;
  negative.input("x", {"-2"}).output("x");
  CHECK(said(negative.fault()) == "E0209 input 'x': dimension is negative: found -2 at axis 0");
  ModelMaker text;
  text.input("x", {"1"}, 8).output("x");
  CHECK(said(text.fault()) == "E0208 input 'x': its dtype is not supported: found string");
}

TEST_CASE("tensors: counts, dtypes, sizes and external files are compared with what is there") {
  const auto fault_of = [](const std::function<void(onnx_proto::Tensor&)>& change) {
    ModelMaker m;
    m.input("x", {"1"}).output("x");
    change(m.floats("w", {2}, {1, 2}));
    return said(m.fault());
  };
  CHECK(fault_of([](auto& t) { t.set_dims(0, 3); }) ==
        "E0213 initializer 'w': tensor data does not fit its shape or dtype: float_data has 2 numbers, "
        "float32[3] needs 3");
  CHECK(fault_of([](auto& t) { t.set_raw_data("abc"); }) ==
        "E0213 initializer 'w': tensor data does not fit its shape or dtype: raw_data has 3 bytes, "
        "float32[2] needs 8");
  CHECK(fault_of([](auto& t) { t.set_dims(0, -2); }) ==
        "E0209 initializer 'w': dimension is negative: found [-2]");
  CHECK(fault_of([](auto& t) {
          t.set_dims(0, int64_t{1} << 40);
          t.add_dims(int64_t{1} << 40);
        }).starts_with("E0315 initializer 'w': tensor size overflows"));
  CHECK(fault_of([](auto& t) { t.set_data_type(14); }) ==
        "E0208 initializer 'w': the tensor's dtype is not supported: found complex64");
  CHECK(fault_of([](auto& t) { t.set_data_type(0); }).ends_with("found no dtype"));
  CHECK(fault_of([](auto& t) {
          t.set_data_type(3);
          t.add_int32_data(300);
          t.add_int32_data(1);
        }).ends_with("int32_data holds 300, which does not fit int8"));
  const auto external = [&](const std::string& location, const std::string& offset) {
    return fault_of([&](auto& t) {
      t.set_data_location(1);
      auto& at = *t.add_external_data();
      at.set_key("location");
      at.set_value(location);
      auto& from = *t.add_external_data();
      from.set_key("offset");
      from.set_value(offset);
    });
  };
  CHECK(external("../../etc/passwd", "0").starts_with("E0214"));
  CHECK(external("/etc/passwd", "0").starts_with("E0214"));
  CHECK(external("not_here.bin", "0").starts_with("E0101"));
  CHECK(external("not_here.bin", "-1").find("offset or length") != std::string::npos);
}

TEST_CASE("tensors in segments and of unknown places are refused; numbers must be those of their dtype") {
  const auto said_of = [](const std::function<void(onnx_proto::Tensor&)>& change) -> std::string {
    ModelMaker m;
    m.input("x", {"1"}).output("x");
    change(m.floats("w", {}, {}));
    auto graph = m.read();
    return graph.ok() ? "" : said(graph.error());
  };
  CHECK(said_of([](auto& t) {
          t.set_segment("");
          t.add_float_data(1);
        }) == "E0316 initializer 'w': a tensor in segments is not supported");
  CHECK(said_of([](auto& t) {
          t.set_data_location(7);
          t.add_float_data(1);
        }).ends_with("data_location is 7, allowed 0 (in the file) and 1 (external)"));
  CHECK(said_of([](auto& t) { t.set_data_location(1); }).ends_with("its external data names no location"));
  struct Row {
    int dtype;
    std::vector<int32_t> fit, unfit;
  };
  const std::vector<Row> rows = {
      {2, {0, 255}, {-1, 256}},                   // uint8
      {3, {-128, 127}, {-129, 128, 255}},         // int8
      {4, {0, 65535}, {-1, 65536}},               // uint16
      {5, {-32768, 32767}, {-32769, 32768}},      // int16
      {6, {INT32_MIN, INT32_MAX}, {}},            // int32
      {9, {0, 1, 2, -1}, {}},                     // bool
      {10, {0, 65535, -32768}, {65536, -32769}},  // bits of a float16
      {17, {0, 255, -128}, {256, -129}},          // of a float8
      {21, {0, 255, -128}, {256, -129}},          // of two uint4
  };
  for (const Row& row : rows) {
    const auto of = [&](int32_t value) {
      return said_of([&](auto& t) {
        t.set_data_type(row.dtype);
        t.add_int32_data(value);
      });
    };
    for (const int32_t value : row.fit) {
      INFO("dtype " << row.dtype << ", " << value);
      CHECK(of(value) == "");
    }
    for (const int32_t value : row.unfit) {
      INFO("dtype " << row.dtype << ", " << value);
      CHECK(of(value).find("int32_data holds " + std::to_string(value) + ", which does not fit") !=
            std::string::npos);
    }
  }
}

TEST_CASE("data_location is 32 bits, as protobuf reads it") {
  ModelMaker m = relu();
  m.floats("w", {1}, {1}).set_data_location(1);
  std::string bytes = m.model.SerializeAsString();
  const size_t at = bytes.find(std::string("\x70\x01", 2));
  REQUIRE(at != std::string::npos);
  // The initializer is the graph's and the model's last but one part: their lengths are of one byte.
  const size_t tensor = bytes.find(std::string("\x2a", 1)), graph = bytes.find(std::string("\x3a", 1));
  bytes.replace(at, 2, std::string("\x70\x81\x80\x80\x80\x10", 6));  // 2^32 + 1
  bytes[tensor + 1] = static_cast<char>(bytes[tensor + 1] + 4);
  bytes[graph + 1] = static_cast<char>(bytes[graph + 1] + 4);
  auto read = read_onnx(ByteBuffer::copy_of(as_bytes(bytes)), "m.onnx", "");
  REQUIRE_FALSE(read.ok());
  CHECK(said(read.error()).ends_with("its external data names no location"));
}

TEST_CASE("an attribute holds what its type says, or nothing where that is a number, a text or a list") {
  const auto with = [](int type, const std::function<void(onnx_proto::Attribute&)>& fill) -> std::string {
    ModelMaker m;
    m.input("x", {"2"}).output("y");
    auto& a = *m.node("LeakyRelu", {"x"}, {"y"}, "act").add_attribute();
    a.set_name("alpha");
    a.set_type(type);
    fill(a);
    auto graph = m.read();
    return graph.ok() ? "" : said(graph.error());
  };
  const auto nothing = [](auto&) {};
  CHECK(with(1, [](auto& a) { a.set_f(0.5f); }) == "");
  CHECK(with(1, nothing) == "");
  CHECK(with(7, nothing) == "");
  CHECK(with(1, [](auto& a) { a.set_i(1); }) ==
        "E0303 LeakyRelu 'act': attribute 'alpha' is not what it says: its type says a float, it holds an "
        "integer");
  CHECK(with(2, [](auto& a) {
          a.add_ints(1);
        }).ends_with("its type says an integer, it holds a list of integers"));
  CHECK(with(7, [](auto& a) { a.set_f(1); }).ends_with("its type says a list of integers, it holds a float"));
  CHECK(with(3, [](auto& a) {
          a.add_strings("s");
        }).ends_with("its type says a string, it holds a list of strings"));
  CHECK(with(4, nothing).ends_with("its type says a tensor, it holds nothing"));
  CHECK(with(5, [](auto& a) { a.mutable_t(); }).ends_with("its type says a graph, it holds a tensor"));
  CHECK(with(99, [](auto& a) { a.set_f(1); }).ends_with("found attribute type 99"));
  CHECK(with(0, [](auto& a) { a.set_f(1); }) == "");
  // Two values, one of them of the type that is said: another reader may take the other.
  const std::string two =
      "E0303 LeakyRelu 'act': attribute 'alpha' has more than one value: it holds a float ";
  const auto float_and_ints = [](auto& a) {
    a.set_f(0.5f);
    a.add_ints(1);
  };
  for (const int type : {0, 1, 7}) CHECK(with(type, float_and_ints) == two + "and a list of integers");
  CHECK(with(1, [](auto& a) {
          a.set_f(0.5f);
          a.set_i(0);
        }) == two + "and an integer");
  CHECK(with(3, [](auto& a) {
          a.set_s("s");
          a.mutable_g();
        }).ends_with("it holds a string and a graph"));
  CHECK(with(1, [](auto& a) {  // a packed list of no numbers
          a.set_f(0.5f);
          *a.mutable_unknown_fields() = std::string("\x42\0", 2);
        }) == "");
}

TEST_CASE("a NaN of an attribute is the one that graph.json has, whatever its bits") {
  const auto odd = std::bit_cast<float>(0xffc12345u);
  ModelMaker m;
  m.input("x", {"2"}).output("y");
  auto& node = m.node("LeakyRelu", {"x"}, {"y"}, "act");
  auto& one = *node.add_attribute();
  one.set_name("alpha");
  one.set_f(odd);
  auto& list = *node.add_attribute();
  list.set_name("list");
  list.add_floats(1);
  list.add_floats(odd);
  const auto graph = m.read();
  REQUIRE(graph.ok());
  const AttrMap& attrs = graph->node(graph->order().front()).attrs;
  const auto bits = [](double v) { return std::bit_cast<uint64_t>(v); };
  const uint64_t nan = bits(std::numeric_limits<double>::quiet_NaN());
  CHECK(bits(std::get<double>(attrs.at("alpha"))) == nan);
  CHECK(std::get<std::vector<double>>(attrs.at("list"))[0] == 1);
  CHECK(bits(std::get<std::vector<double>>(attrs.at("list"))[1]) == nan);
}

TEST_CASE("sizes whose dims that are not 0 overflow are refused, in whatever order") {
  const int64_t huge = int64_t{1} << 62;
  for (const auto& dims : {std::vector<int64_t>{huge, 0, huge}, {0, huge, huge}, {huge, huge, 0}}) {
    ModelMaker w = relu();
    w.floats("w", dims, {});
    CHECK(said(w.fault()).starts_with("E0315 initializer 'w': tensor size overflows"));
    ModelMaker m;
    std::vector<std::string> texts;
    for (const int64_t d : dims) texts.push_back(std::to_string(d));
    m.input("x", texts).output("x");
    CHECK(said(m.fault()).starts_with("E0315 input 'x': tensor size overflows"));
  }
  ModelMaker w = relu();
  ModelMaker bits = relu();
  bits.input("b", {std::to_string(int64_t{1} << 57), "0"});
  CHECK(said(bits.fault()).starts_with("E0315 input 'b': tensor size overflows"));
  w.floats("w", {huge >> 10, 0, 2}, {});
  CHECK(w.read().ok());
}

TEST_CASE("sparse initializers and attributes of tensors' kin are refused by name") {
  ModelMaker m = relu();
  m.graph().add_sparse_initializer()->mutable_values()->set_name("s");
  CHECK(said(m.fault()) == "E0316 sparse initializer 's' is not supported");
  m = relu();
  auto& a = *m.graph().mutable_node(0)->add_attribute();
  a.set_name("sparse_value");
  a.set_type(11);
  CHECK(said(m.fault()) ==
        "E0316 Relu 'act': attribute 'sparse_value' is not supported: found a sparse tensor");
}

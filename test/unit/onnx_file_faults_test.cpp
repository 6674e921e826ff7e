// ONNX models that cannot be read: what is said, and where.
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

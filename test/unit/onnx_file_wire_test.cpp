// The check of protobuf's wire format and the views into it, against protobuf's own parser: they know the
// fields onnx.proto knows, faults are told by their byte, and nothing passes that protobuf refuses.
#include <fstream>
#include <regex>
#include <set>

#include "catch.h"
#include "compiler/onnx_file/messages.h"
#include "compiler/onnx_file/wire_check.h"
#include "unit/onnx_models.h"

using namespace ge;
using namespace ge::test;
using namespace ge::onnx_wire;

namespace {

// "Graph.node=1" of every message reachable from `message`.
void list_fields(const MessageInfo& message, std::set<std::string>& fields, std::set<std::string>& seen) {
  if (!seen.insert(std::string(message.name)).second) return;
  for (const FieldInfo& f : message.fields) {
    fields.insert(std::string(message.name) + "." + std::string(f.name) + "=" + std::to_string(f.number));
    if (f.message) list_fields(*f.message, fields, seen);
  }
}

std::set<std::string> fields_of_proto() {
  std::ifstream in(GE_SOURCE_DIR "/test/unit/onnx.proto");
  std::set<std::string> fields;
  std::string line, message;
  std::smatch m;
  while (std::getline(in, line)) {
    if (std::regex_search(line, m, std::regex("^message (\\w+)"))) message = m[1];
    if (std::regex_search(line, m, std::regex("^ +(optional|repeated) \\w+ (\\w+) = (\\d+)")))
      fields.insert(message + "." + m[2].str() + "=" + m[3].str());
  }
  return fields;
}

std::string said(const std::string& bytes) {
  const Status status = check_wire(as_bytes(bytes), model_message(), "m.onnx");
  return status.ok() ? "" : status.error().first().place + ": " + status.error().first().found;
}

std::string sample() {
  ModelMaker m;
  m.input("x", {"2", "n"}).output("y", {"2"});
  m.floats("w", {2}, {1, 2});
  m.ints("axes", {1, -1});
  set_ints(m.node("Relu", {"x"}, {"y"}, "act"), "list", {1, 300, -5});
  return m.model.SerializeAsString();
}

}  // namespace

TEST_CASE("the check and onnx.proto know the same fields") {
  std::set<std::string> checked, seen;
  list_fields(model_message(), checked, seen);
  CHECK(checked == fields_of_proto());
}

TEST_CASE("faults of the wire are told by their byte") {
  CHECK(said(std::string("\x08\x08", 2)) == "");
  CHECK(said(std::string("\x08\xff", 2)) == "m.onnx:byte 1: a number runs past the end of what holds it");
  CHECK(said("\x08" + std::string(10, '\xff') + "\x01") == "m.onnx:byte 1: a number has more than 10 bytes");
  CHECK(said(std::string("\x08\x08\x3a\x7f", 4)) == "m.onnx:byte 4: Model.graph needs 127 bytes, 0 are left");
  CHECK(said(std::string("\x08\x08\x3a\x02\x0a\x05", 6)) ==
        "m.onnx:byte 6: Graph.node needs 5 bytes, 0 are left");
  CHECK(said(std::string("\x0a\x01x", 3)) == "m.onnx:byte 0: Model.ir_version has wire type 2");
  CHECK(said(std::string("\x0b", 1)) == "m.onnx:byte 0: Model.ir_version has wire type 3");
  CHECK(said(std::string("\x00\x00", 2)) == "m.onnx:byte 0: field number 0 in Model");
  CHECK(said("{\"format\": 1}").starts_with("m.onnx:byte "));
}

TEST_CASE("what protobuf would merge or skip is refused: parts twice, other wire types, groups") {
  const std::string twice("\x08\x08\x3a\x00\x3a\x00", 6);
  const Status status = check_wire(as_bytes(twice), model_message(), "m.onnx");
  REQUIRE_FALSE(status.ok());
  CHECK(said(twice) == "m.onnx:byte 4: Model.graph stands twice");
  CHECK(status.error().first().fix.find("write the model again with one") != std::string::npos);
  CHECK(said(std::string("\x0d\x08\x00\x00\x00", 5)) == "m.onnx:byte 0: Model.ir_version has wire type 5");
  CHECK(said(std::string("\xe3\x3f\xe4\x3f", 4)) == "m.onnx:byte 0: Model.field 1020 has wire type 3");
  onnx_proto::Model m;
  CHECK(m.ParseFromString(twice));
  CHECK(m.ParseFromString(std::string("\x0d\x08\x00\x00\x00", 5)));
  CHECK(m.ParseFromString(std::string("\xe3\x3f\xe4\x3f", 4)));
}

TEST_CASE("nesting, and parts that take far more memory than the file, have limits") {
  onnx_proto::Model m;  // a graph in an attribute in a node in a graph ...
  onnx_proto::Graph* graph = m.mutable_graph();
  for (int i = 0; i < 60; ++i) graph = graph->add_node()->add_attribute()->mutable_g();
  CHECK(check_wire(as_bytes(m.SerializeAsString()), model_message(), "m.onnx").error().first().code ==
        Code::document_limit);
  std::string bomb;  // empty nodes: two bytes each, some 150 in memory
  for (int i = 0; i < 4'000'000; ++i) bomb += std::string("\x0a\x00", 2);
  std::string head("\x08\x08\x3a", 3);
  for (size_t n = bomb.size(); n != 0; n >>= 7) head += static_cast<char>((n & 0x7f) | (n > 127 ? 0x80 : 0));
  CHECK(check_wire(as_bytes(head + bomb), model_message(), "m.onnx").error().first().code ==
        Code::document_limit);
  const auto grown = [](size_t attributes) {  // 14 bytes each, some 210 in memory: 15 times as many
    const std::string one(
        "\x2a\x0c\x0a\x08"
        "abcdefgh"
        "\x18\x01",
        14);
    std::string node;
    node.reserve(14 * attributes);
    while (node.size() < 14 * attributes) node += one;
    const auto inside = [](char tag, const std::string& bytes) {
      std::string head(1, tag);
      for (size_t n = bytes.size(); n != 0; n >>= 7)
        head += static_cast<char>((n & 0x7f) | (n > 127 ? 0x80 : 0));
      return head + bytes;
    };
    return inside('\x3a', inside('\x0a', node));
  };
  CHECK(check_wire(as_bytes(grown(100'000)), model_message(), "m.onnx").ok());
  CHECK(check_wire(as_bytes(grown(3'200'000)), model_message(), "m.onnx").error().first().code ==
        Code::document_limit);
}

TEST_CASE("whatever passes the check, the parser takes; damage of any byte and any cut ends well") {
  const std::string whole = sample();
  int passed = 0;
  const auto try_it = [&](const std::string& bytes) {
    if (!said(bytes).empty()) return;
    ++passed;
    onnx_proto::Model m;
    CHECK(m.ParseFromString(bytes));
    (void)read_onnx(ByteBuffer::copy_of(as_bytes(bytes)), "m.onnx", "/nowhere");
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    try_it(whole.substr(0, i));
    for (const int value : {0, 1, 0x7f, 0x80, 0xff, whole[i] ^ 1, whole[i] ^ 8, whole[i] ^ 0x80}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(value);
      try_it(changed);
    }
  }
  CHECK(passed > 200);
}

// Damaged graphs: every golden with one byte, or one number, changed is read and lowered, or refused with a
// place: never a bug of ours, never a crash (run it under ASan and UBSan).
#include <cctype>

#include "catch.h"
#include "compiler/ir/verify.h"
#include "compiler/onnx_ops/lower.h"
#include "compiler/source/graph_json.h"
#include "golden_file.h"

using namespace ge;

namespace {

struct Counts {
  int read = 0, lowered = 0, refused = 0;
};

void check_refusal(const Error& error, const std::string& text) {
  for (const Diagnostic& d : error.list()) {
    const bool fine = kind_of(d.code) != ErrorKind::kBug && !d.place.empty();
    if (fine) continue;
    INFO(to_string(d) << "\n" << text);
    CHECK(fine);
  }
}

void try_text(const std::string& text, Counts& counts) {
  auto graph = read_graph_json(as_bytes(text), "g.json", "");
  if (!graph.ok()) {
    ++counts.refused;
    check_refusal(graph.error(), text);
    return;
  }
  ++counts.read;
  if (const Status status = lower_onnx(*graph); !status.ok()) {
    check_refusal(status.error(), text);
    return;
  }
  ++counts.lowered;
  const Status verified = verify(*graph, true);
  if (verified.ok()) return;
  INFO(verified.error().to_string() << "\n" << text);
  CHECK(verified.ok());
}

std::vector<std::string> texts() {
  std::vector<std::string> list{
      test::read_text(std::string(GE_SOURCE_DIR) + "/test/golden/canonical_graph.json")};
  for (const std::string& path : test::golden_sources("test/golden/onnx_ops", ".test")) {
    const std::string text = test::read_text(path);
    list.push_back(text.substr(0, text.find("----\n")));
  }
  return list;
}

}  // namespace

TEST_CASE("graphs with one byte changed") {
  constexpr std::string_view kBytes = "\"{}[],:-09aexn\\\x01\xff";
  Counts counts;
  size_t turn = 0;
  for (const std::string& text : texts()) {
    for (size_t i = 0; i < text.size(); i += 2) {
      std::string damaged = text;
      damaged[i] = kBytes[turn++ % kBytes.size()];
      try_text(damaged, counts);
    }
  }
  CHECK(counts.refused > 1000);
  CHECK(counts.lowered > 100);
}

TEST_CASE("graphs cut off") {
  Counts counts;
  for (const std::string& text : texts()) {
    for (size_t i = 0; i <= text.rfind('}'); i += 23) try_text(text.substr(0, i), counts);
  }
  CHECK(counts.lowered == 0);
}

TEST_CASE("graphs with one number changed") {
  const std::vector<std::string> numbers{
      "0", "1", "-1", "2", "7", "9223372036854775807", "-9223372036854775808", "1.5", "\"n\"", "\"NaN\""};
  Counts counts;
  size_t turn = 0;
  for (const std::string& text : texts()) {
    for (size_t i = 1; i < text.size(); ++i) {
      const bool starts =
          std::isdigit(static_cast<unsigned char>(text[i])) && (text[i - 1] == ' ' || text[i - 1] == '[');
      if (!starts) continue;
      size_t end = i;
      while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) || text[end] == '.'))
        ++end;
      for (int k = 0; k < 3; ++k)
        try_text(text.substr(0, i) + numbers[turn++ % numbers.size()] + text.substr(end), counts);
    }
  }
  CHECK(counts.lowered > 300);
  CHECK(counts.refused > 300);
}

// Numbers at the ends of int64, or products beyond it: refused, or lowered, without arithmetic that overflows
// (seen under UBSan).
TEST_CASE("attributes and constants at the ends of what they may be") {
  struct Case {
    const char *inputs, *initializers, *node;
  };
  constexpr const char* kVideo = R"({"name": "x", "dtype": "float32", "shape": [1, 1, "d", "h", "w"]})";
  const Case cases[] = {
      {R"({"name": "x", "dtype": "float32", "shape": ["n"]})",
       R"({"name": "p", "dtype": "int64", "shape": [2], "data": [9223372036854775807, 0]})",
       R"({"op": "Pad", "inputs": ["x", "p"], "outputs": ["y"], "attributes": {"mode": "reflect"}})"},
      {R"({"name": "x", "dtype": "float32", "shape": ["n"]})",
       R"({"name": "p", "dtype": "int64", "shape": [2], "data": [-9223372036854775808, -9223372036854775808]})",
       R"({"op": "Pad", "inputs": ["x", "p"], "outputs": ["y"], "attributes": {"mode": "edge"}})"},
      {kVideo, "",
       R"({"op": "LpPool", "inputs": ["x"], "outputs": ["y"],
           "attributes": {"kernel_shape": [2147483647, 2147483647, 2147483647]}})"},
      {kVideo, R"({"name": "k", "dtype": "float32", "shape": [1, 1, 1, 1, 1], "data": [1]})",
       R"({"op": "ConvTranspose", "inputs": ["x", "k"], "outputs": ["y"],
           "attributes": {"strides": [2147483647, 2147483647, 2147483647]}})"},
      {R"({"name": "x", "dtype": "float32", "shape": [1, 1, 72057594037927936]})",
       R"({"name": "k", "dtype": "float32", "shape": [1, 1, 1], "data": [1]})",
       R"({"op": "ConvTranspose", "inputs": ["x", "k"], "outputs": ["y"], "attributes": {"strides": [1024]}})"},
      {"",
       R"({"name": "a", "dtype": "int64", "shape": [], "data": [5]},
          {"name": "b", "dtype": "int64", "shape": [], "data": [-5]},
          {"name": "d", "dtype": "int64", "shape": [], "data": [-9223372036854775808]})",
       R"({"op": "Range", "inputs": ["a", "b", "d"], "outputs": ["y"]})"},
      {R"({"name": "x", "dtype": "int64", "shape": ["n"]})",
       R"({"name": "d", "dtype": "float32", "shape": [], "data": ["NaN"]},
          {"name": "v", "dtype": "float32", "shape": [2], "data": [0, 1]})",
       R"({"op": "OneHot", "inputs": ["x", "d", "v"], "outputs": ["y"]})"},
      {R"({"name": "x", "dtype": "int8", "shape": [1, 72057594037927936]})",
       R"({"name": "s", "dtype": "int64", "shape": [2], "data": [1048576, 1]})",
       R"({"op": "Resize", "inputs": ["x", "", "", "s"], "outputs": ["y"],
           "attributes": {"keep_aspect_ratio_policy": "not_smaller"}})"},
      {R"({"name": "x", "dtype": "int8", "shape": ["n", 4]})",
       R"({"name": "s", "dtype": "float32", "shape": [1, 1], "data": [1]})",
       R"({"op": "DequantizeLinear", "inputs": ["x", "s"], "outputs": ["y"],
           "attributes": {"axis": 1, "block_size": 9223372036854775807}})"},
  };
  Counts counts;
  for (const Case& c : cases) {
    try_text(std::string(R"({"format": "ge-graph/1", "opset": 23, "inputs": [)") + c.inputs +
                 R"(], "outputs": ["y"], "initializers": [)" + c.initializers + R"(], "nodes": [)" + c.node +
                 "]}",
             counts);
  }
  CHECK(counts.refused == 0);  // all are graphs; it is the lowering that looks at the numbers
  CHECK(counts.read == static_cast<int>(std::size(cases)));
}

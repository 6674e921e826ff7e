// What ONNX files and graph.json take before they are known to be sound: at most twice their bytes, whatever
// they say. Files here are what unfolds most: many small parts, great numbers, and damage at the end.
#include <algorithm>
#include <cstring>
#include <functional>

#include "catch.h"
#include "compiler/onnx_file/onnx_file.h"
#include "compiler/source/graph_json.h"
#include "memory_meter.h"
#include "work_time.h"

using namespace ge;
using namespace ge::test;

namespace {

std::string varint(size_t n) {
  std::string bytes;
  for (; n > 0x7f; n >>= 7) bytes += static_cast<char>((n & 0x7f) | 0x80);
  return bytes + static_cast<char>(n);
}

// A block of protobuf's: field `number` with these bytes.
std::string block(int number, const std::string& bytes) {
  return varint(static_cast<size_t>(number) << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string model(const std::string& graph) {
  return "\x08\x08" + block(8, std::string("\x10\x0d", 2)) + block(7, graph);
}

// Nodes and what they hold; where no name is given there is no such field.
std::string node(const std::string& op, const std::string& input, const std::string& output,
                 const std::string& more = "") {
  return block(1, input) + block(2, output) + block(4, op) + more;
}
std::string call(const std::string& output, const std::string& more = "") {
  return block(1, node("f", "x", output, block(7, "d") + more));
}
// Function f of domain d: its input is a, its output b.
std::string function(const std::string& nodes, const std::string& more = "") {
  return block(25, block(1, "f") + block(4, "a") + block(5, "b") + nodes +
                       block(9, std::string("\x10\x0d", 2)) + block(10, "d") + more);
}
std::string body_node(const std::string& more = "") {
  return block(7, node("Relu", "a", "b", more));
}
std::string ints(const std::string& name, size_t count) {
  return block(5, block(1, name) + block(8, std::string(count, '\1')) + std::string("\xa0\x01\x07", 3));
}
// An attribute whose value is the call's attribute of this name.
std::string reference(const std::string& name) {
  return block(5, block(1, "v") + block(21, name));
}
// An attribute that holds a graph.
std::string graph_attribute(const std::string& name, const std::string& graph) {
  return block(5, block(1, name) + block(6, graph) + std::string("\xa0\x01\x05", 3));
}
std::string input_x() {
  return block(
      11, block(1, "x") + block(2, block(1, "\x08\x01" + block(2, block(1, std::string("\x08\x02", 2))))));
}
Measured onnx(const std::string& bytes) {
  ByteBuffer file = ByteBuffer::copy_of(as_bytes(bytes));
  return measure([&] { return read_onnx(std::move(file), "m.onnx", "/nowhere"); });
}
Measured json(const std::string& text) {
  return measure([&] { return read_graph_json(as_bytes(text), "g.json", "/nowhere"); });
}

}  // namespace

TEST_CASE("ONNX files that are refused took no more than twice their bytes") {
  const std::string zero(1, '\0'), relu = block(4, "Relu");
  const std::vector<Case> models = {
      {"empty nodes", model(repeat(block(1, ""), kSize))},
      {"attributes", model(block(1, repeat(block(5, ""), kSize)))},
      {"named attributes", model(block(1, relu + repeat(block(5, block(1, "a") + "\x18\x01"), kSize)))},
      {"outputs", model(block(1, relu + repeat(block(2, ""), kSize)))},
      {"inputs", model(block(1, relu + repeat(block(1, ""), kSize)))},
      {"undefined inputs", model(block(1, relu + repeat(block(1, "x"), kSize)))},
      {"small nodes", model(repeat(block(1, block(4, "R")), kSize))},
      {"one result many times", model(repeat(block(1, relu + block(2, "y")), kSize))},
      {"far absent outputs", model(block(1, relu + repeat(block(2, ""), kSize) + block(2, "y")))},
      {"initializers", model(repeat(block(5, ""), kSize))},
      {"scalars", model(repeat(block(5, std::string("\x10\x01\x4a\x04\x00\x00\x00\x00", 8)), kSize))},
      {"dims", model(block(5, repeat(std::string("\x08\x01", 2), kSize)))},
      {"packed dims", model(block(5, block(1, repeat(std::string("\x01", 1), kSize))))},
      {"great dims",
       model(block(5, std::string("\x08\xff\xff\xff\xff\x0f\x10\x01") + block(9, repeat("x", kSize))))},
      {"graph inputs", model(repeat(block(11, ""), kSize))},
      {"dims of an input",
       model(block(11,
                   block(1, "x") + block(2, block(1, "\x08\x01" + block(2, repeat(block(1, ""), kSize))))))},
      {"graph outputs", model(repeat(block(12, ""), kSize))},
      {"functions", "\x08\x08" + block(7, "") + repeat(std::string("\xca\x01\x00", 3), kSize)},
      {"opsets", "\x08\x08" + block(7, "") + repeat(block(8, std::string("\x10\x01", 2)), kSize)},
      {"cut off", model(repeat(block(1, relu), kSize)).substr(0, kSize)},
  };
  for (const Case& c : models) check_peak(c, onnx(c.bytes), 2);
}

TEST_CASE("numbers of a tensor are counted before they take memory") {
  const std::string zeros = repeat(std::string(1, '\0'), kSize);
  const auto of = [&](const std::string& dims) {
    return Case{"int64_data",
                model(block(5, dims + std::string("\x10\x07", 2) + block(7, zeros) + block(8, "w")))};
  };
  const Case more = of("\x08\x81\x80\x80\x02");  // 4 Mi + 1 numbers; 4 Mi are there
  check_peak(more, onnx(more.bytes), 0.1);
}

namespace {

constexpr int64_t kUnfolded = 16 << 20;

// Read with kUnfolded bytes to unfold to, in a time that needs no more than a walk over them.
Measured unfolded_onnx(const std::string& bytes) {
  ByteBuffer file = ByteBuffer::copy_of(as_bytes(bytes));
  const WorkTime time;
  Measured m = measure(
      [&] { return read_onnx(std::move(file), "m.onnx", "/nowhere", {.max_unfolded_bytes = kUnfolded}); });
  m.seconds = time.seconds();
  return m;
}

}  // namespace

// Each would take gigabytes or minutes if every call copied what the function holds.
TEST_CASE("functions and subgraphs unfold to no more than is allowed") {
  const auto calls = [](int count, const std::string& more = "") {
    return many(count, [&](int i) { return call("y" + number(i), more); });
  };
  const auto with = [](const std::string& nodes, const std::string& functions) {
    return model(input_x() + nodes + block(12, block(1, "y0"))) + functions;
  };
  const std::string long_name(1 << 20, 'n');
  std::string captured =
      many(3000, [](int i) { return block(1, node("Relu", "c" + number(i), "r" + number(i))); });
  captured += block(12, block(1, "r0"));
  for (int depth = 0; depth < 25; ++depth)
    captured = block(1, block(4, "If") + block(2, "o" + number(depth)) + graph_attribute("g", captured)) +
               block(12, block(1, "o" + number(depth)));
  const std::string unknown = repeat(std::string("\xf8\x3f\x01", 3), 1 << 20);  // a field nobody knows
  const std::string sub_output = block(12, block(1, "r"));
  const std::vector<Case> models = {
      {"small nodes",
       with(calls(300), function(many(300, [](int i) { return block(7, node("R", "a", "t" + number(i))); }) +
                                 body_node()))},
      {"ints", with(calls(1000), function(body_node(ints("axes", 1 << 20))))},
      {"ints of the call, asked for by many",
       with(call("y0", ints("axes", 1 << 20)),
            function(
                many(1000,
                     [](int i) { return block(7, node("Relu", "a", "t" + number(i), reference("axes"))); }) +
                body_node()))},
      {"a call's name",
       with(call("y0", block(3, long_name)),
            function(many(3000,
                          [](int i) { return block(7, node("Relu", "a", "b" + number(i), block(3, "n"))); }) +
                     body_node()))},
      {"a name within", with(calls(1000), function(block(7, node("Relu", "a", long_name)) + body_node()))},
      {"an operator's name", with(calls(1000), function(block(7, node(long_name, "a", "b"))))},
      {"the name of a graph attribute",
       with(block(1, node("If", "x", "y0",
                          graph_attribute(
                              long_name,
                              many(3000, [](int i) { return block(1, node("Relu", "x", "r" + number(i))); }) +
                                  sub_output))),
            "")},
      {"initializers of a subgraph",
       with(calls(1000),
            function(body_node(graph_attribute(
                "g", sub_output + many(3000,
                                       [](int i) {
                                         return block(5, std::string("\x10\x01", 2) +
                                                             block(8, i == 0 ? "r" : number(i)) +
                                                             block(9, "abcd"));
                                       })))))},
      {"captures through subgraphs",
       with(many(3000, [](int i) { return block(1, node("Relu", "x", "c" + number(i))); }) + captured, "")},
      {"captures of every subgraph of a node",
       with(many(10000, [](int i) { return block(1, node("Relu", "x", "c" + number(i))); }) +
                block(1, node("If", "x", "y0",
                              graph_attribute("g", block(12, block(1, "r0")) +
                                                       many(10000,
                                                            [](int i) {
                                                              return block(1, node("Relu", "c" + number(i),
                                                                                   "r" + number(i)));
                                                            })) +
                                  many(1000,
                                       [](int i) {
                                         return graph_attribute(number(i), block(12, block(1, "x")));
                                       }))),
            "")},
      {"unknown fields of a node", with(calls(1000), function(body_node(unknown)))},
      {"unknown fields of an attribute",
       with(calls(1000), function(body_node(block(5, block(1, "a") + unknown))))},
      {"unknown fields of a subgraph",
       with(calls(1000), function(body_node(graph_attribute("g", unknown + block(12, block(1, "a"))))))},
  };
  for (const Case& c : models) {
    const Measured m = unfolded_onnx(c.bytes);
    INFO(c.name << ": " << m.said << "; " << m.bytes << " bytes of " << c.bytes.size() << ", " << m.seconds
                << " s");
    CHECK(m.refused);
    CHECK(m.said.starts_with("inlined, and with what they use"));
    CHECK(m.bytes <= static_cast<int64_t>(20 * c.bytes.size()) + kUnfolded);
    CHECK(m.seconds < 10);  // a hundredth of that in most
  }
}

TEST_CASE("what all calls of a function share is made once") {
  const auto with = [](const std::string& nodes, const std::string& functions) {
    return model(input_x() + nodes + block(12, block(1, "y0"))) + functions;
  };
  const auto calls = [](int count, const std::string& more = "") {
    return many(count, [&](int i) { return call("y" + number(i), more); });
  };
  const std::vector<Case> models = {
      {"inputs",
       with(calls(3000), function(body_node(), many(50000, [](int i) { return block(4, number(i)); })))},
      {"absent inputs of the call", with(calls(3000), function(body_node(), repeat(block(4, ""), 200000)))},
      {"opsets", with(calls(3000), function(body_node(), many(50000,
                                                              [](int i) {
                                                                return block(9,
                                                                             block(1, number(i)) +
                                                                                 std::string("\x10\x01", 2));
                                                              })))},
      {"defaults", with(calls(3000), function(body_node(), many(50000,
                                                                [](int i) {
                                                                  return block(
                                                                      11, block(1, number(i)) +
                                                                              std::string(
                                                                                  "\x18\x01\xa0\x01\x02", 5));
                                                                })))},
      {"attributes of the call",
       with(call("y0", many(30000,
                            [](int i) {
                              return block(5, block(1, number(i)) + std::string("\x18\x01\xa0\x01\x02", 5));
                            })),
            function(many(5000,
                          [](int i) {
                            return block(7, node("Relu", "a", "t" + number(i), reference(number(29999 - i))));
                          }) +
                     body_node()))},
  };
  for (const Case& c : models) {
    const Measured m = unfolded_onnx(c.bytes);
    INFO(c.name << ": " << m.said << "; " << m.bytes << " bytes of " << c.bytes.size() << ", " << m.seconds
                << " s");
    CHECK_FALSE(m.refused);
    CHECK(m.bytes <= static_cast<int64_t>(20 * c.bytes.size()) + kUnfolded);
    CHECK(m.seconds < 10);
  }
}

TEST_CASE("graph.json of many small parts is refused before a graph is made of them") {
  const std::string head = R"({"format":"ge-graph/1","inputs":[{"name":"x","dtype":"float32","shape":[2]}],)"
                           R"("outputs":["y"],"nodes":[)";
  const std::string node = R"({"op":"R","outputs":["y"]})";
  const std::vector<Case> texts = {
      {"operands",
       head + R"({"op":"Sum","outputs":["y"],"inputs":[)" + repeat(R"("x",)", kSize) + R"("x"]}]})"},
      {"nodes", head + repeat(node + ",", kSize) + node + "]}"},
  };
  for (const Case& c : texts) {
    const Measured m = measure([&] {
      return read_graph_json(as_bytes(c.bytes), "g.json", "/nowhere", {.max_unfolded_bytes = 1 << 20});
    });
    check_peak(c, m, 0.1);
    CHECK(m.said.starts_with("found " + std::to_string(c.bytes.size()) + " bytes that take about "));
  }
}

// The same of graph.json, which has subgraphs but no functions.
TEST_CASE("subgraphs of graph.json unfold to no more than is allowed") {
  const auto numbered = [](int count, const std::function<std::string(std::string)>& part) {
    return many(count, [&](int i) { return (i == 0 ? "" : ",") + part(number(i)); });
  };
  const auto relu = [](const std::string& input, const std::string& output) {
    return R"({"op":"Relu","inputs":[")" + input + R"("],"outputs":[")" + output + R"("]})";
  };
  const auto with = [](const std::string& nodes) {
    return R"({"format":"ge-graph/1","opset":13,"inputs":[{"name":"x","dtype":"float32","shape":[2]}],)"
           R"("outputs":["y"],"nodes":[)" +
           nodes + "]}";
  };
  const auto node = [](const std::string& output, const std::string& attributes) {
    return R"({"op":"If","inputs":["x"],"outputs":[")" + output + R"("],"attributes":{)" + attributes + "}}";
  };
  const auto attribute = [](const std::string& name, const std::string& nodes, const std::string& output) {
    return "\"" + name + R"(":{"graph":{"inputs":[],"outputs":[")" + output + R"("],"nodes":[)" + nodes +
           "]}}";
  };
  const std::string outer = numbered(10000, [&](const std::string& i) { return relu("x", "c" + i); }) + ",";
  std::string nested = numbered(3000, [&](const std::string& i) { return relu("c" + i, "r" + i); });
  std::string output = "r0";
  for (int depth = 0; depth < 18; ++depth) {
    const std::string name = depth == 17 ? "y" : "o" + number(depth);
    nested = node(name, attribute("g", nested, output));
    output = name;
  }
  const std::vector<Case> texts = {
      {"the name of an attribute",
       with(node("y",
                 attribute(std::string(1 << 20, 'n'),
                           numbered(3000, [&](const std::string& i) { return relu("x", "r" + i); }), "r0")))},
      {"captures through subgraphs", with(outer + nested)},
      {"captures of every subgraph of a node",
       with(outer +
            node("y",
                 attribute("g", numbered(10000, [&](const std::string& i) { return relu("c" + i, "r" + i); }),
                           "r0") +
                     "," + numbered(1000, [&](const std::string& i) { return attribute(i, "", "x"); })))},
      {"subgraphs of many dims",
       R"({"dims":{)" + numbered(10000, [](const std::string& i) { return "\"d" + i + R"(":{"max":9})"; }) +
           "}," +
           with(node("y", numbered(1000, [&](const std::string& i) { return attribute(i, "", "x"); })))
               .substr(1)},
  };
  for (const Case& c : texts) {
    const WorkTime time;
    const Measured m = measure([&] {
      return read_graph_json(as_bytes(c.bytes), "g.json", "/nowhere", {.max_unfolded_bytes = kUnfolded});
    });
    const double seconds = time.seconds();
    INFO(c.name << ": " << m.said << "; " << m.bytes << " bytes of " << c.bytes.size() << ", " << seconds
                << " s");
    CHECK(m.refused);
    CHECK(m.said.starts_with("with what they use of the graphs around them"));
    CHECK(m.bytes <= static_cast<int64_t>(40 * c.bytes.size()) + kUnfolded);
    CHECK(seconds < 10);
  }
}

#if defined(__GLIBCXX__) && defined(__x86_64__)
namespace {

// Names of 16 bytes that have one hash in libstdc++, whose std::hash is MurmurHash64A with a known seed: the
// second half undoes what the first did. Bytes of any value, as ONNX names may hold; none is NUL.
std::string one_hash(uint64_t first) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995, kSeed = 0xc70f6907;
  const auto inverse = [](uint64_t odd) {
    uint64_t x = odd;
    for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
    return x;
  };
  const auto mixed = [](uint64_t v) { return v ^ (v >> 47); };  // its own inverse
  const uint64_t start = kSeed ^ (16 * kMul);
  const uint64_t after = (start ^ (mixed(first * kMul) * kMul)) * kMul;
  const uint64_t second = mixed((after ^ 42) * inverse(kMul)) * inverse(kMul);
  std::string name(16, ' ');
  std::memcpy(name.data(), &first, 8);
  std::memcpy(name.data() + 8, &second, 8);
  return name;
}

}  // namespace

TEST_CASE("names whose hashes are the same are looked up as fast as others") {
  std::vector<std::string> names;
  for (uint64_t i = 1; names.size() < 60000; ++i) {
    const std::string name = one_hash(i * 0x0101010101010101 + 0x0102030405060708);
    if (name.find('\0') == std::string::npos) names.push_back(name);
    REQUIRE(std::hash<std::string>()(name) == std::hash<std::string>()(one_hash(1)));
  }
  const auto read = [](const std::function<std::string(int)>& name) {
    const std::string nodes = many(60000, [&](int i) { return block(1, node("Relu", "x", name(i))); });
    const std::string bytes = model(input_x() + nodes + block(12, block(1, name(59999))));
    const WorkTime time;
    const Measured m = onnx(bytes);
    CHECK_FALSE(m.refused);
    return time.seconds();
  };
  const double others = read([](int i) { return "a name of " + std::to_string(i); });
  const double same = read([&](int i) { return names[static_cast<size_t>(i)]; });
  INFO(same << " s; " << others << " s with other names");
  CHECK(same < 1 + 10 * others);  // 75 s where all are in one chain
}
#endif

// Where a fault stands is found by a walk: of a million faults the first thousand are looked up.
TEST_CASE("graph.json of very many faults is refused in little time") {
  const auto of = [](const std::string& part, const std::string& head = "", const std::string& tail = "") {
    return R"({"format":"ge-graph/1","opset":13,"inputs":[{"name":"x","dtype":"float32","shape":[2]}],)" +
           head + repeat(part + ",", 1 << 20) + part + tail + "}";
  };
  const std::string rest = R"(],"outputs":["y"])";
  const std::vector<Case> texts = {
      {"results", of(R"({"op":"Relu","inputs":["x"],"outputs":["y"]})", "\"nodes\":[", rest)},
      {"keys of nodes, far behind",
       of(R"({"po":1})", "\"nodes\":[" + repeat(R"({"op":"Relu","inputs":["x"],"outputs":[""]},)", 16 << 20),
          rest)},
      {"keys of nodes", of(R"({"po":1})", "\"nodes\":[", rest)},
      {"initializers",
       of(R"({"name":"w","dtype":"float9","shape":[],"data":[1]})", "\"nodes\":[],\"initializers\":[", rest)},
      {"outputs", of("\"x\"", "\"nodes\":[],\"outputs\":[", "]")},
      {"inputs", "{\"format\":\"ge-graph/1\",\"outputs\":[\"x\"],\"nodes\":[],\"inputs\":[" +
                     repeat("{},", 1 << 20) + "{}]}"},
      {"operands",
       of("1", "\"nodes\":[{\"op\":\"Concat\",\"outputs\":[\"y\"],\"inputs\":[", "]}],\"outputs\":[\"y\"]")},
      {"undefined operands",
       "{\"format\":\"ge-graph/"
       "1\",\"inputs\":[],\"outputs\":[\"y\"],\"nodes\":[{\"op\":\"Concat\",\"outputs\":[\"y\"],\"inputs\":"
       "[" +
           many(100000, [](int i) { return "\"v" + number(i) + "\","; }) + "\"\"]}]}"},
      {"attributes",
       "{\"format\":\"ge-graph/"
       "1\",\"inputs\":[],\"outputs\":[\"y\"],\"nodes\":[{\"op\":\"Relu\",\"outputs\":[\"y\"],\"inputs\":[],"
       "\"attributes\":{" +
           many(100000, [](int i) { return "\"v" + number(i) + "\":null,"; }) + "\"\":null}}]}"},
      {"keys", "{\"format\":\"ge-graph/1\"," +
                   many(100000, [](int i) { return "\"v" + number(i) + "\":null,"; }) +
                   "\"inputs\":[],\"outputs\":[\"y\"],\"nodes\":[]}"},
      {"dims", "{\"format\":\"ge-graph/1\",\"dims\":{" +
                   many(100000, [](int i) { return "\"v" + number(i) + "\":{\"max\":-1},"; }) +
                   "\"z\":{}},\"inputs\":[],\"outputs\":[\"y\"],\"nodes\":[]}"},
  };
  for (const Case& c : texts) {
    const WorkTime time;
    const auto graph = read_graph_json(as_bytes(c.bytes), "g.json", "/nowhere");
    const double seconds = time.seconds();
    INFO(c.name << ": " << seconds << " s");
    REQUIRE_FALSE(graph.ok());
    CHECK(graph.error().list().size() >= 1001);
    CHECK(seconds < 20);
  }
}

// Of files that are refused only at their end, or where all of it had to be looked at. The most that each
// reader takes stands in docs/testing.md.
TEST_CASE("graph.json that is refused took little more than its text again") {
  const auto with_attribute = [](const std::string& list) {
    return "{\"format\":\"ge-graph/"
           "1\",\"inputs\":[],\"outputs\":[\"v\"],\"nodes\":[{\"op\":\"R\",\"outputs\":[],"
           "\"attributes\":{\"a\":[" +
           list + "]}}]}";
  };
  const auto last = [](const std::string& part, const std::string& end) {
    return "[" + repeat(part + ",", kSize) + end + "]";
  };
  const std::string head = "{\"format\":\"ge-graph/1\",\"opset\":13,";
  const auto initializer = [&](const std::string& dtype, const std::string& shape, const std::string& data) {
    return head + "\"initializers\":[{\"name\":\"w\",\"dtype\":\"" + dtype + "\",\"shape\":[" + shape +
           "],\"data\":" + data + "}],\"inputs\":[],\"nodes\":[],\"outputs\":[\"v\"]}";
  };
  const std::string digits = "[" + repeat("1,", kSize) + "1]", count = number(kSize / 2 + 1);
  std::string deep;
  while (deep.size() < kSize) deep += std::string(98, '[') + std::string(98, ']') + ",";
  const std::string keys = many(400000, [](int i) { return "\"" + number(i) + "\":0,"; });
  const std::string escaped = many(400000, [](int i) { return "\"\\u0061" + number(i) + "\":0,"; });
  const std::vector<Case> texts = {
      {"one digit numbers", last("1", "x")},
      {"empty arrays", last("[]", "x")},
      {"empty objects", last("{}", "x")},
      {"empty strings", last("\"\"", "x")},
      {"short strings", last("\"ab\"", "x")},
      {"escaped strings", last("\"\\n\"", "x")},
      {"literals", last("null", "x")},
      {"fractions", last("1.5", "x")},
      {"objects of one key", last("{\"a\":0}", "x")},
      {"deep arrays", "[" + deep + "x]"},
      {"deep objects",
       "[" + repeat(repeat("{\"a\":", 90 * 5) + "0" + std::string(90, '}') + ",", kSize) + "x]"},
      {"newlines", repeat("\n", kSize) + "x"},
      {"comments", repeat("/**/", kSize) + "x"},
      {"continuations", "[\"" + repeat("\xc2\xa1", kSize) + "\",x]"},
      {"keys that differ", "[{" + keys + "\"z\":0},x]"},
      {"escaped keys that differ", "[{" + escaped + "\"z\":0},x]"},
      {"one key many times", "{" + repeat("\"a\":0,", kSize) + "\"z\":0}"},
      {"keys, then one many times", "{" + keys + repeat("\"a\":0,", kSize) + "\"z\":0}"},
      {"open objects of many keys", "{" + keys + "\"x\":{" + keys + "\"y\":{" + keys + "\"z\":x"},
      {"a long key", "{\"" + std::string(kSize, 'k') + "\":0}"},
      {"a long escaped key", "{\"\\n" + std::string(kSize, 'k') + "\":0}"},
      {"a long key twice", "{\"" + std::string(kSize, 'k') + "\":0,\"" + std::string(kSize, 'k') + "\":0}"},
      {"a long text", "[\"" + std::string(kSize, 't') + "\"]"},
      {"a long text cut off", "[\"" + std::string(kSize, 't')},
      {"a long number", "[" + std::string(kSize, '1') + "]"},
      {"a long fraction", "[0." + std::string(kSize, '1') + ",x]"},
      {"cut off", "[" + repeat("[],", kSize)},
      {"nodes", head + "\"nodes\":[" + repeat("{},", kSize) + "0]}"},
      {"data of another shape", initializer("uint8", "1", digits)},
      {"data that does not fit", initializer("uint8", count, digits.substr(0, digits.size() - 2) + "256]")},
      {"data of eight bytes, and no output", initializer("int64", count, digits)},
      {"nested data", initializer("float64", count + ",1", "[" + repeat("[1],", 2 * kSize) + "[1]]")},
      {"base64 that is none",
       initializer("uint8", "4", "{\"base64\":\"" + std::string(kSize, 'A') + "*AAA\"}")},
      {"base64 of another size",
       initializer("uint8", "4", "{\"base64\":\"" + std::string(kSize, 'A') + "\"}")},
      {"an attribute's list of two kinds", with_attribute(repeat("1,", kSize) + "\"\"")},
      {"an attribute's list of empty strings", with_attribute(repeat("\"\",", kSize) + "1")},
      {"a shape of many dims", initializer("uint8", repeat("1,", kSize) + "1", "[1]")},
  };
  for (const Case& c : texts) check_peak(c, json(c.bytes), 1.05);
}

TEST_CASE("graph.json too long for offsets of 32 bits is refused before it is looked at") {
  // No byte of it is touched.
  const ByteSpan huge(reinterpret_cast<const std::byte*>("x"), (size_t{1} << 32) + 5);
  const ReadOptions options{.max_bytes = int64_t{1} << 40};
  const Measured m = measure([&] { return read_graph_json(huge, "g.json", "/nowhere", options); });
  CHECK(m.refused);
  CHECK(m.said == "4294967301 bytes; allowed are 4294967294");
}

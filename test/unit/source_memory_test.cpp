// What readers take before a file is known to be sound: at most twice its bytes, whatever it says. operator
// new is counted around each; files here are what unfolds most: many small parts, great numbers, and damage
// at the end.
#include <malloc.h>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "catch.h"
#include "compiler/onnx_file/onnx_file.h"
#include "compiler/source/graph_json.h"
#include "contract/plan_read.h"
#include "tensor_file/npy.h"
#include "tensor_file/safetensors.h"

namespace {

std::atomic<int64_t> live{0}, peak{0};

void* taken(void* p) {
  if (!p) return p;
  const int64_t now = live += static_cast<int64_t>(malloc_usable_size(p));
  for (int64_t seen = peak.load(); now > seen && !peak.compare_exchange_weak(seen, now);) {
  }
  return p;
}
void given_back(void* p) {
  if (p) live -= static_cast<int64_t>(malloc_usable_size(p));
  std::free(p);
}

}  // namespace

void* operator new(size_t size) {
  if (void* p = taken(std::malloc(size > 0 ? size : 1))) return p;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return taken(std::malloc(size > 0 ? size : 1));
}
void* operator new(size_t size, std::align_val_t alignment) {
  const auto a = static_cast<size_t>(alignment);
  if (void* p = taken(std::aligned_alloc(a, (size + a - 1) / a * a))) return p;
  throw std::bad_alloc();
}
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  const auto a = static_cast<size_t>(alignment);
  return taken(std::aligned_alloc(a, (size + a - 1) / a * a));
}
void operator delete(void* p) noexcept {
  given_back(p);
}
void operator delete(void* p, size_t) noexcept {
  given_back(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  given_back(p);
}
void operator delete(void* p, size_t, std::align_val_t) noexcept {
  given_back(p);
}

using namespace ge;

namespace {

std::string repeat(const std::string& part, size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += part;
  return text;
}

// A block of protobuf's: field `number` with these bytes.
std::string block(int number, const std::string& bytes) {
  std::string head(1, static_cast<char>(number << 3 | 2));
  for (size_t n = bytes.size(); n != 0 || head.size() == 1; n >>= 7)
    head += static_cast<char>((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
  return head + bytes;
}
std::string model(const std::string& graph) {
  return "\x08\x08" + block(8, std::string("\x10\x0d", 2)) + block(7, graph);
}

struct Measured {
  int64_t bytes = 0;  // at once, beside the input
  bool refused = false;
  std::string said;
};
template <class Read>
Measured measure(Read&& read) {
  const int64_t before = live.load();
  peak.store(before);
  Measured m;
  {
    auto result = read();
    m.bytes = peak.load() - before;
    m.refused = !result.ok();
    if (m.refused) m.said = result.error().first().found;
  }
  return m;
}
Measured onnx(const std::string& bytes) {
  ByteBuffer file = ByteBuffer::copy_of(as_bytes(bytes));
  return measure([&] { return read_onnx(std::move(file), "m.onnx", "/nowhere"); });
}
Measured json(const std::string& text) {
  return measure([&] { return read_graph_json(as_bytes(text), "g.json", "/nowhere"); });
}

constexpr size_t kSize = 4 << 20;

struct Case {
  const char* name;
  std::string bytes;
};
// `most`: times the input.
void check(const Case& c, const Measured& m, double most) {
  INFO(c.name << ": " << m.said);
  CHECK(m.refused);
  CHECK(static_cast<double>(m.bytes) <= most * static_cast<double>(c.bytes.size()));
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
  for (const Case& c : models) check(c, onnx(c.bytes), 2);
}

TEST_CASE("numbers of a tensor are counted before they take memory") {
  const std::string zeros = repeat(std::string(1, '\0'), kSize);
  const auto of = [&](const std::string& dims) {
    return Case{"int64_data",
                model(block(5, dims + std::string("\x10\x07", 2) + block(7, zeros) + block(8, "w")))};
  };
  const Case more = of("\x08\x81\x80\x80\x02");  // 4 Mi + 1 numbers; 4 Mi are there
  check(more, onnx(more.bytes), 0.1);
}

// A document is held as a tree of 24 bytes a value, before anybody asks what it means.
TEST_CASE("graph.json that is refused took what its tree takes") {
  const std::vector<Case> texts = {
      {"[[],[],...", "[" + repeat("[],", kSize) + "0]"},
      {"0,0,0", "[" + repeat("0,", kSize) + "0]"},
      {"strings", "[" + repeat("\"\",", kSize) + "0]"},
      {"objects", "[" + repeat("{},", kSize) + "0]"},
      {"keys", "[" + repeat("{\"a\":0},", kSize) + "0]"},
      {"newlines", repeat("\n", kSize) + "0"},
      {"continuations", "[\"" + repeat("\xc2\xa1", kSize) + "\"]"},
      {"cut off", "[" + repeat("[],", kSize)},
      {"nodes", "{\"format\":\"ge-graph/1\",\"nodes\":[" + repeat("{},", kSize) + "0]}"},
      {"data",
       "{\"format\":\"ge-graph/"
       "1\",\"opset\":13,\"initializers\":[{\"name\":\"w\",\"dtype\":\"uint8\",\"shape\":[1],\"data\":[" +
           repeat("0,", kSize) + "0]}]}"},
  };
  for (const Case& c : texts) check(c, json(c.bytes), 40);
}

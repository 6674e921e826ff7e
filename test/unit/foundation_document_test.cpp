// JSON and CBOR: values, places, limits, hostile input, and writing.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "catch.h"
#include "document/base64.h"
#include "document/tree.h"
#include "document/utf8.h"
#include "document/writer.h"
#include "platform/clock.h"

namespace ge {
namespace {

using test::contains;

// Texts must outlive their documents.
ByteSpan kept(std::string_view text) {
  static std::deque<std::string> texts;
  return as_bytes(texts.emplace_back(text));
}
Result<Document> json(std::string_view text, DocumentLimits limits = {}) {
  return parse_json(kept(text), "g.json", limits);
}
Result<Document> cbor(std::string_view text, DocumentLimits limits = {}) {
  return parse_cbor(kept(text), "p", limits);
}

std::string repeat(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

// Runs and fails the test where it took longer than a second (a sanitizer's slowness included).
template <class F>
auto quickly(F&& f) {
  const int64_t start = monotonic_ns();
  auto result = f();
  CHECK(monotonic_ns() - start < 1000000000);
  return result;
}

TEST_CASE("JSON values come with their kinds", "[json]") {
  const auto d = json(
      R"({"n":null,"t":true,"f":false,"i":-3,"u":18446744073709551615,"d":1.5,"s":"a\u00e9\n","a":[1,2],"o":{}})");
  REQUIRE_OK(d);
  const Value root = d->root();
  CHECK(root.is_object());
  CHECK(root.size() == 9);
  CHECK(root.find("n")->is_null());
  CHECK(root.find("t")->as_bool() == true);
  CHECK(root.find("f")->as_bool() == false);
  CHECK(root.find("i")->as_int64() == -3);
  CHECK(root.find("i")->as_uint64() == std::nullopt);
  CHECK(root.find("i")->as_double() == -3.0);
  CHECK(root.find("u")->as_uint64() == UINT64_MAX);
  CHECK(root.find("u")->as_int64() == std::nullopt);
  CHECK(root.find("d")->as_double() == 1.5);
  CHECK(root.find("d")->as_int64() == std::nullopt);
  CHECK(root.find("s")->as_string() == "a\u00e9\n");
  CHECK(root.find("a")->size() == 2);
  CHECK(root.find("a")->at(1).as_int64() == 2);
  CHECK(root.find("o")->size() == 0);
  CHECK_FALSE(root.find("x").has_value());
  CHECK_FALSE(root.find("i")->as_string().has_value());
  CHECK_FALSE(root.find("i")->find("x").has_value());
}

TEST_CASE("Integers are exact to the last of 64 bits, and refused beyond", "[json]") {
  const auto d = json("[9223372036854775807,-9223372036854775808,9007199254740993,9223372036854775808]");
  REQUIRE_OK(d);
  CHECK(d->root().at(0).as_int64() == INT64_MAX);
  CHECK(d->root().at(1).as_int64() == INT64_MIN);
  CHECK(d->root().at(2).as_int64() == 9007199254740993);
  CHECK(d->root().at(3).as_uint64() == uint64_t{1} << 63);
  for (const char* text : {"[1, 18446744073709551616]", "[1, -9223372036854775809]"}) {
    const auto bad = json(text);
    REQUIRE_CODE(bad, Code::json_syntax);
    CHECK(bad.error().first().message == "integer does not fit in 64 bits");
    CHECK(bad.error().first().place == "g.json:1:5");
  }
  REQUIRE_CODE(json("1e400"), Code::json_syntax);
}

TEST_CASE("Members and elements keep their order, nested values are reached", "[json]") {
  const auto d = json(R"({"z":[[1,2],{"k":3}],"a":4})");
  REQUIRE_OK(d);
  std::string keys;
  for (Value v : d->root()) keys += v.key();
  CHECK(keys == "za");
  const Value z = *d->root().find("z");
  CHECK(z.at(0).at(1).as_int64() == 2);
  CHECK(z.at(1).find("k")->as_int64() == 3);
  CHECK(z.at(1).find("k")->pointer() == "/z/1/k");
  CHECK(d->root().pointer().empty());
  for (Value v : z.at(1)) CHECK(v.key() == "k");
  for (Value v : d->root().find("a")->children()) FAIL("a scalar has no children, found " << v.byte_offset());
}

TEST_CASE("Every value and key knows its line and column", "[json]") {
  const auto d = json(
      "// head, with \"quotes\" and 1,2\n"
      "{\n"
      "  \"name\" : \"tiny\", /* c,o:m */ \"dims\":{\"n\":-12.5e+3},\r\n"
      "\t\"list\": [ 10,\n"
      "    true , \"a\\\"]\\\\\" , [ ] , null]\n"
      "}\n");
  REQUIRE_OK(d);
  const Value root = d->root();
  CHECK(root.place() == "g.json:2:1");
  CHECK(root.find("name")->key_place() == "g.json:3:3");
  CHECK(root.find("name")->place() == "g.json:3:12");
  CHECK(root.find("dims")->key_place() == "g.json:3:32");
  CHECK(root.find("dims")->find("n")->place() == "g.json:3:44");
  CHECK(root.find("list")->key_place() == "g.json:4:2");
  CHECK(root.find("list")->place() == "g.json:4:10");
  CHECK(root.find("list")->at(0).place() == "g.json:4:12");
  CHECK(root.find("list")->at(1).place() == "g.json:5:5");
  CHECK(root.find("list")->at(2).place() == "g.json:5:12");
  CHECK(root.find("list")->at(3).place() == "g.json:5:23");
  CHECK(root.find("list")->at(4).place() == "g.json:5:29");
  CHECK(root.find("list")->at(2).as_string() == "a\"]\\");
}

TEST_CASE("Columns count code points, and a byte order mark counts as none", "[json]") {
  const auto d = json("\xef\xbb\xbf{ \"\u00e9\u65e5\U0001f600\": 1,\n\"\u00fc\": 2 }");
  REQUIRE_OK(d);
  CHECK(d->root().place() == "g.json:1:1");
  CHECK(d->root().at(0).key_place() == "g.json:1:3");
  CHECK(d->root().at(0).place() == "g.json:1:10");
  CHECK(d->root().at(1).place() == "g.json:2:6");
}

TEST_CASE("Pointers escape what JSON pointers escape", "[json]") {
  const auto d = json(R"({"a/b":{"~":[0,1]}})");
  REQUIRE_OK(d);
  CHECK(d->root().at(0).at(0).at(1).pointer() == "/a~1b/~0/1");
}

TEST_CASE("Syntax faults are told with line and column", "[json]") {
  struct Case {
    const char* text;
    const char* place;
  };
  const Case cases[] = {
      {"{\n  \"a\": 1,\n  \"b\" 2\n}", "g.json:3:7"},  // the token that should have been a colon
      {"[1, 2", "g.json:1:6"},
      {"[1,,2]", "g.json:1:4"},
      {"{\"a\":1,}", "g.json:1:8"},
      {"[tru]", "g.json:1:5"},
      {"not json", "g.json:1:2"},
      {"{} x", "g.json:1:4"},
      {"[1] [2]", "g.json:1:5"},
      {"\"abc", "g.json:1:5"},
      {"{\"a\": \"x\ny\"}", "g.json:1:9"},
      {"[1, // note, with \" and ]\n /* , */ }", "g.json:2:10"},
      {"[01]", "g.json:1:3"},
      {"/* open", "g.json:1:8"},
      {"   ", "g.json:1:4"},
      {"[NaN]", "g.json:1:2"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto d = json(c.text);
    REQUIRE_CODE(d, Code::json_syntax);
    const Diagnostic& e = d.error().first();
    CHECK(e.place == c.place);
    CHECK(e.message == "not valid JSON");
    CHECK_FALSE(e.found.empty());
    CHECK(e.found.find("json.exception") == std::string::npos);
  }
  REQUIRE_CODE(json(""), Code::empty_file);
  const auto nul = json(std::string_view("[1]\n\0[2]", 8));
  REQUIRE_CODE(nul, Code::json_syntax);
  CHECK(nul.error().first().place == "g.json:2:1");
}

TEST_CASE("A syntax fault says what was found and what was expected, without the text around it", "[json]") {
  CHECK(json("[1,,2]").error().first().found ==
        "unexpected ','; expected '[', '{', or a literal (while parsing value)");
  CHECK(json("[1]x").error().first().found == "invalid literal; expected end of input (while parsing value)");
  CHECK(json("\"" + repeat("a", 1000) + "\xff\"").error().first().found ==
        "invalid string: ill-formed UTF-8 byte (while parsing value)");
}

TEST_CASE("Ill-formed UTF-8 is a syntax fault", "[json]") {
  for (const char* bad :
       {"\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xe2\x82\""}) {
    REQUIRE_CODE(json(bad), Code::json_syntax);
  }
}

TEST_CASE("All duplicate keys are told at once, with both places", "[json]") {
  const auto d = json("{\"a\":1,\n\"b\":{\"x\":1,\"y\":2,\"x\":3},\n\"a\":2,\"a\":3}");
  REQUIRE_FALSE(d.ok());
  REQUIRE(d.error().list().size() == 3);
  const Diagnostic& inner = d.error().list()[0];
  CHECK(inner.code == Code::duplicate_key);
  CHECK(inner.message == "key 'x' appears twice");
  CHECK(inner.place == "g.json:2:18");
  CHECK(inner.path == "/b/x");
  CHECK_THAT(inner.found, contains("g.json:2:6"));
  CHECK(d.error().list()[1].place == "g.json:3:1");
  CHECK(d.error().list()[2].place == "g.json:3:7");
  // The same key in other objects is no duplicate.
  REQUIRE_OK(json(R"([{"a":1},{"a":2,"b":{"a":3}}])"));
  // "\u0061" is "a".
  REQUIRE_CODE(json(R"({"a":1,"\u0061":2})"), Code::duplicate_key);
}

TEST_CASE("Limits of depth, values and bytes are kept", "[json]") {
  REQUIRE_OK(json(repeat("[", 100) + repeat("]", 100)));
  const auto deep = json(repeat("[", 101) + repeat("]", 101));
  REQUIRE_CODE(deep, Code::document_limit);
  CHECK(deep.error().first().place == "g.json:1:101");
  DocumentLimits limits;
  limits.max_nodes = 4;
  REQUIRE_OK(json("[1,2,3]", limits));
  REQUIRE_CODE(json("[1,2,3,4]", limits), Code::document_limit);
  limits = {};
  limits.max_bytes = 5;
  REQUIRE_OK(json("[1,2]", limits));
  REQUIRE_CODE(json("[1,2] ", limits), Code::document_limit);
}

TEST_CASE("Depth bombs end quickly", "[json]") {
  for (const char* piece : {"[", "{\"a\":", "[{\"a\":"}) {
    const std::string bomb = repeat(piece, 1 << 20);
    REQUIRE_CODE(quickly([&] { return json(bomb); }), Code::document_limit);
  }
  REQUIRE_CODE(quickly([&] { return json(repeat("]", 1 << 20)); }), Code::json_syntax);
}

// That the byte a value claims to start at is one that its kind starts with.
void check_offsets(Value v, std::string_view text) {
  const char c = text[static_cast<size_t>(v.byte_offset())];
  switch (v.kind()) {
    case ValueKind::kNull:
      REQUIRE(c == 'n');
      break;
    case ValueKind::kBool:
      REQUIRE(c == (*v.as_bool() ? 't' : 'f'));
      break;
    case ValueKind::kString:
      REQUIRE(c == '"');
      break;
    case ValueKind::kArray:
      REQUIRE(c == '[');
      break;
    case ValueKind::kObject:
      REQUIRE(c == '{');
      break;
    default:
      REQUIRE((c == '-' || (c >= '0' && c <= '9')));
  }
  for (Value child : v) check_offsets(child, text);
}

TEST_CASE("JSON with any byte changed is refused, or read with right places", "[json]") {
  const std::string good =
      "{\"a\": [1, -2.5e3, true, null],/* \"c\" */ \"b\\\"/\": {\"x\": \"\\u00e9\\\\\", \"y\": [[], {}]}, // "
      "e\n \"c\": false }";
  REQUIRE_OK(json(good));
  for (size_t i = 0; i < good.size(); ++i) {
    REQUIRE_FALSE(json(good.substr(0, i)).ok());
    for (int value = 0; value < 256; ++value) {
      std::string bad = good;
      bad[i] = static_cast<char>(value);
      const auto d = json(bad);
      if (d.ok()) {
        check_offsets(d->root(), bad);
      } else {
        REQUIRE(d.error().kind() == ErrorKind::kUser);
      }
    }
  }
}

// What nlohmann_json says of a text, without the place and what it read last, and the byte it had read; ""
// where it accepts it.
std::pair<std::string, size_t> said_by_nlohmann(const std::string& text, nlohmann::ordered_json& read) {
  try {
    read = nlohmann::ordered_json::parse(text, nullptr, true, true);
    return {};
  } catch (const nlohmann::json::parse_error& e) {
    std::string what = e.what();
    what.erase(0, what.find("syntax error ") + 13);
    if (const size_t read = what.find("; last read: '"); read != std::string::npos) {
      const size_t expected = what.rfind("'; expected ");
      what.erase(read, expected == std::string::npos ? expected : expected + 1 - read);
    }
    const size_t dash = what.find(" - ");
    return {what.substr(dash + 3) + " (" + what.substr(0, dash) + ")", e.byte};
  } catch (const nlohmann::json::out_of_range& e) {
    return {std::string(e.what()).substr(sizeof "[json.exception.out_of_range.406]"), 0};
  }
}

bool same(Value v, const nlohmann::ordered_json& other) {
  if (v.is_array() || v.is_object()) {
    if (v.is_array() != other.is_array() || v.size() != static_cast<int64_t>(other.size())) return false;
    auto at = other.begin();
    for (Value child : v) {
      if (v.is_object() && child.key() != at.key()) return false;
      if (!same(child, *at++)) return false;
    }
    return true;
  }
  if (v.is_string()) return other.is_string() && *v.as_string() == other.get<std::string>();
  if (v.is_bool()) return other.is_boolean() && *v.as_bool() == other.get<bool>();
  if (v.is_null()) return other.is_null();
  if (v.kind() == ValueKind::kDouble) return other.is_number_float() && *v.as_double() == other.get<double>();
  if (v.kind() == ValueKind::kUint64)
    return other.is_number_unsigned() && *v.as_uint64() == other.get<uint64_t>();
  return other.is_number_integer() && *v.as_int64() == other.get<int64_t>();
}

TEST_CASE("JSON is accepted, and refused in the same words, as nlohmann_json does", "[json]") {
  const std::vector<std::string> seeds = {
      "{\"a\": [1, -2.5e3, true, null],/* \"c\" */ \"b\\\"/\": {\"x\": \"\\u00e9\\\\\", \"y\": [[], {}]}, // "
      "e\n \"c\": false }",
      "\xef\xbb\xbf[\"\u00e9\u65e5\U0001f600\", \"\\ud83d\\ude00\", 0.0, -0, 1E+5, 1e-7, "
      "18446744073709551615, "
      "\"\\b\\f\\n\\r\\t\\/\"]",
  };
  const std::vector<std::string> parts = {"\"",
                                          "\\",
                                          "\\u",
                                          "\\ud800",
                                          "\\udc00",
                                          "\\u12",
                                          "{",
                                          "}",
                                          "[",
                                          "]",
                                          ":",
                                          ",",
                                          "tru",
                                          "true",
                                          "nul",
                                          "-",
                                          "+",
                                          ".",
                                          "e",
                                          "E",
                                          "0",
                                          "1",
                                          "1e999",
                                          "1e9223372036854775807",
                                          "-1.5e-9223372036854775808",
                                          "0.0e99999999999999999999",
                                          "1E99999999999999999999",
                                          "0.01e-99999999999999999999",
                                          "1e-999",
                                          "/",
                                          "/*",
                                          "*/",
                                          "//",
                                          "\n",
                                          "\r",
                                          "\t",
                                          "\x01",
                                          "\x1f",
                                          "\x7f",
                                          "\x80",
                                          "\xc0",
                                          "\xc3",
                                          "\xe0\x80",
                                          "\xe0\xa0",
                                          "\xed\xa0",
                                          "\xf0\x80",
                                          "\xf4\x90",
                                          "\xf5",
                                          "\xef\xbb",
                                          " ",
                                          "NaN",
                                          "\"k\":"};
  std::mt19937_64 random(1);
  int refused = 0, accepted = 0;
  std::set<std::string> reasons;
  for (int i = 0; i < 40000; ++i) {
    std::string text = seeds[random() % seeds.size()];
    for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      const size_t at = random() % (text.size() + 1);
      const uint64_t how = random() % 4;
      if (how == 0) text.resize(at);
      if (how == 1) text.erase(at, 1 + random() % 3);
      if (how >= 2) text.insert(at, parts[random() % parts.size()]);
    }
    if (text.empty()) continue;
    const auto d = json(text);
    nlohmann::ordered_json read;
    const auto [reason, byte] = said_by_nlohmann(text, read);
    INFO(text << "\n" << reason);
    if (d.ok()) {
      ++accepted;
      REQUIRE(reason == "");
      REQUIRE(same(d->root(), read));
      continue;
    }
    const Diagnostic& first = d.error().first();
    // What it lets pass: these are told where they stand, before any fault behind them.
    if (first.code == Code::duplicate_key || first.message == "integer does not fit in 64 bits") continue;
    ++refused;
    REQUIRE(first.found == reason);
    reasons.insert(reason.substr(0, reason.find(" (while")));
    // A token that is wrong is shown where it goes wrong.
    if (reason.starts_with("invalid")) {
      const std::string before = text.substr(0, std::min(byte - 1, text.size()));
      const size_t line = before.rfind('\n') + 1;
      const auto columns = std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line), before.end(),
                                         [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; });
      const bool mark = line == 0 && before.starts_with("\xef");
      REQUIRE(first.place == "g.json:" + std::to_string(1 + std::count(before.begin(), before.end(), '\n')) +
                                 ":" + std::to_string(columns + (mark ? 0 : 1)));
    }
  }
  CHECK(refused > 10000);
  CHECK(accepted > 1000);
  CHECK(reasons.size() > 60);
}

TEST_CASE("Values describe themselves", "[json]") {
  const auto d = json(R"([null,true,-4,1.5,"abc",[],{},"0123456789012345678901234567890123456789\u00e9"])");
  REQUIRE_OK(d);
  const char* expected[] = {"null", "true", "-4", "1.5", "\"abc\"", "an array", "an object"};
  for (int64_t i = 0; i < 7; ++i) CHECK(d->root().at(i).describe() == expected[i]);
  CHECK(d->root().at(7).describe() == "\"0123456789012345678901234567890123456789...\"");
  CHECK(name_of(d->root().at(2).kind()) == "an integer");
}

Document sample() {
  DocumentBuilder b;
  b.begin_object();
  b.key("name").value("t\u00e9\"\\\n");
  b.key("dims").integers(std::vector<int64_t>{1, -2, INT64_MIN, INT64_MAX});
  b.key("big").value(UINT64_MAX);
  b.key("nothing").null();
  b.key("flags").begin_array().value(true).value(false).end_array();
  b.key("numbers").begin_array().value(0.1).value(0.1f).value(-0.0).value(1e300).value(3.0).value(1e22);
  b.value(std::numeric_limits<double>::quiet_NaN())
      .value(INFINITY)
      .value(-std::numeric_limits<double>::infinity())
      .end_array();
  b.key("bytes").binary(as_bytes(std::string_view("\0\xff\x10", 3)));
  b.key("empty").begin_object().end_object();
  b.key("none").begin_array().end_array();
  b.end_object();
  return std::move(b).finish("built");
}

TEST_CASE("JSON text of a document", "[write]") {
  const Document d = sample();
  CHECK(to_json(d, -1) ==
        "{\"name\":\"t\u00e9\\\"\\\\\\n\",\"dims\":[1,-2,-9223372036854775808,9223372036854775807],\"big\":"
        "18446744073709551615,"
        "\"nothing\":null,\"flags\":[true,false],\"numbers\":[0.1,0.1,-0.0,1e+300,3.0,1e+22,\"NaN\","
        "\"Infinity\",\"-Infinity\"],"
        "\"bytes\":\"AP8Q\",\"empty\":{},\"none\":[]}");
  CHECK(to_json(*d.root().find("flags")) == "[true, false]");
  CHECK(d.root().find("big")->place() == "built");
  CHECK(d.root().find("numbers")->at(1).as_double() == double{0.1f});
}

TEST_CASE("Pretty JSON keeps short containers on one line and fills long arrays", "[write]") {
  DocumentBuilder b;
  b.begin_object().key("format").value("ge-graph/1");
  b.key("inputs")
      .begin_array()
      .begin_object()
      .key("name")
      .value("x")
      .key("shape")
      .begin_array()
      .value("n")
      .value(16)
      .end_array();
  b.end_object().end_array();
  b.key("data").begin_array();
  for (int i = 0; i < 40; ++i) b.value(1000 + i);
  b.end_array().end_object();
  CHECK(to_json(std::move(b).finish()) ==
        "{\n"
        "  \"format\": \"ge-graph/1\",\n"
        "  \"inputs\": [{ \"name\": \"x\", \"shape\": [\"n\", 16] }],\n"
        "  \"data\": [\n"
        "    1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 1015, "
        "1016,\n"
        "    1017, 1018, 1019, 1020, 1021, 1022, 1023, 1024, 1025, 1026, 1027, 1028, 1029, 1030, 1031, 1032, "
        "1033,\n"
        "    1034, 1035, 1036, 1037, 1038, 1039\n"
        "  ]\n"
        "}");
}

TEST_CASE("No line of pretty JSON is over the width, and it reads back the same", "[write]") {
  DocumentBuilder b;
  b.begin_array();
  for (int i = 0; i < 60; ++i) {
    b.begin_object().key("key").value(std::string(static_cast<size_t>(i), 'a'));
    b.key("list").begin_array();
    for (int k = 0; k < i; ++k) b.value(k * 0.37);
    b.end_array().end_object();
  }
  b.end_array();
  const Document d = std::move(b).finish();
  const std::string text = to_json(d, 2);
  size_t longest = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    longest = std::max(longest, end - at);
    at = end + 1;
  }
  CHECK(longest <= 110);
  CHECK(longest > 100);
  const auto back = json(text);
  REQUIRE_OK(back);
  CHECK(to_json(*back, -1) == to_json(d, -1));
}

TEST_CASE("Text that is no UTF-8 is written as the replacement character", "[write]") {
  DocumentBuilder b;
  b.value(std::string_view("a\xff"));
  CHECK(to_json(std::move(b).finish(), -1) == "\"a\uFFFD\"");
}

TEST_CASE("CBOR goes out and comes back the same", "[cbor]") {
  const Document d = sample();
  const std::vector<std::byte> bytes = to_cbor(d);
  const auto back = parse_cbor(bytes, "p");
  REQUIRE_OK(back);
  CHECK(to_cbor(*back) == bytes);
  CHECK(back->root().find("dims")->at(2).as_int64() == INT64_MIN);
  CHECK(back->root().find("big")->as_uint64() == UINT64_MAX);
  CHECK(back->root().find("numbers")->at(0).as_double() == 0.1);
  CHECK(std::signbit(*back->root().find("numbers")->at(2).as_double()));
  CHECK(std::isnan(*back->root().find("numbers")->at(6).as_double()));
  CHECK(as_text(*back->root().find("bytes")->as_binary()) == std::string_view("\0\xff\x10", 3));
  CHECK(back->root().find("name")->as_string() == "t\u00e9\"\\\n");
}

TEST_CASE("CBOR bytes are those of RFC 8949", "[cbor]") {
  const auto hex = [](const Document& d) {
    std::string text;
    for (const std::byte b : to_cbor(d)) {
      text += "0123456789abcdef"[static_cast<int>(b) >> 4];
      text += "0123456789abcdef"[static_cast<int>(b) & 15];
    }
    return text;
  };
  DocumentBuilder a;
  a.begin_object()
      .key("a")
      .value(1)
      .key("b")
      .begin_array()
      .value(2)
      .value(-500)
      .value(1.1)
      .value(100000.0)
      .end_array()
      .end_object();
  CHECK(hex(std::move(a).finish()) ==
        "a26161016162840239"
        "01f3"
        "fb3ff199999999999a"
        "fa47c35000");
  DocumentBuilder b;
  b.begin_array();
  for (int i = 0; i < 25; ++i) b.value(24);
  b.end_array();
  CHECK(hex(std::move(b).finish()) == "9819" + repeat("1818", 25));
}

TEST_CASE("CBOR of other writers: indefinite containers, half floats", "[cbor]") {
  const auto d = cbor(std::string_view("\x9f\x01\x82\x02\x03\xbf\x61\x61\xf9\x3c\x00\xff\xff", 13));
  REQUIRE_OK(d);
  CHECK(to_json(*d, -1) == "[1,[2,3],{\"a\":1.0}]");
  CHECK(d->root().at(1).byte_offset() == 2);
  CHECK(d->root().at(2).byte_offset() == 5);
  CHECK(d->root().at(2).find("a")->place() == "p+0x8");
  CHECK(d->root().at(2).find("a")->key_place() == "p+0x6");
}

TEST_CASE("CBOR that is wrong is refused with its byte", "[cbor]") {
  struct Case {
    std::string_view bytes;
    const char* found;
  };
  const Case cases[] = {
      {"", "the bytes end"},
      {std::string_view("\x01\x02", 2), "1 bytes follow"},
      {std::string_view("\x82\x01", 2), "an array claims 2 entries"},
      {std::string_view("\xa1\x01\x02", 3), "a key must be text"},
      {std::string_view("\xc1\x01", 2), "tags are not supported"},
      {std::string_view("\x7f\x61\x61\xff", 4), "indefinite length"},
      {std::string_view("\x3b\xff\xff\xff\xff\xff\xff\xff\xff", 9), "64 bits"},
      {std::string_view("\x1c", 1), "reserved"},
      {std::string_view("\x1f", 1), "without a value"},
      {std::string_view("\xf7", 1), "simple value 23"},
      {std::string_view("\xff", 1), "a break outside"},
      {std::string_view("\x81\xff", 2), "a break outside"},
      {std::string_view("\xbf\x61\x61\xff", 4), "a key without a value"},
      {std::string_view("\x61\xff", 2), "not UTF-8"},
      {std::string_view("\x19\x01", 2), "end inside a value"},
      {std::string_view("\x9f\x01", 2), "the bytes end"},
  };
  for (const Case& c : cases) {
    const auto d = cbor(c.bytes);
    INFO(c.found);
    REQUIRE_CODE(d, Code::json_syntax);
    CHECK(d.error().first().message.find("not valid CBOR") != std::string::npos);
    CHECK_THAT(d.error().first().found, contains(c.found));
    CHECK_THAT(d.error().first().place, contains("p+0x"));
  }
  REQUIRE_CODE(cbor(std::string_view("\xa2\x61\x61\x01\x61\x61\x02", 7)), Code::duplicate_key);
}

TEST_CASE("CBOR bombs are refused quickly: nesting, and lengths that are not there", "[cbor]") {
  const size_t kMega = 1 << 20;
  for (const std::string_view piece :
       {std::string_view("\x81"), std::string_view("\x9f"), std::string_view("\xa1\x61\x61"),
        std::string_view("\xbf\x61\x61"), std::string_view("\x82\x01")}) {
    const std::string bomb = repeat(piece, kMega / piece.size());
    REQUIRE_CODE(quickly([&] { return cbor(bomb); }), Code::document_limit);
  }
  // Chunked strings inside chunked strings recurse in nlohmann's reader; tags in tags likewise.
  for (const std::string_view piece : {std::string_view("\x7f"), std::string_view("\x5f"),
                                       std::string_view("\xc6"), std::string_view("\xbf")}) {
    REQUIRE_CODE(quickly([&] { return cbor(repeat(piece, kMega)); }), Code::json_syntax);
  }
  for (const char initial : {'\x5b', '\x7b', '\x9b', '\xbb'}) {
    for (const std::string_view length : {std::string_view("\x10\0\0\0\0\0\0\0", 8),
                                          std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff", 8)}) {
      const std::string claim = std::string(1, initial) + std::string(length) + "abc";
      REQUIRE_CODE(quickly([&] { return cbor(claim); }), Code::json_syntax);
    }
  }
  DocumentLimits limits;
  limits.max_nodes = 1000;
  REQUIRE_CODE(
      quickly([&] { return cbor("\x9a" + std::string("\0\x0f\0\0", 4) + repeat("\x01", kMega), limits); }),
      Code::document_limit);
}

TEST_CASE("Every truncation and every changed byte of a CBOR document is refused or read", "[cbor]") {
  const std::vector<std::byte> good = to_cbor(sample());
  for (size_t n = 0; n < good.size(); ++n) REQUIRE_FALSE(parse_cbor(ByteSpan(good).first(n), "p").ok());
  for (size_t i = 0; i < good.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::vector<std::byte> bad = good;
      bad[i] = static_cast<std::byte>(value);
      const auto d = parse_cbor(bad, "p");
      if (d.ok()) {
        REQUIRE(parse_cbor(to_cbor(*d), "p").ok());
      } else {
        REQUIRE(d.error().kind() == ErrorKind::kUser);
      }
    }
  }
}

TEST_CASE("Base64 is strict", "[base64]") {
  for (const std::string_view text : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    const auto back = base64_decode(base64_encode(as_bytes(text)));
    REQUIRE(back.has_value());
    CHECK(as_text(back->span()) == text);
  }
  CHECK(base64_encode(as_bytes("fooba")) == "Zm9vYmE=");
  for (const char* bad : {"Zg=", "Zg", "Z===", "Zh==", "Zm9v\n", "Zm 9", "=Zm9", "Zg==Zg=="})
    CHECK_FALSE(base64_decode(bad).has_value());
}

TEST_CASE("Doubles are written so that they read back the same", "[write]") {
  for (const double v :
       {5e-324, 1.7976931348623157e308, 0.1 + 0.2, 123456789.125, -2.2250738585072014e-308}) {
    DocumentBuilder b;
    b.value(v);
    const std::string text = to_json(std::move(b).finish(), -1);
    const auto back = json(text);
    REQUIRE_OK(back);
    CHECK(back->root().as_double() == v);
  }
}

}  // namespace
}  // namespace ge

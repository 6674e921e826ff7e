// Errors, results, buffers, checked arithmetic.
#include <cmath>

#include "base/bytes.h"
#include "base/checked_math.h"
#include "base/diagnostic.h"
#include "base/status.h"
#include "base/text.h"
#include "base/usual_fix.h"
#include "catch.h"

namespace ge {
namespace {

Result<int> parse_positive(int n) {
  if (n < 0) return fail(Code::bad_dim).because("found " + std::to_string(n));
  return n;
}

Status twice(int n, int& out) {
  GE_ASSIGN(const int value, parse_positive(n));
  GE_ASSIGN(const int again, parse_positive(value));
  out = value + again;
  GE_TRY(Status());
  return {};
}

TEST_CASE("A diagnostic prints code, place, finding, fix and frames", "[base]") {
  const Diagnostic d = fail(Code::axis_out_of_range)
                           .say("softmax axis is out of range")
                           .at("graph.json:14:37")
                           .in("/nodes/3/attributes/axis")
                           .because("found 4; %y has rank 3, allowed -3 .. 2")
                           .try_("use -1 for the last dimension");
  CHECK(to_string(d) ==
        "error[E0312]: softmax axis is out of range\n"
        "  graph.json:14:37  /nodes/3/attributes/axis\n"
        "  found 4; %y has rank 3, allowed -3 .. 2\n"
        "  fix: use -1 for the last dimension");
}

TEST_CASE("A diagnostic without a message prints its code's title", "[base]") {
  CHECK(to_string(fail(Code::file_unreadable)) == "error[E0102]: file cannot be read");
  CHECK(to_string(fail(Code::file_unreadable).because("one\ntwo")) ==
        "error[E0102]: file cannot be read\n  one\n  two");
  CHECK(to_string(fail(Code::file_unreadable).say("a\x1b[31m\x7f \xc3\xa9").because("b\rc")) ==
        "error[E0102]: a\\x1b[31m\\x7f \xc3\xa9\n  b\\x0dc");
}

TEST_CASE("What to do is what the place says, else what the code usually wants", "[base]") {
  CHECK(to_string(fail(Code::empty_file)) == "error[E0216]: file is empty\n  fix: write it again");
  CHECK(to_string(fail(Code::empty_file).try_("fill it")) == "error[E0216]: file is empty\n  fix: fill it");
  CHECK(fix_of(fail(Code::internal)).empty());
}

TEST_CASE("Codes have kinds, and kinds decide the exit code", "[base]") {
  CHECK(code_string(Code::file_not_found) == "E0101");
  CHECK(code_string(Code::internal) == "E0901");
  CHECK(title_of(Code::graph_cycle) == "nodes form a cycle");
  CHECK(exit_code(kind_of(Code::unknown_op)) == 1);
  CHECK(exit_code(kind_of(Code::bad_usage)) == 2);
  CHECK(exit_code(kind_of(Code::file_unwritable)) == 3);
  CHECK(exit_code(kind_of(Code::results_differ)) == 4);
  CHECK(exit_code(kind_of(Code::internal)) == 70);
  CHECK(kind_of(static_cast<Code>(9999)) == ErrorKind::kBug);
}

TEST_CASE("GE_ASSIGN and GE_TRY hand values and errors on", "[base]") {
  int out = 0;
  REQUIRE_OK(twice(21, out));
  CHECK(out == 42);
  REQUIRE_CODE(twice(-5, out), Code::bad_dim);
  CHECK(twice(-5, out).error().first().found == "found -5");
}

TEST_CASE("An error's kind is that of its gravest entry, and frames reach every entry", "[base]") {
  Error error(std::vector<Diagnostic>{fail(Code::unknown_op), fail(Code::no_gpu), fail(Code::bad_usage)});
  CHECK(error.kind() == ErrorKind::kEnvironment);
  error.list().push_back(fail(Code::internal));
  CHECK(error.kind() == ErrorKind::kBug);
  error = std::move(error).with_frame("while reading x.json");
  CHECK(error.list()[2].frames == std::vector<std::string>{"while reading x.json"});
  CHECK(Error(fail(Code::unknown_op)).kind() == ErrorKind::kUser);
  Error two(std::vector<Diagnostic>{fail(Code::unknown_op), fail(Code::results_differ)});
  CHECK(two.to_string() == "error[E0301]: unknown operator\n\nerror[E0610]: results differ");
}

TEST_CASE("An error list that is empty is ok", "[base]") {
  ErrorList list;
  CHECK(list.take().ok());
  list.add(fail(Code::unknown_op));
  list.add(Error(fail(Code::graph_cycle)));
  CHECK(list.size() == 2);
  REQUIRE_CODE(list.take(), Code::unknown_op);
}

TEST_CASE("Long texts of listed errors are cut between code points", "[base]") {
  std::string name;
  while (name.size() < 1'000'000) name += "\xc3\xa9";
  ErrorList list;
  list.add(fail(Code::unknown_op)
               .say("op '" + name + "' is unknown")
               .in(std::string(4096, 'p'))
               .because("x" + name));
  const Status status = list.take();
  const Diagnostic& d = status.error().first();
  CHECK(d.message.size() <= 4096);
  CHECK(d.message.starts_with("op '\xc3\xa9"));
  CHECK(d.message.ends_with("\xc3\xa9' is unknown"));
  CHECK(d.message.find("\xc3\xa9 ... (1000016 bytes) ... \xc3\xa9") != std::string::npos);
  CHECK(d.path == std::string(4096, 'p'));
  CHECK(d.found.find("\xc3\xa9 ... (1000001 bytes) ... \xc3\xa9") != std::string::npos);
}

TEST_CASE("Names cannot move the cursor or make lines of their own", "[base]") {
  CHECK(visible("a\033[2J\n\tb\x7f") == "a\\x1b[2J\n\tb\\x7f");
  CHECK(visible_line("a\033[2J\n\tb\x7f\r") == "a\\x1b[2J\\n\\tb\\x7f\\x0d");
  CHECK(visible_line("C1 \xc2\x9b, no C1 \xc2\xa0\xc3\x9b, cut \xc2") ==
        "C1 \\xc2\\x9b, no C1 \xc2\xa0\xc3\x9b, cut \xc2");
  CHECK(visible_line(std::string_view("\0", 1)) == "\\x00");
  CHECK(visible_line("") == "");
  Diagnostic d =
      fail(Code::unknown_op).say("op\nnote: x").at("a\nb").in("/c\td").because("1\n2\033").try_("e\nf");
  d.frames = {"in\n g"};
  CHECK(to_string(d) ==
        "error[E0301]: op\\nnote: x\n  a\\nb  /c\\td\n  1\n  2\\x1b\n  fix: e\\nf\n  in\\n g");
}

TEST_CASE("What is counted agrees with its number", "[base]") {
  CHECK(counted(0, "launch", "launches") == "0 launches");
  CHECK(counted(1, "launch", "launches") == "1 launch");
  CHECK(counted(2, "launch", "launches") == "2 launches");
}

TEST_CASE("Ranges, doubles and lists as text", "[base]") {
  CHECK(range_text(1, 64) == "1 .. 64");
  CHECK(range_text(3, 3) == "3");
  CHECK(range_text(0, INT64_MAX) == "0 and up");
  CHECK(range_text(INT64_MIN, -5) == "up to -5");
  CHECK(range_text(INT64_MIN, INT64_MAX) == "any");
  CHECK(double_text(0.5) == "0.5");
  CHECK(double_text(-3) == "-3.0");
  CHECK(double_text(1e30) == "1e+30");
  CHECK(double_text(-HUGE_VAL) == "-inf");
  CHECK(double_text(-std::nan("")) == "nan");
  CHECK(joined({}, ", ") == "");
  CHECK(joined({"a"}, ", ") == "a");
  CHECK(joined({"", "b", "c"}, " + ") == " + b + c");
  CHECK(quoted_line("a\nb") == "\"a\\nb\"");
}

TEST_CASE("nearest offers what was probably meant", "[base]") {
  const std::vector<std::string> names = {"MatMul", "Softmax", "Softplus", "Add", "axis"};
  CHECK(nearest("Sofmax", names) == "Softmax");
  CHECK(nearest("matmul", names) == "MatMul");
  CHECK(nearest("axes", names) == "axis");
  CHECK(nearest("Convolution", names) == "");
  CHECK(nearest("", names) == "");
  CHECK(nearest("ad", names) == "Add");
  CHECK(nearest("x", {}) == "");
  // short names
  CHECK(nearest("x", {"y", "z"}) == "");
  CHECK(nearest("X", {"y", "x"}) == "x");
  CHECK(nearest("h", {"x", "h1", "y"}) == "h1");
  CHECK(nearest("h", {"x", "h_1", "y"}) == "h_1");
  CHECK(nearest("h", {"hidden"}) == "");
  CHECK(nearest("h1", {"x", "h"}) == "h");
  CHECK(nearest("w1", {"x1y", "w2"}) == "w2");
  CHECK(nearest("ab", {"xy", "ba"}) == "ba");
  CHECK(nearest("ab", {"cd"}) == "");
  CHECK(nearest("fc1", {"fc", "fc2"}) == "fc");
  CHECK(nearest("fc3", {"conv", "fc2"}) == "fc2");
  CHECK(nearest("Rleu", {"Relu", "Rule"}) == "Relu");
}

TEST_CASE("Buffers are aligned, and empty is not missing", "[base]") {
  const ByteBuffer zeroed = ByteBuffer::allocate(1000, true);
  REQUIRE(zeroed.data() != nullptr);
  CHECK(reinterpret_cast<uintptr_t>(zeroed.data()) % 64 == 0);
  for (const std::byte b : zeroed.span()) REQUIRE(b == std::byte{0});
  const ByteBuffer empty = ByteBuffer::allocate(0);
  CHECK(empty.data() != nullptr);
  CHECK(empty.size() == 0);
  const ByteBuffer impossible = ByteBuffer::allocate(size_t{1} << 62);
  CHECK(impossible.data() == nullptr);
  CHECK(impossible.size() == 0);
  CHECK(as_text(ByteBuffer::copy_of(as_bytes("hello")).span()) == "hello");
}

TEST_CASE("Checked arithmetic reports what does not fit", "[base]") {
  constexpr int64_t kMax = INT64_MAX, kMin = INT64_MIN;
  CHECK(checked_add(kMax, 1) == std::nullopt);
  CHECK(checked_sub(kMin, 1) == std::nullopt);
  CHECK(checked_mul(int64_t{1} << 32, int64_t{1} << 31) == std::nullopt);
  CHECK(checked_mul(int64_t{1} << 31, int64_t{1} << 31) == int64_t{1} << 62);
  CHECK(floor_div(-7, 2) == -4);
  CHECK(floor_div(7, -2) == -4);
  CHECK(floor_div(kMin, -1) == std::nullopt);
  CHECK(floor_div(1, 0) == std::nullopt);
  CHECK(floor_mod(-7, 2) == 1);
  CHECK(floor_mod(7, -2) == -1);
  CHECK(floor_mod(kMin, -1) == 0);
  CHECK(align_up(257, 256) == 512);
  CHECK(align_up(256, 256) == 256);
}

}  // namespace
}  // namespace ge

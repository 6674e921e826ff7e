// Known contents: what models compute from shapes, as dims.
#include "catch.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"

using namespace ge;

namespace {
// Contents of the last line's value, as text; "unknown" where there are none.
std::string contents(const std::string& lines) {
  const auto g =
      parse_ir("graph @t (%x: int64[2]) symbols(n 1..64 opt 8, m) {\n%s = dims() {values = [n, 4, m]}\n" +
               lines + "\nreturn %r as \"r\"\n}");
  REQUIRE_OK(g);
  REQUIRE_OK(verify(*g, true));
  const auto& known = g->value(g->outputs[0]).contents;
  return known ? to_string(*known) : "unknown";
}
std::string map(const std::string& op, const std::string& a, const std::string& b) {
  return contents("%a = dims() {values = [" + a + "]}\n%b = dims() {values = [" + b + "]}\n%r = " + op +
                  "(%a, %b)");
}
}  // namespace

TEST_CASE("contents of movement ops") {
  CHECK(contents("%r = reshape(%s) {shape = [3, 1]}") == "[n, 4, m]");
  CHECK(contents("%r = slice(%s) {starts = [2], steps = [-1], shape = [3]}") == "[m, 4, n]");
  CHECK(contents("%r = slice(%s) {starts = [1], steps = [1], shape = [2]}") == "[4, m]");
  CHECK(contents("%i = constant int64[] [-1]\n%r = gather(%s, %i) {axis = 0}") == "[m]");
  CHECK(contents("%i = constant int32[2] [1, 0]\n%r = gather(%s, %i) {axis = 0}") == "[4, n]");
  CHECK(contents("%i = constant int64[1] [3]\n%r = gather(%s, %i) {axis = 0}") == "unknown");
  CHECK(contents("%c = constant int64[1] [7]\n%r = concat(%c, %s, %c) {axis = 0}") == "[7, n, 4, m, 7]");
  CHECK(contents("%c = constant int64[2, 1] [1, 2]\n%d = constant int64[2, 2] [3, 4, 5, 6]\n%r = concat(%c, "
                 "%d) {axis = 1}") == "[1, 3, 4, 2, 5, 6]");
  CHECK(contents("%c = constant int64[2, 3] [1, 2, 3, 4, 5, 6]\n%r = transpose(%c) {perm = [1, 0]}") ==
        "[1, 4, 2, 5, 3, 6]");
  CHECK(contents("%c = reshape(%s) {shape = [3, 1]}\n%r = broadcast(%c) {shape = [3, 2]}") ==
        "[n, n, 4, 4, m, m]");
  CHECK(contents("%r = iota() {shape = [2, 3], axis = 1, dtype = int64}") == "[0, 1, 2, 0, 1, 2]");
  CHECK(contents("%r = add(%x, %x)") == "unknown");
  CHECK(contents("%r = constant int64[65] splat 1") == "unknown");
  CHECK(contents("%r = constant int64[64] splat 1") != "unknown");
  CHECK(contents("%r = constant float32[1] [1.0]") == "unknown");
}

TEST_CASE("contents of arithmetic") {
  CHECK(map("mul", "n, 2", "4, m") == "[4*n, 2*m]");
  CHECK(map("add", "n", "-1") == "[n - 1]");
  CHECK(map("sub", "n", "n") == "[0]");
  CHECK(map("div", "8*n", "4") == "[2*n]");
  CHECK(map("div", "n", "2") == "[(n // 2)]");
  CHECK(map("div", "0-n", "2") == "[-(n // 2)]");  // toward zero, which floor is not
  CHECK(map("div", "n-2", "2") == "[((max(0, n - 2)) // 2)]");
  CHECK(map("div", "n-3", "2") == "[-((max(0, -n + 3)) // 2) + ((max(0, n - 3)) // 2)]");
  CHECK(map("div", "0-7", "2") == "[-3]");
  CHECK(map("div", "5", "0") == "[0]");
  CHECK(map("div", "n", "m") == "[(n // (max(1, m)))*min(1, m)]");  // m may be 0: then 0
  CHECK(map("mod", "n", "m") == "[(n % (max(1, m)))]");
  CHECK(map("mod", "4*n + 1", "4") == "[1]");
  CHECK(map("max", "n", "1") == "[max(1, n)]");
  CHECK(map("min", "3", "5") == "[3]");
}

TEST_CASE("contents of comparisons are known where they are the same for all sizes") {
  CHECK(map("equal", "n", "0") == "[0]");  // n is at least 1
  CHECK(map("equal", "m", "0") == "unknown");
  CHECK(map("equal", "n", "n") == "[1]");
  CHECK(map("less", "n", "65") == "[1]");
  CHECK(map("greater_equal", "n", "1") == "[1]");
  CHECK(map("not_equal", "2*m", "1") == "[1]");
  CHECK(contents("%c = constant int64[3] [-1, 4, -1]\n%k = constant int64[3] splat -1\n%e = equal(%c, "
                 "%k)\n%r = select(%e, %s, %c)") == "[n, 4, m]");
}

TEST_CASE("contents of reductions and casts") {
  CHECK(contents("%r = reduce(%s) {kind = \"prod\", axes = [0]}") == "[4*m*n]");
  CHECK(contents("%r = reduce(%s) {kind = \"sum\", axes = [0]}") == "[m + n + 4]");
  CHECK(contents("%c = constant int64[2, 2] [1, 2, 3, 4]\n%r = reduce(%c) {kind = \"max\", axes = [0]}") ==
        "[3, 4]");
  CHECK(contents("%r = cast(%s) {to = int32}") == "[n, 4, m]");
  CHECK(contents("%a = slice(%s) {starts = [0], steps = [1], shape = [2]}\n%r = cast(%a) {to = bool}") ==
        "[1, 1]");
  CHECK(contents("%r = cast(%s) {to = bool}") == "unknown");
  CHECK(contents("%c = constant int64[1] [4294967296]\n%r = cast(%c) {to = int32}") == "unknown");
  CHECK(contents("%c = constant float32[1] [3.0]\n%r = cast(%c) {to = int64}") == "unknown");
}

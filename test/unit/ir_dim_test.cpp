// Dims: normal form, text, bounds, divisibility, postfix; and random expressions against direct evaluation.
#include <functional>
#include <random>

#include "base/checked_math.h"
#include "catch.h"
#include "compiler/ir/dim.h"

using namespace ge;

namespace {
Dim dim(std::string_view text) {
  auto d = Dim::parse(text);
  INFO(text);
  REQUIRE_OK(d);
  return *d;
}
const Dim n = Dim::symbol("n"), m = Dim::symbol("m");

// A random expression with its own evaluation, that knows nothing of the normal form.
struct Random {
  Dim dim;
  std::string text;
  std::function<MaybeInt(int64_t n, int64_t m, int64_t k)> value;
};
Random random_expression(std::mt19937& rng, int depth) {
  const auto pick = [&](int count) { return static_cast<int>(rng() % static_cast<unsigned>(count)); };
  if (depth == 0 || pick(5) == 0) {
    switch (pick(4)) {
      case 0:
        return {n, "n", [](auto a, auto, auto) { return MaybeInt(a); }};
      case 1:
        return {m, "m", [](auto, auto b, auto) { return MaybeInt(b); }};
      case 2:
        return {Dim::symbol("k"), "k", [](auto, auto, auto c) { return MaybeInt(c); }};
      default: {
        const int64_t c = pick(17) - 8;
        return {c, "(" + std::to_string(c) + ")", [c](auto, auto, auto) { return MaybeInt(c); }};
      }
    }
  }
  const Random a = random_expression(rng, depth - 1), b = random_expression(rng, depth - 1);
  const auto both = [&](auto op) {
    return [op, x = a.value, y = b.value](int64_t p, int64_t q, int64_t r) -> MaybeInt {
      const MaybeInt u = x(p, q, r), v = y(p, q, r);
      if (!u || !v) return std::nullopt;
      return op(*u, *v);
    };
  };
  const std::string x = a.text, y = b.text;
  switch (pick(7)) {
    case 0:
      return {a.dim + b.dim, "(" + x + " + " + y + ")", both(checked_add)};
    case 1:
      return {a.dim - b.dim, "(" + x + " - " + y + ")", both(checked_sub)};
    case 2:
      return {a.dim * b.dim, "(" + x + " * " + y + ")", both(checked_mul)};
    case 3:
      return {Dim::floor_div(a.dim, b.dim), "(" + x + " // " + y + ")",
              both([](int64_t u, int64_t v) { return floor_div(u, v); })};
    case 4:
      return {Dim::mod(a.dim, b.dim), "(" + x + " % " + y + ")", both(floor_mod)};
    case 5:
      return {Dim::min(a.dim, b.dim), "min(" + x + ", " + y + ")",
              both([](int64_t u, int64_t v) { return MaybeInt(std::min(u, v)); })};
    default:
      return {Dim::max(a.dim, b.dim), "max(" + x + ", " + y + ")",
              both([](int64_t u, int64_t v) { return MaybeInt(std::max(u, v)); })};
  }
}

MaybeInt run_tokens(const std::vector<ExprToken>& tokens, const std::vector<int64_t>& symbols) {
  std::vector<int64_t> stack;
  for (const ExprToken& t : tokens) {
    if (t.op == ExprOp::kConstant || t.op == ExprOp::kSymbol) {
      stack.push_back(t.op == ExprOp::kConstant ? t.value : symbols[static_cast<size_t>(t.value)]);
      continue;
    }
    const int64_t b = stack.back();
    stack.pop_back();
    const int64_t a = stack.back();
    MaybeInt r;
    switch (t.op) {
      case ExprOp::kAdd:
        r = checked_add(a, b);
        break;
      case ExprOp::kSub:
        r = checked_sub(a, b);
        break;
      case ExprOp::kMul:
        r = checked_mul(a, b);
        break;
      case ExprOp::kFloorDiv:
        r = floor_div(a, b);
        break;
      case ExprOp::kMod:
        r = floor_mod(a, b);
        break;
      case ExprOp::kMin:
        r = std::min(a, b);
        break;
      default:
        r = std::max(a, b);
        break;
    }
    if (!r) return std::nullopt;
    stack.back() = *r;
  }
  REQUIRE(stack.size() == 1);
  return stack[0];
}
}  // namespace

TEST_CASE("equal sizes have one normal form") {
  CHECK((n + m) * (n - m) == n * n - m * m);
  CHECK(n + n == 2 * n);
  CHECK(n - n == Dim(0));
  CHECK((n - n).is_static());
  CHECK(n * m == m * n);
  CHECK_FALSE(n == m);
  CHECK_FALSE(n + 1 == n);
}

TEST_CASE("division and remainder simplify where that is exact") {
  CHECK(Dim::floor_div(4 * n, 4) == n);
  CHECK(Dim::floor_div(8 * n + 3, 4) == 2 * n);
  CHECK(Dim::floor_div(n - 1, 2) + 1 == Dim::floor_div(n + 1, 2));
  CHECK(Dim::floor_div(Dim::floor_div(n, 2), 3) == Dim::floor_div(n, 6));
  CHECK(Dim::floor_div(6 * n + 4, 4) == 1 + Dim::floor_div(3 * n, 2));
  CHECK(Dim::floor_div(4 * n * m, n) == 4 * m);
  CHECK(Dim::floor_div(n, 1) == n);
  CHECK(Dim::floor_div(n, -1) == 0 - n);
  CHECK(Dim::mod(n, 1) == Dim(0));
  CHECK(Dim::mod(4 * n + 5, 4) == Dim(1));
  CHECK(Dim::mod(2 * n, 4) == 2 * Dim::mod(n, 2));
  CHECK(Dim::ceil_div(n, 2) == Dim::floor_div(n + 1, 2));
  CHECK(Dim::ceil_div(7, 2) == Dim(4));
  CHECK(Dim::ceil_div(-7, 2) == Dim(-3));
  CHECK(Dim::ceil_div(3, INT64_MAX) == Dim(1));
  CHECK_FALSE(Dim::floor_div(n, 4) * 4 == n);
  CHECK(Dim::floor_div(n, 0).overflowed());
}

TEST_CASE("min and max are sets of operands") {
  CHECK(Dim::min(n, n) == n);
  CHECK(Dim::min(n, n + 1) == n);
  CHECK(Dim::max(n, n + 1) == n + 1);
  CHECK(Dim::min(Dim::min(n, m), 4) == Dim::min(4, Dim::min(m, n)));
  CHECK(Dim::min(3, 5) == Dim(3));
  CHECK(Dim::max(Dim::max(n, 2), 5) == Dim::max(n, 5));
}

TEST_CASE("text of dims") {
  CHECK(dim("batch*2 + 1").to_string() == "2*batch + 1");
  CHECK(dim("(seq + 3) // 4").to_string() == "((seq + 3) // 4)");
  CHECK(dim("1 - n").to_string() == "-n + 1");
  CHECK(dim("min(a, b, 4)").to_string() == "min(min(4, a), b)");
  CHECK(dim(" 6 // 4 ").is_value(1));
  CHECK(dim("6 / 3").is_value(2));
  CHECK(dim("4*n*m / (2*n)") == Dim(2) * m);
  CHECK(dim("-9223372036854775808").is_value(INT64_MIN));
  CHECK(dim("'batch size' * 2").symbols() == std::vector<std::string>{"batch size"});
  CHECK(dim("'batch size' * 2").to_string() == "2*'batch size'");
  CHECK(dim("größe.x").symbols() == std::vector<std::string>{"größe.x"});
}

TEST_CASE("bad dim expressions are refused with the place") {
  const auto fault = [](std::string_view text) {
    auto d = Dim::parse(text);
    REQUIRE_CODE(d, Code::bad_dim);
    return d.error().first().found;
  };
  CHECK(fault("") == "found \"\": the end at character 1 where a number, a name or '(' is expected");
  CHECK(fault("2 *") == "found \"2 *\": the end at character 4 where a number, a name or '(' is expected");
  CHECK(fault("a b") == "found \"a b\": 'b' at character 3 where an operator or the end is expected");
  CHECK(fault("(a") == "found \"(a\": the end at character 3 where ')' is expected");
  CHECK(fault("min(a)") == "found \"min(a)\": ')' at character 6 where ',' is expected");
  CHECK(fault("2x") == "found \"2x\": 'x' at character 2 where an operator or the end is expected");
  CHECK(fault("99999999999999999999") ==
        "found \"99999999999999999999\": the number at character 1 does not fit in 64 bits");
  CHECK(fault("n / 3") == "found \"n / 3\": n / 3 may be no whole number; // rounds down");
  CHECK(fault("6 / 4") == "found \"6 / 4\": 6 / 4 may be no whole number; // rounds down");
  CHECK(fault("n / 0") ==
        "found \"n / 0\": its value overflows, divides by zero, or it is too large an expression");
  CHECK(fault("4 // 0") ==
        "found \"4 // 0\": its value overflows, divides by zero, or it is too large an expression");
  CHECK(fault(std::string(40, '(') + "a" + std::string(40, ')')).find("nested more than 32 deep") !=
        std::string::npos);
  CHECK(fault(std::string(5000, 'a')).find("longer than 4096") != std::string::npos);
}

TEST_CASE("bounds are conservative and exact where terms are independent") {
  const SymbolRanges ranges{{"n", {1, 64, 8}}, {"m", {0, 10, 2}}};
  const SymbolRange sum = (2 * n + m + 1).bounds(ranges);
  CHECK(sum.min == 3);
  CHECK(sum.max == 139);
  CHECK(sum.opt == 19);
  CHECK((n - 1).bounds(ranges).min == 0);
  CHECK(Dim::floor_div(n - 1, 2).bounds(ranges).min == 0);
  CHECK(Dim::mod(n, 4).bounds(ranges).max == 3);
  CHECK(Dim::min(n, 16).bounds(ranges).max == 16);
  CHECK((Dim::symbol("free") * 4).bounds(ranges).max == INT64_MAX);
  CHECK((0 - n).bounds(ranges).min == -64);
}

TEST_CASE("divisibility is provable only where it holds for all values") {
  CHECK((4 * n).divisible_by(4));
  CHECK((4 * n + 8 * m).divisible_by(4));
  CHECK_FALSE((4 * n + 2).divisible_by(4));
  CHECK_FALSE(n.divisible_by(2));
  CHECK(Dim::min(8 * n, 16).divisible_by(8));
  CHECK_FALSE(Dim::floor_div(n, 4).divisible_by(4));
  CHECK(Dim(0).divisible_by(8));
  CHECK(Dim::never_equal(4 * n, 4 * m + 2));
  CHECK_FALSE(Dim::never_equal(n, m));
  CHECK(Dim::never_equal(n, n + 1));
}

TEST_CASE("overflow and growth end in an overflow dim") {
  CHECK((Dim(INT64_MAX) + 1).overflowed());
  CHECK((Dim(INT64_MAX) * n + Dim(INT64_MAX) * n).overflowed());
  Dim nested = n;
  for (int i = 0; i < 1000; ++i) nested = Dim::floor_div(3 * nested + 1, 2);
  CHECK(nested.overflowed());
  Dim shared = n;
  for (int i = 0; i < 100; ++i) shared = Dim::min(shared * 2 + m, shared * 3 + 2);
  CHECK(shared.overflowed());
}

TEST_CASE("substitution and evaluation") {
  CHECK((n * n + m).substitute({{"n", 3}, {"m", m + 1}}) == m + 10);
  CHECK(Dim::floor_div(n, 4).substitute({{"n", 4 * m}}) == m);
  CHECK_FALSE((n + m).evaluate({{"n", 1}}).has_value());
  CHECK_FALSE((n * n).evaluate({{"n", INT64_MAX}}).has_value());
}

TEST_CASE("random expressions: normal form, text and postfix agree with direct evaluation") {
  std::mt19937 rng(20240717);
  int compared = 0;
  for (int round = 0; round < 3000; ++round) {
    const Random e = random_expression(rng, 4);
    if (e.dim.overflowed()) continue;
    INFO(e.text << "  ->  " << e.dim.to_string());
    CHECK(dim(e.dim.to_string()) == e.dim);
    CHECK(dim(e.text) == e.dim);
    const auto tokens = e.dim.tokens({{"k", 2}, {"m", 1}, {"n", 0}});
    const SymbolRanges ranges{{"n", {0, 9, 1}}, {"m", {0, 9, 1}}, {"k", {0, 9, 1}}};
    const SymbolRange bounds = e.dim.bounds(ranges);
    for (int sample = 0; sample < 6; ++sample) {
      const auto a = static_cast<int64_t>(rng() % 10), b = static_cast<int64_t>(rng() % 10),
                 c = static_cast<int64_t>(rng() % 10);
      const MaybeInt direct = e.value(a, b, c);
      if (!direct) continue;
      INFO("n " << a << " m " << b << " k " << c);
      const auto value = e.dim.evaluate({{"n", a}, {"m", b}, {"k", c}});
      REQUIRE(value.has_value());
      CHECK(*value == *direct);
      CHECK(run_tokens(tokens, {a, b, c}) == direct);
      CHECK((bounds.min <= *direct && *direct <= bounds.max));
      if (const int64_t g = e.dim.known_divisor(); g > 0) CHECK(*direct % g == 0);
      ++compared;
    }
  }
  CHECK(compared > 5000);
}

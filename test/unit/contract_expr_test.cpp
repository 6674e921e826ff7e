// Expressions: evaluation in checked int64, sharing, well-formedness, printing.
#include "catch.h"
#include "contract/expr.h"

using namespace ge;

namespace {

ExprToken c(int64_t v) {
  return {ExprOp::kConstant, v};
}
ExprToken s(int64_t i) {
  return {ExprOp::kSymbol, i};
}
ExprToken op(ExprOp o) {
  return {o, 0};
}
int64_t value(std::vector<ExprToken> tokens, std::vector<int64_t> symbols = {}) {
  ExprTable table;
  const auto result = table.evaluate(table.add(tokens), symbols);
  REQUIRE_OK(result);
  return *result;
}
std::string text(std::vector<ExprToken> tokens) {
  ExprTable table;
  const std::vector<std::string> names = {"batch", "seq"};
  return table.to_string(table.add(tokens), names);
}

}  // namespace

TEST_CASE("expressions evaluate") {
  CHECK(value({c(7)}) == 7);
  CHECK(value({s(1), c(3), op(ExprOp::kMul), s(0), op(ExprOp::kSub)}, {4, 5}) == 11);
  CHECK(value({c(-7), c(2), op(ExprOp::kFloorDiv)}) == -4);
  CHECK(value({c(-7), c(2), op(ExprOp::kMod)}) == 1);
  CHECK(value({c(3), c(9), op(ExprOp::kMin)}) == 3);
  CHECK(value({c(3), c(9), op(ExprOp::kMax)}) == 9);
}

TEST_CASE("overflow, division by zero and missing symbols are refused") {
  ExprTable t;
  const auto refused = [&](std::vector<ExprToken> tokens) {
    REQUIRE_CODE(t.evaluate(t.add(tokens), {}), Code::plan_malformed);
  };
  refused({c(INT64_MAX), c(1), op(ExprOp::kAdd)});
  refused({c(INT64_MIN), c(-1), op(ExprOp::kFloorDiv)});
  refused({c(1), c(0), op(ExprOp::kMod)});
  refused({c(1), c(0), op(ExprOp::kFloorDiv)});
  refused({c(INT64_MAX), c(2), op(ExprOp::kMul)});
  refused({s(0)});
  REQUIRE_CODE(t.evaluate(kNoExpr, {}), Code::plan_malformed);
}

TEST_CASE("equal expressions share an id, a thousand different ones do not") {
  ExprTable t;
  std::vector<ExprId> ids;
  for (int64_t i = 0; i < 1000; ++i) ids.push_back(t.add(std::vector{s(0), c(i), op(ExprOp::kAdd)}));
  CHECK(t.size() == 1000);
  for (int64_t i = 0; i < 1000; ++i)
    CHECK(t.add(std::vector{s(0), c(i), op(ExprOp::kAdd)}) == ids[static_cast<size_t>(i)]);
  CHECK(t.constant(5) == t.constant(5));
  CHECK(t.is_constant(t.constant(5)));
  CHECK_FALSE(t.is_constant(ids[0]));
  CHECK(t.uses_symbols(ids[0]));
  CHECK_FALSE(t.uses_symbols(t.constant(5)));
  CHECK(t.symbols(t.constant(5)).empty());
  const ExprId twice =
      t.add(std::vector{s(2), s(0), op(ExprOp::kAdd), s(2), op(ExprOp::kMul), c(1), op(ExprOp::kSub)});
  CHECK(t.symbols(twice) == std::vector<size_t>{0, 2});
}

TEST_CASE("malformed token lists are refused") {
  const auto why = [](std::vector<ExprToken> tokens) {
    const Status status = ExprTable::check(tokens, 1);
    REQUIRE_CODE(status, Code::plan_malformed);
    return status.error().first().found;
  };
  CHECK(ExprTable::check(std::vector{s(0), c(1), op(ExprOp::kAdd)}, 1).ok());
  CHECK(why({}) == "it has no tokens, or more than 1024");
  CHECK(why({op(ExprOp::kAdd)}) == "an operator lacks operands");
  CHECK(why({c(1), c(2)}) == "it leaves more than one value");
  CHECK(why({s(1)}) == "it names a symbol that does not exist");
  CHECK(why({c(1), c(2), ExprToken{ExprOp::kAdd, 3}}) == "an operator carries a value");
  CHECK(why({ExprToken{static_cast<ExprOp>(99), 0}}) == "unknown operator");
  CHECK(why(std::vector<ExprToken>(65, c(1))) == "it needs a stack deeper than 64");
  CHECK(why(std::vector<ExprToken>(1025, c(1))) == "it has no tokens, or more than 1024");
}

TEST_CASE("expressions print as infix text with no needless parentheses") {
  CHECK(text({s(0), c(16), op(ExprOp::kMul), c(1), op(ExprOp::kAdd)}) == "batch*16+1");
  CHECK(text({s(0), c(1), op(ExprOp::kAdd), c(16), op(ExprOp::kMul)}) == "(batch+1)*16");
  CHECK(text({s(0), s(1), c(1), op(ExprOp::kSub), op(ExprOp::kSub)}) == "batch-(seq-1)");
  CHECK(text({s(0), c(-2), op(ExprOp::kMul)}) == "batch*(-2)");
  CHECK(text({s(0), c(2), op(ExprOp::kFloorDiv), s(1), op(ExprOp::kMax)}) == "max(batch//2, seq)");
  CHECK(text({s(7)}) == "s7");
}

#include "fuzz/case_data.h"

#include <algorithm>
#include <limits>
#include <set>

#include "fuzz/random.h"
#include "numeric/convert.h"

namespace ge::test {
namespace {

constexpr int64_t kMostElements = 200'000;
constexpr int64_t kMostOfSymbol = 9;  // without a range

SymbolRanges ranges_of(const Graph& graph) {
  SymbolRanges ranges = graph.all_symbols();
  for (auto& [name, range] : ranges) range.max = std::min(range.max, std::max(range.min, kMostOfSymbol * 5));
  return ranges;
}

bool holds(const Graph& lowered, const Symbols& symbols) {
  return std::all_of(lowered.assertions.begin(), lowered.assertions.end(), [&](const Graph::Assertion& a) {
    const auto lhs = a.lhs.evaluate(symbols), rhs = a.rhs.evaluate(symbols);
    return lhs && rhs && *lhs == *rhs;
  });
}

enum class Kind { kNormal, kLarge, kSmallIntegers, kSpecial, kPositive };

double real(Random& r, Kind kind) {
  static const std::vector<double> kSpecial{0.0,
                                            -0.0,
                                            1,
                                            -1,
                                            0.5,
                                            -2.5,
                                            1e-7,
                                            -3e4,
                                            6e4,
                                            30,
                                            -90,
                                            1e-40,
                                            1e30,
                                            std::numeric_limits<double>::infinity(),
                                            -std::numeric_limits<double>::infinity(),
                                            std::numeric_limits<double>::quiet_NaN()};
  if (kind == Kind::kSmallIntegers) return static_cast<double>(r.in(-4, 4));
  if (kind == Kind::kSpecial && r.chance(20)) return r.pick(kSpecial);
  const double normal = r.normal();
  if (kind == Kind::kPositive) return std::abs(normal) + 0.1;
  return kind == Kind::kLarge ? normal * 20 : normal;
}

int64_t integer(Random& r, DType dtype, Kind kind) {
  if (is_bool(dtype)) return r.in(0, 1);
  const int bits = bits_of(dtype);
  const int64_t low = bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1));
  const std::vector<int64_t> special{0, -1, 1, low, -(low + 1), 7, 8, 31, 32, 63, 64, 1000003};
  if (kind == Kind::kSpecial && r.chance(30)) return r.pick(special);
  if (kind == Kind::kLarge) return static_cast<int64_t>(r.next());
  return kind == Kind::kPositive ? r.in(1, 9) : r.in(-9, 9);
}

void fill(HostTensor& t, uint64_t seed, const IndexRange* range) {
  static const std::vector<Kind> kKinds{Kind::kNormal, Kind::kNormal,  Kind::kNormal,  Kind::kSmallIntegers,
                                        Kind::kLarge,  Kind::kSpecial, Kind::kPositive};
  Random r(seed);
  const Kind kind = r.pick(kKinds);
  for (int64_t i = 0; i < t.count(); ++i) {
    if (range != nullptr)
      store_from_int64(t.dtype, t.bytes.data(), i, r.in(range->low, range->high - 1));
    else if (is_float(t.dtype))
      store_from_double(t.dtype, t.bytes.data(), i, real(r, kind));
    else
      store_from_int64(t.dtype, t.bytes.data(), i, integer(r, t.dtype, kind));
  }
}

}  // namespace

std::optional<std::vector<int64_t>> evaluate_dims(const Dims& dims, const Symbols& symbols) {
  std::vector<int64_t> values;
  for (const Dim& d : dims) {
    const auto value = d.evaluate(symbols);
    if (!value || *value < 0) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::vector<Symbols> case_dims(const Graph& graph, const Graph& lowered) {
  const SymbolRanges ranges = ranges_of(graph);
  std::vector<Symbols> sets;
  const auto offer = [&](Symbols symbols, bool anyway) {
    const bool known = std::find(sets.begin(), sets.end(), symbols) != sets.end();
    if (!known && (anyway || holds(lowered, symbols))) sets.push_back(std::move(symbols));
  };
  Symbols best, least;
  for (const auto& [name, range] : ranges) {
    best[name] = range.opt;
    least[name] = range.min;
  }
  offer(best, false);
  offer(least, false);
  Random r(hash_text(graph.name));
  for (int attempt = 0; attempt < 40 && sets.size() < 3; ++attempt) {
    Symbols symbols;
    const int64_t one =
        r.in(0, kMostOfSymbol);  // every other set gives all symbols one value: assertions like that
    for (const auto& [name, range] : ranges)
      symbols[name] = std::clamp(attempt % 2 == 1 ? one : r.in(range.min, range.max), range.min, range.max);
    offer(std::move(symbols), false);
  }
  if (sets.empty()) offer(best, true);
  return sets;
}

std::optional<std::vector<HostTensor>> case_inputs(const Graph& graph, const Symbols& symbols,
                                                   const std::map<std::string, IndexRange>& indices) {
  std::vector<HostTensor> inputs;
  for (const ValueId v : graph.inputs) {
    const auto dims = evaluate_dims(graph.type(v).dims, symbols);
    if (!dims) return std::nullopt;
    const auto count = element_count(*dims);
    if (!count || *count > kMostElements) return std::nullopt;
    auto tensor = make_host_tensor(graph.type(v).dtype, *dims, true);
    if (!tensor.ok()) return std::nullopt;
    const std::string& name = graph.value(v).name;
    const auto range = indices.find(name);
    fill(*tensor, hash_text(graph.name + "/" + name + "/" + dims_to_string(*dims)),
         range == indices.end() ? nullptr : &range->second);
    inputs.push_back(std::move(tensor).value());
  }
  return inputs;
}

}  // namespace ge::test

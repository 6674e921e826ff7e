// Sizes are tried out, not solved for: dims are few, and what people write is feasible at some small size.
#include "compiler/ir/feasible_sizes.h"

#include <algorithm>
#include <set>

namespace ge {
namespace {

using Symbols = std::map<std::string, int64_t>;

bool is_negative(const Dim& d, const Symbols& symbols) {
  return !d.is_static() && d.evaluate(symbols).value_or(0) < 0;
}

// Every dim and assertion that fails under these values.
template <class F>
void each_fault(const Graph& graph, const Symbols& symbols, F&& f) {
  for (const Graph::Assertion& a : graph.assertions)
    if (a.lhs.evaluate(symbols) != a.rhs.evaluate(symbols)) f(a.lhs - a.rhs);
  for (ValueId v = 0; v < graph.value_capacity(); ++v) {
    if (!graph.value(v).alive) continue;
    for (const Dim& d : graph.type(v).dims)
      if (is_negative(d, symbols)) f(d);
  }
}

// Small sizes, and those at which a faulty difference of one symbol is 0.
std::vector<int64_t> sizes_to_try(const std::vector<Dim>& faults) {
  std::vector<int64_t> sizes;
  for (const Dim& d : faults) {
    const auto names = d.symbols();
    if (names.size() != 1) continue;
    const auto at0 = d.evaluate({{names[0], 0}}), at1 = d.evaluate({{names[0], 1}});
    if (!at0 || !at1 || *at0 == INT64_MIN || *at1 == *at0) continue;
    const Dim root = Dim::floor_div(Dim(0) - Dim(*at0), Dim(*at1) - Dim(*at0));
    if (root.value().value_or(-1) >= 0) sizes.push_back(*root.value());
  }
  constexpr int64_t kSmall[] = {2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64, 128, 224, 256, 512, 1024, 4096};
  sizes.insert(sizes.end(), std::begin(kSmall), std::end(kSmall));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace

bool can_bind(const Graph& graph, const Symbols& symbols) {
  bool possible = true;
  each_fault(graph, symbols, [&](const Dim&) { possible = false; });
  return possible;
}

std::vector<std::string> settle_optimal_sizes(Graph& graph) {
  Symbols opts;
  for (const auto& [name, range] : graph.all_symbols()) opts[name] = range.opt;
  std::vector<Dim> faults;
  std::set<std::string> moving;
  each_fault(graph, opts, [&](const Dim& d) {
    faults.push_back(d);
    for (std::string& name : d.symbols()) moving.insert(std::move(name));
  });
  for (const int64_t size : faults.empty() ? std::vector<int64_t>() : sizes_to_try(faults)) {
    Symbols trial = opts;
    for (const std::string& name : moving) {
      const SymbolRange range = range_of(graph.symbols, name);
      trial[name] = std::clamp(std::max(size, opts[name]), range.min, range.max);
    }
    if (!can_bind(graph, trial)) continue;
    std::vector<std::string> notes;
    for (const auto& [name, value] : trial) {
      if (value == opts[name]) continue;
      graph.symbols[name].opt = value;
      notes.push_back("dim '" + name + "': no shape is possible at " + std::to_string(opts[name]) + ", " +
                      std::to_string(value) + " is taken where none is given");
    }
    return notes;
  }
  return {};
}

}  // namespace ge

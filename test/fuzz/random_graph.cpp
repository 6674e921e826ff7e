#include "fuzz/random_graph.h"

#include <set>

#include "fuzz/node_makers.h"
#include "fuzz/patterns.h"

namespace ge::test {
namespace {

// One node of one of the operators of this opset.
bool add_node(GraphMaker& m, const std::vector<const Operator*>& operators) {
  const Operator& op = *m.random().pick(operators);
  return m.attempt([&] {
    auto spec = make_node(m, op);
    return spec && m.add(op, *std::move(spec)) != kNone;
  });
}

std::vector<const Operator*> operators_of(int opset) {
  std::vector<const Operator*> list;
  for (const char* domain : {"", "com.microsoft"})
    for (const std::string& name : operator_names(domain))
      if (const Operator* op = find_operator(domain, name, opset)) list.push_back(op);
  return list;
}

}  // namespace

Graph random_graph(uint64_t seed) {
  GraphMaker m(seed);
  const std::vector<const Operator*> operators = operators_of(m.opset());
  Random& r = m.random();
  const auto wanted = static_cast<size_t>(m.is_large()   ? r.in(1, 5)
                                          : r.chance(10) ? r.in(15, 30)
                                                         : r.in(1, 12));
  // A few operators get most of the nodes: their combinations are what passes look for.
  std::vector<const Operator*> favourites;
  for (int i = 0; i < 5; ++i) favourites.push_back(r.pick(operators));
  const int patterns = r.chance(40) ? 25 : 4;
  for (size_t attempt = 0; attempt < 6 * wanted && m.node_count() < wanted; ++attempt) {
    if (r.chance(patterns))
      add_pattern(m);
    else
      add_node(m, r.chance(30) ? favourites : operators);
  }
  if (m.node_count() == 0) m.add("Identity", {m.any(dtype_class("any"))});
  return m.finish();
}

std::optional<Graph> random_graph_of(const std::string& named, uint64_t seed, int attempts,
                                     std::string* refusal) {
  const size_t colon = named.rfind(':');
  const std::string op = colon == std::string::npos ? named : named.substr(colon + 1);
  const std::string domain = colon == std::string::npos ? "" : named.substr(0, colon);
  for (int i = 0; i < attempts; ++i) {
    GraphMaker m(seed + static_cast<uint64_t>(i));
    const Operator* row = find_operator(domain, op, m.opset());
    if (row == nullptr) row = find_operator(domain, op, kNewestOpset);
    if (row == nullptr) row = find_operator("com.microsoft", op, kNewestOpset);
    bool made = row != nullptr && add_node(m, {row});
    // Something around it: what it meets in a model.
    for (int64_t more = made ? m.random().in(0, 3) : 0; more > 0; --more)
      m.random().chance(50) ? add_node(m, {row}) : add_node(m, operators_of(m.opset()));
    if (made) return m.finish();
    if (refusal != nullptr && !m.refusal().empty()) *refusal = m.refusal();
  }
  return std::nullopt;
}

}  // namespace ge::test

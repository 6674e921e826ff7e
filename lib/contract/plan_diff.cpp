// What differs between two plans, told by source node: which kernels compute it, and what that costs.
#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "contract/plan_print.h"
#include "contract/plan_text.h"
#include "contract/source_nodes.h"

namespace ge {
namespace {

// Steps that compute one set of nodes, as text.
using NodeMap = std::map<std::string, std::vector<std::string>>;

NodeMap node_map(const Plan& plan, const Program& p) {
  NodeMap map;
  ProgramText text(plan, p);
  const auto add = [&](const Block& block) {
    for (const Step& s : block.steps) {
      const std::string nodes = join_nodes(source_nodes(s));
      map[nodes.empty() ? "(no node)" : nodes].push_back(text.step(s));
    }
  };
  add(p.prepare);
  add(p.run);
  for (const Block& b : p.blocks) add(b);
  return map;
}

int64_t arena_bytes(const Plan& plan, const Program& p) {
  ProgramText text(plan, p);
  int64_t sum = 0;
  for (const Slot& s : p.slots)
    sum += std::min<int64_t>(text.value(s.size_bytes).value_or(0), INT64_MAX / 2 - sum);
  return sum;
}

const Program* find_program(const Plan& plan, const std::string& target) {
  for (const Program& p : plan.programs) {
    if (p.target == target) return &p;
  }
  return nullptr;
}

void side(std::string& out, char sign, const std::string& nodes, const std::vector<std::string>& steps) {
  for (const std::string& step : steps)
    out += visible_line(fmt::format(" {} {}  {}", sign, nodes, step)) + "\n";
}

std::string diff_programs(const Plan& a, const Program& pa, const Plan& b, const Program& pb) {
  const NodeMap left = node_map(a, pa), right = node_map(b, pb);
  std::string out;
  for (const auto& [nodes, steps] : left) {
    const auto other = right.find(nodes);
    if (other != right.end() && other->second == steps) continue;
    side(out, '-', nodes, steps);
    if (other != right.end()) side(out, '+', nodes, other->second);
  }
  for (const auto& [nodes, steps] : right) {
    if (!left.contains(nodes)) side(out, '+', nodes, steps);
  }
  const int64_t arena_a = arena_bytes(a, pa), arena_b = arena_bytes(b, pb);
  if (arena_a != arena_b) {
    out += fmt::format("   arena {} -> {}\n", bytes_text(static_cast<double>(arena_a)),
                       bytes_text(static_cast<double>(arena_b)));
  }
  return out;
}

}  // namespace

PlanDiff diff_plans(const PlanFile& a, const std::string& name_a, const PlanFile& b,
                    const std::string& name_b) {
  PlanDiff diff;
  if (a.header.hash == b.header.hash) return diff;
  diff.same = false;
  diff.text = "--- " + visible_line(name_a) + "\n+++ " + visible_line(name_b) + "\n";
  const auto weights = [](const PlanFile& f) { return f.header.section(SectionKind::kWeights).size_bytes; };
  if (weights(a) != weights(b)) diff.text += fmt::format("weights {} -> {}\n", weights(a), weights(b));
  if (a.plan.made_by != b.plan.made_by)
    diff.text += visible_line("made by " + a.plan.made_by + " -> " + b.plan.made_by) + "\n";
  bool shown = false;
  for (const Program& pa : a.plan.programs) {
    const Program* pb = find_program(b.plan, pa.target);
    const std::string steps = pb ? diff_programs(a.plan, pa, b.plan, *pb) : std::string();
    if (!pb) diff.text += "- program " + pa.target + "\n";
    if (!steps.empty()) diff.text += "program " + pa.target + "\n" + steps;
    shown |= !pb || !steps.empty();
  }
  for (const Program& pb : b.plan.programs) {
    if (find_program(a.plan, pb.target)) continue;
    diff.text += "+ program " + pb.target + "\n";
    shown = true;
  }
  if (!shown) diff.text += "the same steps for every node; dims, code, weights or launch figures differ\n";
  return diff;
}

}  // namespace ge

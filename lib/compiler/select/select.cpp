// Chooses a kernel for every node: rows are asked what they refuse, the cheapest of the rest is taken
// (rank.h), all reasons are kept. Entry: select (selection.h). Pure: never looks at the machine.
#include <algorithm>
#include <map>
#include <optional>

#include "compiler/ir/feasible_sizes.h"
#include "compiler/select/candidates.h"
#include "compiler/select/cost.h"
#include "compiler/select/launch_geometry.h"
#include "compiler/select/rank.h"
#include "compiler/select/selection.h"
#include "compiler/select/stream_plan.h"
#include "compiler/select/wgmma_plan.h"
#include "contract/args_pack.h"
#include "kernels/registry.h"

namespace ge {
namespace {

using Symbols = std::map<std::string, int64_t>;

// Sizes at which a row's own check is asked: a kernel is chosen for a symbolic shape only if it takes all of
// them.
std::vector<Symbols> sample_symbols(const Graph& graph) {
  std::vector<Symbols> samples(5);
  SymbolRanges ranges = graph.symbols;
  for (const ValueId v : graph.inputs)
    for (const Dim& d : graph.type(v).dims)
      if (!d.is_static())
        for (const std::string& name : d.symbols()) ranges.try_emplace(name, SymbolRange{.opt = 8});
  for (const auto& [name, range] : ranges) {
    const auto clamp = [&range = range](int64_t v) { return std::clamp(v, range.min, range.max); };
    samples[0][name] = range.opt;
    samples[1][name] = clamp(range.min);
    samples[2][name] = clamp(std::max<int64_t>(range.min, 1));
    samples[3][name] = clamp(range.opt + 1);
    samples[4][name] = clamp(17);
  }
  if (ranges.empty()) samples.resize(1);
  std::erase_if(samples, [&](const Symbols& symbols) { return !can_bind(graph, symbols); });
  return samples;
}

constexpr uintptr_t kPretendBase =
    1 << 20;  // a 256-byte aligned address; checks look at alignment, never at memory

class Chooser {
 public:
  Chooser(const Graph& graph, const Target& target, const SelectOptions& options)
      : graph_(graph), target_(target), options_(options), samples_(sample_symbols(graph)) {}

  // Adds the work's launches and candidates to the selection: one launch, or the split where that is cheaper.
  Status choose(Work& work, NodeSelection& selection) const {
    Verdict whole = judge(work);
    double split_cost = 0;
    std::vector<Verdict> parts;
    for (const Work& part : work.split) {
      parts.push_back(judge(part));
      split_cost += parts.back().cost;
    }
    const bool splittable = !parts.empty() && std::all_of(parts.begin(), parts.end(),
                                                          [](const Verdict& v) { return v.possible; });
    if (splittable && (!whole.possible || split_cost < whole.cost)) {
      std::string name;
      for (const Verdict& v : parts) name += (name.empty() ? "" : " + ") + v.kernel;
      for (Candidate& c : whole.candidates) c.chosen = false;
      whole.candidates.insert(whole.candidates.begin(), {name, split_cost, "", true});
      for (size_t i = 0; i < parts.size(); ++i) take(work.split[i], parts[i], selection);
    } else if (whole.possible) {
      take(work, whole, selection);
    } else {
      return no_kernel(work, whole.candidates);
    }
    selection.candidates.insert(selection.candidates.end(), whole.candidates.begin(), whole.candidates.end());
    return {};
  }

 private:
  // What could do a work, and what does it best.
  struct Verdict {
    bool possible = false;
    const KernelRow* row = nullptr;  // null: a loop
    std::string kernel;
    double cost = 0;
    std::vector<Candidate> candidates;  // chosen first, then by cost, then refused
  };

  Verdict judge(const Work& work) const {
    Verdict v;
    if (work.family.empty()) {
      v = {true, nullptr, "loop", launch_cost_us(graph_, work.spec, target_), {}};
      v.candidates.push_back({"loop", v.cost, "", true});
      return v;
    }
    if (!work.loop_refusal.empty()) v.candidates.push_back({"loop", 0, work.loop_refusal, false});
    const std::vector<Symbols> samples = possible_samples(work);
    for (const KernelRow& row : kernel_rows()) {
      if (row.device != target_.device() || !in_family(row, work.family)) continue;
      Candidate c{std::string(row.name), 0, refusal(row, work.spec, samples), false, row.preferred_over};
      if (c.refused.empty()) {
        LaunchSpec trial = work.spec;
        trial.row = &row;
        c.cost_us = launch_cost_us(graph_, trial, target_);
      }
      v.candidates.push_back(std::move(c));
    }
    v.possible = rank(v.candidates);
    if (v.possible) {
      v.kernel = v.candidates[0].kernel;
      v.cost = v.candidates[0].cost_us;
      v.row = find_kernel_row(v.kernel);
    }
    return v;
  }

  void take(Work& work, const Verdict& verdict, NodeSelection& selection) const {
    work.spec.row = verdict.row;
    if (verdict.row != nullptr) {
      keep_known_attrs(*verdict.row, work.spec.attrs);
      set_geometry(graph_, target_, options_.exact, work.spec);
    }
    if (work.family == "dot" && verdict.row != nullptr) add_few_rows(work);
    selection.launches.push_back(std::move(work.spec));
  }

  // What a product of symbolic rows is best done by where they are few: weights are then read at memory's
  // speed by kernels that would be slow for many.
  void add_few_rows(Work& work) const {
    LaunchSpec& spec = work.spec;
    const Dim rows = spec.operands[3].view.dims[0];
    if (rows.is_static() || spec.operands[3].view.dims.size() != 2) return;
    const SymbolRange range = rows.bounds(graph_.symbols);
    const KernelRow* beyond = spec.row;  // what more rows get
    for (const int64_t limit : {256, 128, 64, 4, 1}) {
      if (limit < range.min || limit >= range.max) continue;
      Work few{work.family, at_rows(spec, rows, limit), {}, {}};
      const Verdict verdict = judge(few);
      if (!verdict.possible || verdict.row == beyond) continue;
      few.spec.row = beyond = verdict.row;
      keep_known_attrs(*verdict.row, few.spec.attrs);
      set_geometry(graph_, target_, options_.exact, few.spec);
      few.spec.most_rows = limit;
      spec.few_rows.insert(spec.few_rows.begin(), std::move(few.spec));
    }
  }
  // The work before a row was chosen, with `count` rows.
  LaunchSpec at_rows(const LaunchSpec& spec, const Dim& rows, int64_t count) const {
    LaunchSpec few = spec;
    few.few_rows.clear();
    std::erase_if(few.attrs, [](const auto& a) { return !a.first.starts_with("activation"); });
    for (LaunchOperand& o : few.operands)
      if (o.value != kNone && o.view.dims[0] == rows && &o != &few.operands[1]) o.view.dims[0] = count;
    few.flops = 2 * static_cast<double>(count) *
                static_cast<double>(opt_value(graph_, spec.operands[3].view.dims[1])) *
                static_cast<double>(opt_value(graph_, spec.operands[0].view.dims[1]));
    few.flops_dim = Dim(static_cast<int64_t>(few.flops));
    return few;
  }

  // "dot" owns dot_reference and dot_blocked_f32; "log_softmax" is not "softmax".
  static bool in_family(const KernelRow& row, std::string_view family) {
    return row.name.starts_with(family) && row.name.size() > family.size() && row.name[family.size()] == '_';
  }

  static void keep_known_attrs(const KernelRow& row, Attrs& attrs) {
    std::erase_if(attrs, [&](const auto& attr) {
      return std::none_of(row.attrs.begin(), row.attrs.end(),
                          [&](const AttrRow& a) { return a.name == attr.first; });
    });
  }

  // Attributes of the work that the row does not have, beyond those that say "nothing".
  static std::string unknown_attr(const KernelRow& row, const Attrs& attrs) {
    for (const auto& [name, value] : attrs) {
      const bool known = std::any_of(row.attrs.begin(), row.attrs.end(),
                                     [&name = name](const AttrRow& a) { return a.name == name; });
      const auto* number = std::get_if<int64_t>(&value);
      if (!known && !(number != nullptr && *number == 0)) return name;
    }
    return "";
  }

  // Sizes under which the node means something: elsewhere the reference refuses it, and so does every bind
  // (the first k of fewer than k elements). The optimal sizes always count.
  std::vector<Symbols> possible_samples(const Work& work) const {
    const std::string reference = std::string(work.family) + "_reference";
    const auto rows = kernel_rows();
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const KernelRow& r) { return r.name == reference; });
    if (row == rows.end() || samples_.empty()) return samples_;
    std::vector<Symbols> possible{samples_[0]};
    for (size_t i = 1; i < samples_.size(); ++i)
      if (shape_refusal(*row, work.spec, {samples_[i]}).empty()) possible.push_back(samples_[i]);
    return possible;
  }

  std::string refusal(const KernelRow& row, const LaunchSpec& spec,
                      const std::vector<Symbols>& samples) const {
    if (options_.reference && !row.name.ends_with("_reference") && target_.device() == KernelDevice::kCpu)
      return "-O0 takes reference kernels only";
    if (row.limits.min_arch > target_.arch) return "needs sm_" + std::to_string(row.limits.min_arch);
    if (row.only_arch != 0 && row.only_arch != target_.arch)
      return "runs on sm_" + std::to_string(row.only_arch) + " alone";
    if (row.operands.size() < spec.operands.size())
      return "takes " + std::to_string(row.operands.size()) + " operands";
    if (const std::string attr = unknown_attr(row, spec.attrs); !attr.empty())
      return "has no attribute " + attr;
    for (size_t i = 0; i < spec.operands.size(); ++i)
      if (const std::string reason = operand_refusal(row.operands[i], spec.operands[i]); !reason.empty())
        return reason;
    if (row.grid == KernelGrid::kWarpgroupTiles)
      if (std::string reason = wgmma_refusal(graph_, spec); !reason.empty()) return reason;
    if (const auto streamed = stream_row(row.name))
      if (std::string reason = stream_refusal(graph_, *streamed, spec); !reason.empty()) return reason;
    return shape_refusal(row, spec, samples);
  }

  std::string operand_refusal(const OperandRow& row, const LaunchOperand& operand) const {
    if (operand.scratch) return "";
    if (operand.value == kNone) return row.optional ? "" : "needs operand " + std::string(row.name);
    const DType dtype = graph_.type(operand.value).dtype;
    if (!row.dtypes.contains(dtype)) return std::string(row.name) + " is " + std::string(name_of(dtype));
    const auto rank = static_cast<int>(operand.view.dims.size());
    if (rank < row.min_rank || rank > row.max_rank)
      return std::string(row.name) + " has rank " + std::to_string(rank);
    return "";
  }

  // What the row itself says to these views, at several sizes.
  std::string shape_refusal(const KernelRow& row, const LaunchSpec& spec,
                            const std::vector<Symbols>& samples) const {
    const KernelDesc description = desc(row);
    Attrs attrs = spec.attrs;
    keep_known_attrs(row, attrs);
    if (const Status status = check_attrs(description, attrs); !status.ok()) return reason(status.error());
    for (const auto& symbols : samples) {
      std::vector<TensorView> views;
      for (size_t i = 0; i < row.operands.size(); ++i) {
        auto view = concrete(i < spec.operands.size() ? spec.operands[i] : LaunchOperand{}, symbols);
        if (!view) return "";  // sizes overflow here: nothing to ask about
        views.push_back(*view);
      }
      if (const Status status = check_operands(description, views); !status.ok())
        return reason(status.error());
      if (row.check == nullptr) continue;
      const LaunchShape shape{views, attrs, {1, 1, 1}, {1, 1, 1}};
      if (const Status status = row.check(shape); !status.ok()) return reason(status.error());
    }
    return "";
  }
  static std::string reason(const Error& error) {
    const Diagnostic& d = error.first();
    return !d.found.empty() ? d.found : !d.message.empty() ? d.message : std::string(title_of(d.code));
  }

  std::optional<TensorView> concrete(const LaunchOperand& operand, const Symbols& symbols) const {
    TensorView view;
    if (operand.value == kNone && !operand.scratch) {
      view.rank = -1;
      return view;
    }
    view.dtype = operand.scratch ? operand.dtype : graph_.type(operand.value).dtype;
    view.rank = static_cast<int32_t>(operand.view.dims.size());
    for (size_t i = 0; i < operand.view.dims.size(); ++i) {
      const auto dim = operand.view.dims[i].evaluate(symbols),
                 stride = operand.view.strides[i].evaluate(symbols);
      if (!dim || !stride) return std::nullopt;
      view.dims[i] = *dim;
      view.strides[i] = *stride;
    }
    const auto offset = operand.view.offset.evaluate(symbols);
    if (!offset) return std::nullopt;
    view.data = reinterpret_cast<void*>(
        kPretendBase + static_cast<uintptr_t>(bytes_of(view.dtype, std::max<int64_t>(*offset, 0))));
    return view;
  }

  Status no_kernel(const Work& work, const std::vector<Candidate>& candidates) const {
    std::string found = "target " + std::string(target_.name);
    for (const Candidate& c : candidates) found += "\n" + c.kernel + ": " + c.refused;
    if (candidates.empty()) found += ": no " + std::string(work.family) + " kernels";
    Diagnostic d = fail(Code::no_kernel)
                       .say("no " + std::string(work.family) + " kernel can run this node")
                       .because(std::move(found));
    if (!work.spec.sources.empty()) {
      d.place = work.spec.sources[0].place;
      d.path = work.spec.sources[0].path;
    }
    return d;
  }

  const Graph& graph_;
  const Target& target_;
  const SelectOptions& options_;
  const std::vector<Symbols> samples_;
};

}  // namespace

Result<Selection> select(const Graph& graph, const ValueViews& views, const Target& target,
                         const SelectOptions& options) {
  Selection selection;
  ErrorList errors;
  const bool prefer_loops = !(options.reference && target.device() == KernelDevice::kCpu);
  const Chooser chooser(graph, target, options);
  for (const NodeId id : graph.order()) {
    if (views.is_view(id)) continue;
    auto works = describe_node(graph, views, id, prefer_loops, options.exact);
    if (!works.ok()) {
      errors.add(std::move(works).take_error());
      continue;
    }
    NodeSelection chosen{id, {}, {}};
    for (Work& work : *works) {
      Status status = chooser.choose(work, chosen);
      if (!status.ok()) errors.add(std::move(status).take_error());
    }
    if (!chosen.launches.empty()) selection.nodes.push_back(std::move(chosen));
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    if (views.root_of_output(i) != kNone) continue;
    NodeSelection chosen{kNone, {}, {}};
    GE_ASSIGN(Work work, describe_output_copy(graph, views, i, prefer_loops));
    Status status = chooser.choose(work, chosen);
    if (!status.ok())
      errors.add(std::move(status).take_error());
    else
      selection.nodes.push_back(std::move(chosen));
  }
  GE_TRY(errors.take());
  return selection;
}

}  // namespace ge

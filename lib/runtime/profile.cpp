#include "runtime/profile.h"

#include <algorithm>

#include "contract/source_nodes.h"

namespace ge {
namespace {

double median_us(const std::vector<StepTimes>& runs, uint32_t entry) {
  std::vector<double> times;
  times.reserve(runs.size());
  for (const StepTimes& run : runs) times.push_back(run.time_us[entry]);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

LaunchProfile describe(const Model& model, const Step& step, const BoundStep& bound,
                       PreparedBinding& binding) {
  LaunchProfile row;
  row.source_nodes = join_nodes(source_nodes(step));
  const auto view_bytes = [&](uint32_t i) {
    const TensorView view = binding.view(bound, i);
    return static_cast<double>(bytes_of(view.dtype, element_count(view)));
  };
  switch (step.kind) {
    case StepKind::kLaunch:
      row.kernel = model.plan().kernels[bound.launch.kernel].name;
      if (bound.launch.view_count > 0)
        row.dtype = binding.binding().views[bound.launch.first_view].view.dtype;
      row.flops = static_cast<double>(bound.launch.flops);
      row.bytes =
          static_cast<double>(bound.launch.bytes_read) + static_cast<double>(bound.launch.bytes_written);
      break;
    case StepKind::kCopy:
      row.kernel = "copy";
      row.bytes = 2 * view_bytes(0);
      break;
    default:
      row.kernel = "fill";
      row.bytes = view_bytes(0);
  }
  return row;
}

}  // namespace

std::vector<LaunchProfile> summarize_profile(const Model& model, PreparedBinding& binding,
                                             const std::vector<StepTimes>& runs) {
  std::vector<LaunchProfile> rows;
  if (runs.empty()) return rows;
  uint32_t first = 0;
  for (uint32_t b = 0; b <= model.program().blocks.size(); ++b) {
    const PreparedBlock& block = binding.block(b);
    for (const Group& group : block.groups) {
      for (size_t i = 0; i < group.straight.entries.size(); ++i) {
        const uint32_t entry = group.straight.entries[i];
        const uint32_t count = runs.back().count[entry];
        if (count == 0) continue;  // a branch not taken
        const uint32_t step = entry - first;
        LaunchProfile row = describe(model, block.block->steps[step], (*block.bound)[step], binding);
        if (const char* library = group.straight.steps[i]->library(); library != nullptr)
          row.kernel += " (" + std::string(library) + ")";
        row.time_us = median_us(runs, entry);
        row.flops *= count;
        row.bytes *= count;
        rows.push_back(std::move(row));
      }
    }
    first += static_cast<uint32_t>(block.block->steps.size());
  }
  return rows;
}

size_t profile_entry_count(const Program& program) {
  size_t count = program.run.steps.size();
  for (const Block& block : program.blocks) count += block.steps.size();
  return count;
}

}  // namespace ge

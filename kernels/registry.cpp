// All rows in one table, made from the families' kernels.def files in their order. Entry: kernel_rows,
// find_kernel_row, cpu_entry. kernels_all.def is written by CMake: one #include a family, sorted by name.
#include "kernels/registry.h"

#include <algorithm>
#include <vector>

namespace ge {
namespace kernels {

#define GE_CPU_KERNEL(name, source)  \
  extern const KernelRow name##_row; \
  void name(const void* args, const LaunchContext& context);
#define GE_CUDA_KERNEL(name, source) extern const KernelRow name##_row;
#define GE_LIBRARY_KERNEL(name, source) extern const KernelRow name##_row;
#include "kernels_all.def"
#undef GE_CPU_KERNEL
#undef GE_CUDA_KERNEL
#undef GE_LIBRARY_KERNEL

}  // namespace kernels

namespace {

struct Entry {
  std::string_view name;
  CpuEntry function;
};

std::vector<const KernelRow*> sorted_by_name(std::span<const KernelRow> rows) {
  std::vector<const KernelRow*> sorted;
  for (const KernelRow& row : rows) sorted.push_back(&row);
  std::sort(sorted.begin(), sorted.end(),
            [](const KernelRow* a, const KernelRow* b) { return a->name < b->name; });
  return sorted;
}

constexpr Entry kEntries[] = {
#define GE_CPU_KERNEL(name, source) {#name, kernels::name},
#define GE_CUDA_KERNEL(name, source)
#define GE_LIBRARY_KERNEL(name, source)
#include "kernels_all.def"
#undef GE_CPU_KERNEL
#undef GE_CUDA_KERNEL
#undef GE_LIBRARY_KERNEL
};

}  // namespace

std::span<const KernelRow> kernel_rows() {
  static const std::vector<KernelRow> rows{
#define GE_CPU_KERNEL(name, source) kernels::name##_row,
#define GE_CUDA_KERNEL(name, source) kernels::name##_row,
#define GE_LIBRARY_KERNEL(name, source) kernels::name##_row,
#include "kernels_all.def"
#undef GE_CPU_KERNEL
#undef GE_CUDA_KERNEL
#undef GE_LIBRARY_KERNEL
  };
  return rows;
}

const KernelRow* find_kernel_row(std::string_view name) {
  static const std::vector<const KernelRow*> rows = sorted_by_name(kernel_rows());
  const auto at =
      std::lower_bound(rows.begin(), rows.end(), name,
                       [](const KernelRow* row, std::string_view wanted) { return row->name < wanted; });
  return at != rows.end() && (*at)->name == name ? *at : nullptr;
}

const KernelRow* find_kernel_row(std::string_view name, uint32_t revision) {
  const KernelRow* row = find_kernel_row(name);
  return row != nullptr && row->revision == revision ? row : nullptr;
}

CpuEntry cpu_entry(std::string_view name) {
  const auto at =
      std::find_if(std::begin(kEntries), std::end(kEntries), [&](const Entry& e) { return e.name == name; });
  return at != std::end(kEntries) ? at->function : nullptr;
}

}  // namespace ge

#include "runtime/launch_table.h"

namespace ge {

const LaunchTableEntry* LaunchTable::find(std::string_view name, uint32_t revision) {
  const KernelRow* row = find_kernel_row(name, revision);
  if (!row) return nullptr;
  const std::lock_guard lock(mutex_);
  auto& entry = entries_[{std::string(name), revision}];
  if (!entry) {
    entry = std::make_unique<LaunchTableEntry>();
    entry->row = row;
    entry->desc = desc(*row);
    if (row->device == KernelDevice::kCpu) entry->cpu = cpu_entry(row->name);
  }
  return entry.get();
}

KernelResolver LaunchTable::resolver() {
  return [this](std::string_view name, uint32_t revision) {
    const LaunchTableEntry* entry = find(name, revision);
    return entry ? KernelEntry{&entry->desc, entry->row->check} : KernelEntry{};
  };
}

}  // namespace ge

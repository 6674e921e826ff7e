// Kernel name @ revision -> how it is launched. Entry: LaunchTable::find. Made from kernel_rows(),
// explicitly: a row is described the first time it is asked for, so a plan pays for the kernels it names and
// for no others.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "contract/plan_verify.h"
#include "kernels/registry.h"

namespace ge {

struct LaunchTableEntry {
  const KernelRow* row = nullptr;
  KernelDesc desc;
  CpuEntry cpu = nullptr;  // CPU rows: the function. CUDA rows: found by row->image and row->symbol; library
                           // rows: by name
};

class LaunchTable {
 public:
  // nullptr: this build has no such kernel. Addresses are stable. Safe from many threads.
  const LaunchTableEntry* find(std::string_view name, uint32_t revision);
  // For verify_plan.
  KernelResolver resolver();

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, uint32_t>, std::unique_ptr<LaunchTableEntry>, std::less<>> entries_;
};

}  // namespace ge

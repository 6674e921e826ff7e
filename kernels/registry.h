// All built-in kernel rows, and the CPU functions behind the CPU ones. Entry: kernel_rows, find_kernel_row,
// cpu_entry. The compiler's kernel registry and the runtime's launch table are both made from these rows.
// Explicit: no static initialisers; kernels/<family>/kernels.def lists each family's rows.
#pragma once
#include <span>
#include <string_view>

#include "contract/kernel_desc.h"

namespace ge {

std::span<const KernelRow> kernel_rows();  // families by name, rows as kernels.def lists them
const KernelRow* find_kernel_row(std::string_view name, uint32_t revision);  // null: not built in
const KernelRow* find_kernel_row(std::string_view name);                     // in the revision it has
CpuEntry cpu_entry(std::string_view name);                                   // null: not a CPU row
struct EmbeddedImage {
  std::string_view name;
  int32_t arch;
  std::span<const unsigned char> bytes;
};                                                 // arch 80, 90
std::span<const EmbeddedImage> embedded_images();  // empty in a build without CUDA

}  // namespace ge

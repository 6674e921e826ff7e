// What generated code takes for granted of its operands' views. Entry: requirement_desc_fault (at load),
// requirement_fault (under each binding): what is wrong, or nothing.
#pragma once
#include <span>
#include <string>

#include "contract/kernel_desc.h"
#include "contract/tensor_view.h"

namespace ge {

// Names an operand or axis that is not, or a value that cannot hold.
std::string requirement_desc_fault(const KernelDesc& desc);
// A view that is other than the code was made for. There are as many operands as the description has.
std::string requirement_fault(const KernelDesc& desc, std::span<const TensorView> operands);

}  // namespace ge

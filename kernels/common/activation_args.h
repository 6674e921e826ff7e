// An activation as it stands in argument structs, on host and device. Entry: Activation.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ge::kernels {

struct Activation {
  int64_t op = 0;              // ScalarOp code, 0: none
  double alpha = 0, beta = 0;  // its second and third operand
};
static_assert(sizeof(Activation) == 24 && offsetof(Activation, alpha) == 8 &&
              offsetof(Activation, beta) == 16);

}  // namespace ge::kernels

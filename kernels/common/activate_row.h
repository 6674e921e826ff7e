// Applies an activation to a run of float results, in place, in float. Entry: activate_row.
#pragma once
#include <cstdint>

#include "kernels/common/activation.h"

namespace ge::kernels {

void activate_row(const Activation& activation, float* values, int64_t count);

}  // namespace ge::kernels

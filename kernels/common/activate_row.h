// Applies an activation to a run of float results, in place, in float, on the widest vectors the machine has.
// Entry: activate_row. Within 3 units in the last place (vector_math.h); the same bits on every machine.
#pragma once
#include <cstdint>

#include "kernels/common/activation_args.h"

namespace ge::kernels {

void activate_row(const Activation& activation, float* values, int64_t count);

using ActivateFunction = void (*)(const Activation& activation, float* values, int64_t count);
extern const ActivateFunction kActivateRowV2, kActivateRowV3, kActivateRowV4;

}  // namespace ge::kernels

// Grid and block of built-in CUDA rows. Entry: set_geometry. Rows loop over their work, so any grid is right;
// this one is fast.
#pragma once
#include "compiler/select/selection.h"

namespace ge {

// exact: no arithmetic narrower than float32's.
void set_geometry(const Graph& graph, const Target& target, bool exact, LaunchSpec& launch);

}  // namespace ge

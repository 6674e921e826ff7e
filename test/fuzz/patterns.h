// What exporters scatter over several nodes, with near misses: what recognise_* passes must take or leave.
// Entry: add_pattern.
#pragma once
#include "fuzz/graph_maker.h"

namespace ge::test {

// Appends one pattern; false where it was refused (nothing is kept of it then).
bool add_pattern(GraphMaker& m);

}  // namespace ge::test

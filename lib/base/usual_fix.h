// What to do about an error: what its place says, else what its code usually wants. Entry: fix_of. Invariant:
// a text of usual_fixes.def is right wherever its code is raised.
#pragma once
#include <string_view>

#include "base/diagnostic.h"

namespace ge {

// Lives as long as the diagnostic; empty where the code has no usual fix either.
std::string_view fix_of(const Diagnostic& diagnostic);

}  // namespace ge

// Which of the kernels that could do a work is taken. Entry: rank. Deterministic: costs, what rows say of
// each other, and the order of the rows decide.
#pragma once
#include <vector>

#include "compiler/select/selection.h"

namespace ge {

// Of candidates in the order of kernel_rows() the cheapest that was not refused is chosen, of equals the
// first. A row that is preferred over another one costs at most what that one does, where both can do the
// work, and is taken before it; a third is compared with both by cost. Sorts: chosen first, then by cost,
// then refused. False where all were refused.
bool rank(std::vector<Candidate>& candidates);

}  // namespace ge

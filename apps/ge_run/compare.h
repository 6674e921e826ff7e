// --expect: an output against a file. Entry: compare.
// Two elements agree where |got - want| <= atol + rtol * |want|, both are NaN, or both are the same infinity;
// integers and bools agree where they are equal. Default tolerances by dtype: float64 1e-9 / 1e-12, float32
// 1e-4 / 1e-5, float16 1e-2 / 1e-3, bfloat16 2e-2 / 1e-2, float8 1e-1 / 1e-2 (relative / absolute).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ge_run/options.h"
#include "ge_run/runtime.h"

namespace ge {

struct WorstElement {
  std::vector<int64_t> index;
  std::string got, want;
  double error = 0;
};  // error: share of the tolerance, over 1
struct Comparison {
  std::string name, file;
  int64_t count = 0, different = 0;
  double rtol = 0, atol = 0;
  double max_abs_error = 0, max_rel_error = 0;  // over pairs of numbers; infinite where only one is
  int64_t nan_against_number = 0;               // pairs of which one is NaN: no error is large enough
  std::vector<WorstElement> worst;              // up to five, the worst first
};
// The file's dtype may be any float type for a float output. results_differ for another shape or kind; file
// errors.
Result<Comparison> compare(const std::string& name, const std::string& file, const HostTensor& got,
                           const RunCommand& command);
// "y: 40 elements agree with y.npy, ..." or the worst elements, several lines.
std::string comparison_text(const Comparison& c);

}  // namespace ge

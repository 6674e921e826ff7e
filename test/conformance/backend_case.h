// One of the ONNX backend's tests: a folder of model.onnx and test_data_set_N/{input,output}_K.pb; or a
// "light" model, light_NAME.onnx beside light_NAME_output_K.pb, whose inputs are 0, 1/n, 2/n, ... Entry:
// find_cases, run_case. Invariant: inputs are given at run time, but for those the compiler says it must
// know.
#pragma once
#include <string>
#include <vector>

#include "compiler/compile.h"

namespace ge::test {

struct BackendCase {
  std::string name;   // "test_abs"
  std::string suite;  // "node": the folder that holds it
  std::string model;  // its file
  bool light = false;
};
// Every test below the roots, sorted by suite and name.
std::vector<BackendCase> find_cases(const std::vector<std::string>& roots);

enum class Verdict : uint8_t { kRight, kWrong, kRefused };
struct Outcome {
  Verdict verdict = Verdict::kRefused;
  std::string op;  // of the one node; the suite's name where there are more
  int nodes = 0;
  std::string why;                  // of what is not right: the error, or the worst element
  std::vector<std::string> frozen;  // inputs that were made constants
  double seconds = 0;
};
// Compiles for `options.targets` (one) and runs every data set on `device`. Tolerances are the backend's own
// (relative 1e-3, absolute 1e-7, or a float32 unit of the largest element) for float32 and float64, and a few
// units in the last place for narrower floats; integers and bools are equal.
Outcome run_case(const BackendCase& test, const std::string& device, const CompileOptions& options);

}  // namespace ge::test

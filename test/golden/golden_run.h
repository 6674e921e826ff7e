// Running one golden file. Entry: run_golden.
#pragma once
#include "compiler/evaluate.h"
#include "golden_file.h"

namespace ge::golden {

struct Outcome {
  std::string found;      // the section as it is now
  std::string fault;      // why the file fails whatever the text says: "" where it does not
  bool compared = false;  // before and after ran on the reference and agree
  bool changed = false;   // the passes changed the graph
};
Outcome run_golden(const GoldenCase& file, const Evaluator& evaluate);

}  // namespace ge::golden

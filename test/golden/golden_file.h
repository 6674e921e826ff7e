// Golden files: one case or several, each an intent and its sections. Entry: read_golden, write_golden.
//
//   # the scale of a batch norm goes into the weight
//   --- passes: fold_batch_norm        the passes to run, in order; left out: parse and verify alone
//   --- options: exact, cuda           optional; cuda: the passes of a GPU's copy
//   --- kernels: cpu                   instead of passes: all passes run, and --- after holds a line for each
//                                      node that is launched on this target, "op: kernel"
//   --- before                         IR text
//   --- after                          IR text; or "--- unchanged" with no text; or "--- error" with the
//   exact error text
//   # the next case                    "# " at the start of a line begins another case
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/status.h"

namespace ge::golden {

struct GoldenCase {
  std::string intent;
  std::vector<std::string> passes, options;
  std::string kernels;  // the target of --- kernels
  std::string before;
  enum class Expect { kAfter, kUnchanged, kError } expect = Expect::kAfter;
  std::string expected;  // text of --- after or --- error
};
struct GoldenFile {
  std::string path;
  std::vector<GoldenCase> cases;  // one or more
};

Result<GoldenFile> read_golden(const std::string& path);
Status write_golden(const GoldenFile& file);
// Lines of the two texts, "-" expected, "+" found, with what both share around them.
std::string difference_text(const std::string& expected, const std::string& found);

}  // namespace ge::golden

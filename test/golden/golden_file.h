// One golden file: an intent on line 1, then sections. Entry: read_golden, write_golden.
//
//   # the scale of a batch norm goes into the weight
//   --- passes: fold_batch_norm        the passes to run, in order; left out: parse and verify alone
//   --- options: exact                 optional
//   --- before                         IR text
//   --- after                          IR text; or "--- unchanged" with no text; or "--- error" with the
//   exact error text
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/status.h"

namespace ge::golden {

struct GoldenFile {
  std::string path, intent;
  std::vector<std::string> passes, options;
  std::string before;
  enum class Expect { kAfter, kUnchanged, kError } expect = Expect::kAfter;
  std::string expected;  // text of --- after or --- error
};

Result<GoldenFile> read_golden(const std::string& path);
Status write_golden(const GoldenFile& file);
// Lines of the two texts, "-" expected, "+" found, with what both share around them.
std::string difference_text(const std::string& expected, const std::string& found);

}  // namespace ge::golden

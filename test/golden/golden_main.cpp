// golden_test [--update] [FILE.test ...]: runs golden files (those of ir/, passes/ and kernels/ where none is
// named), exit 1 where one differs; --update or GE_UPDATE=1 rewrites what differs and shows how. Every pass
// must have two cases that change something and one that must not.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "compiler/passes/manager.h"
#include "golden_run.h"

namespace {
using namespace ge;
using namespace ge::golden;

std::vector<std::string> all_files() {
  std::vector<std::string> files;
  for (const char* folder : {"/ir", "/passes", "/kernels"})
    for (const auto& entry : std::filesystem::directory_iterator(std::string(GE_GOLDEN_DIR) + folder))
      if (entry.path().extension() == ".test") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

struct Tally {
  int failed = 0, updated = 0, cases = 0, compared = 0;
  std::map<std::string, std::pair<int, int>>
      rewrites_and_refusals;  // by pass, of cases that run this pass alone
};

void complain(const std::string& path, const GoldenCase& c, const std::string& what, Tally& tally) {
  std::printf("FAILED %s\n  %s\n  %s\n", path.c_str(), c.intent.c_str(), what.c_str());
  ++tally.failed;
}

// True where the case has a new expectation.
bool run_case(const std::string& path, GoldenCase& c, bool update, const Evaluator& evaluate, Tally& tally) {
  const Outcome outcome = run_golden(c, evaluate);
  ++tally.cases;
  tally.compared += outcome.compared ? 1 : 0;
  const bool unchanged = c.expect == GoldenCase::Expect::kUnchanged;
  if (c.passes.size() == 1) {
    auto& [rewrites, refusals] = tally.rewrites_and_refusals[c.passes[0]];
    ++(unchanged ? refusals : rewrites);
  }
  if (!outcome.fault.empty()) {
    complain(path, c, outcome.fault, tally);
  } else if (unchanged) {
    if (outcome.changed) complain(path, c, "must not change, but is now\n" + outcome.found, tally);
  } else if (c.expect == GoldenCase::Expect::kAfter && !c.passes.empty() && !outcome.changed) {
    complain(path, c, "nothing changed; say \"--- unchanged\" where that is meant; found\n" + outcome.found,
             tally);
  } else if (outcome.found != c.expected) {
    const std::string difference = difference_text(c.expected, outcome.found);
    if (!update) {
      complain(path, c, "differs (--update or GE_UPDATE=1 accepts it):\n" + difference, tally);
      return false;
    }
    c.expected = outcome.found;
    std::printf("updated %s: %s\n%s", path.c_str(), c.intent.c_str(), difference.c_str());
    return true;
  }
  return false;
}

void run_file(const std::string& path, bool update, const Evaluator& evaluate, Tally& tally) {
  auto read = read_golden(path);
  if (!read.ok()) {
    std::printf("FAILED %s\n", read.error().to_string().c_str());
    ++tally.failed;
    return;
  }
  bool updated = false;
  for (GoldenCase& c : read->cases) updated = run_case(path, c, update, evaluate, tally) || updated;
  if (!updated) return;
  ++tally.updated;
  if (write_golden(*read).ok()) return;
  std::printf("FAILED %s cannot be written\n", path.c_str());
  ++tally.failed;
}

void require_coverage(Tally& tally) {
  for (const PassInfo& pass : all_passes()) {
    const auto [rewrites, refusals] = tally.rewrites_and_refusals[std::string(pass.name)];
    if (rewrites >= 2 && refusals >= 1) continue;
    std::printf("FAILED pass %s has %d golden rewrites and %d must-not-change cases; 2 and 1 are needed\n",
                std::string(pass.name).c_str(), rewrites, refusals);
    ++tally.failed;
  }
}
}  // namespace

int main(int argc, char** argv) {
  bool update = std::getenv("GE_UPDATE") != nullptr;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--update") {
      update = true;
    } else {
      files.emplace_back(argv[i]);
    }
  }
  const bool whole = files.empty();
  if (whole) files = all_files();
  const Evaluator evaluate = reference_evaluator();
  Tally tally;
  for (const std::string& path : files) run_file(path, update, evaluate, tally);
  if (whole) require_coverage(tally);
  std::printf("%zu golden files, %d cases, %d failed, %d updated, %d compared on the reference\n",
              files.size(), tally.cases, tally.failed, tally.updated, tally.compared);
  return tally.failed == 0 ? 0 : 1;
}

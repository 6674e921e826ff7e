// golden_test [--update] [FILE.test ...]: runs golden files (those of ir/ and passes/ where none is named),
// exit 1 where one differs. Every pass must have two files that change something and one that must not.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "compiler/passes/manager.h"
#include "golden_run.h"

namespace {
using namespace ge;
using namespace ge::golden;

std::vector<std::string> all_files() {
  std::vector<std::string> files;
  for (const char* folder : {"/ir", "/passes"})
    for (const auto& entry : std::filesystem::directory_iterator(std::string(GE_GOLDEN_DIR) + folder))
      if (entry.path().extension() == ".test") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

struct Tally {
  int failed = 0, updated = 0, compared = 0;
  std::map<std::string, std::pair<int, int>>
      rewrites_and_refusals;  // by pass, of files that run this pass alone
};

void complain(const GoldenFile& file, const std::string& what, Tally& tally) {
  std::printf("FAILED %s\n  %s\n  %s\n", file.path.c_str(), file.intent.c_str(), what.c_str());
  ++tally.failed;
}

void run_file(const std::string& path, bool update, const Evaluator& evaluate, Tally& tally) {
  auto read = read_golden(path);
  if (!read.ok()) {
    std::printf("FAILED %s\n", read.error().to_string().c_str());
    ++tally.failed;
    return;
  }
  GoldenFile& file = *read;
  const Outcome outcome = run_golden(file, evaluate);
  tally.compared += outcome.compared ? 1 : 0;
  const bool unchanged = file.expect == GoldenFile::Expect::kUnchanged;
  if (file.passes.size() == 1) {
    auto& [rewrites, refusals] = tally.rewrites_and_refusals[file.passes[0]];
    ++(unchanged ? refusals : rewrites);
  }
  if (!outcome.fault.empty()) return complain(file, outcome.fault, tally);
  if (unchanged) {
    if (outcome.changed) complain(file, "must not change, but is now\n" + outcome.found, tally);
    return;
  }
  if (file.expect == GoldenFile::Expect::kAfter && !file.passes.empty() && !outcome.changed) {
    return complain(file, "nothing changed; say \"--- unchanged\" where that is meant", tally);
  }
  if (outcome.found == file.expected) return;
  const std::string difference = difference_text(file.expected, outcome.found);
  if (!update) return complain(file, "differs (run with --update to accept):\n" + difference, tally);
  file.expected = outcome.found;
  if (!write_golden(file).ok()) return complain(file, "cannot be written", tally);
  std::printf("updated %s\n%s", path.c_str(), difference.c_str());
  ++tally.updated;
}

void require_coverage(Tally& tally) {
  for (const PassInfo& pass : all_passes()) {
    const auto [rewrites, refusals] = tally.rewrites_and_refusals[std::string(pass.name)];
    if (rewrites >= 2 && refusals >= 1) continue;
    std::printf("FAILED pass %s has %d golden rewrites and %d must-not-change files; 2 and 1 are needed\n",
                std::string(pass.name).c_str(), rewrites, refusals);
    ++tally.failed;
  }
}
}  // namespace

int main(int argc, char** argv) {
  bool update = false;
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
  std::printf("%zu golden files, %d failed, %d updated, %d compared on the reference\n", files.size(),
              tally.failed, tally.updated, tally.compared);
  return tally.failed == 0 ? 0 : 1;
}

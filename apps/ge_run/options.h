// The flags of ge-run as a struct. Entry: parse_options.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ge {

struct RunCommand {
  std::string plan;
  std::vector<std::pair<std::string, std::string>> inputs;   // name, source as written
  std::vector<std::pair<std::string, std::string>> outputs;  // name ("": not given), file or "DIR/"
  std::vector<std::pair<std::string, int64_t>> dims;
  std::vector<std::pair<std::string, std::string>> expected;  // name, file
  std::optional<double> rtol, atol;
  std::string device = "auto";
  int32_t threads = 0;
  bool trust_builtin_only = false;
  bool no_graph = false;
  bool bench = false;
  bool cold = false;
  std::optional<int32_t> warmup;
  std::optional<int32_t> iterations;
  std::optional<double> duration_s;
  bool profile = false;
  std::string trace;  // file of --profile=FILE
  bool measure_ceilings = false;
  std::string ceilings;  // the file; empty: the usual one
  bool startup = false, dry_run = false, verify = false, find_first_difference = false;
  bool json = false;
};

// An exit code where the run ends here: --help, --version (0), wrong usage (2).
std::optional<int> parse_options(int argc, char** argv, RunCommand& command);

}  // namespace ge

// What the user asked ge-compile for. Entry: parse_options.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ge {

struct CompileCommand {
  std::string model, output;
  std::vector<std::string> targets;
  bool ptx = false;
  std::vector<std::string> dims, freezes, allow;
  int level = 2;
  bool exact = false;
  bool tune = false, locked = false;
  std::string tuning_db;
  bool check = false, json = false;
  std::string emit = "plan";
  std::optional<std::string> print_ir;
  std::vector<std::string> disabled, passes;
  bool check_passes = false, time_passes = false, explain = false;
  std::optional<int> reference;
  bool list_ops = false, list_passes = false, list_kernels = false, list_targets = false;
  bool lists() const { return list_ops || list_passes || list_kernels || list_targets; }
};

// Fills `command`. An exit code where the program is done already: 0 after --help or --version, 2 for wrong
// usage.
std::optional<int> parse_options(int argc, char** argv, CompileCommand& command);

}  // namespace ge

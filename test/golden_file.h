// Golden files: what a test produced against what stands in the tree. Entry: check_golden, golden_sources.
// With GE_UPDATE=1 in the environment the file is rewritten instead, and the test says so: look at `git
// diff`.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"

namespace ge::test {

inline std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline bool updating_golden() {
  return std::getenv("GE_UPDATE") != nullptr;
}

// `actual` against the contents of `path`.
inline void check_golden(const std::string& path, const std::string& actual) {
  const std::string expected = std::filesystem::exists(path) ? read_text(path) : "";
  if (expected != actual && updating_golden()) {
    std::ofstream(path, std::ios::binary) << actual;
    WARN("rewrote " << path << ":\n" << actual);
    return;
  }
  INFO(path << " differs; GE_UPDATE=1 rewrites it");
  CHECK(actual == expected);
}

// Files of `folder` (below the source tree) whose names end in `suffix`, sorted.
inline std::vector<std::string> golden_sources(const std::string& folder, const std::string& suffix) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(GE_SOURCE_DIR) + "/" + folder)) {
    const std::string path = entry.path().string();
    if (path.ends_with(suffix)) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace ge::test

// kernels_golden_test [--update]: holds kernels/revisions.txt and kernels/resources.txt against the tree.
// revisions: a row whose table or sources changed must get a new revision (a plan finds its kernels by name
// and revision). resources: no kernel may use more registers, stack or spills than recorded (asked of the
// nvcc version on the first line alone). Exit 0 equal, 1 different (each difference printed), 77 the
// resources could not be asked here.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "contract/hash.h"
#include "kernels/registry.h"

namespace ge::test {
namespace {

namespace fs = std::filesystem;
const fs::path kKernels = fs::path(GE_SOURCE_DIR) / "kernels";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Comments and blanks do not make a kernel another one.
std::string code_of(const std::string& text) {
  std::string code;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (std::isspace(static_cast<unsigned char>(text[i])) == 0) {
      code += text[i];
    }
  }
  return code;
}

std::string table_of(const KernelRow& row) {
  std::ostringstream out;
  out << row.name << int(row.kind) << int(row.device) << row.args_size << ' ' << row.limits.min_arch << ' '
      << row.limits.max_threads << row.symbol << row.image;
  for (const OperandRow& o : row.operands)
    out << o.name << int(o.role) << ' ' << o.dtypes.bits() << ' ' << int(o.min_rank) << int(o.max_rank)
        << o.align_bytes << int(o.in_place_of) << o.optional;
  for (const AttrRow& a : row.attrs)
    out << a.name << int(a.type) << ' ' << a.min << ' ' << a.max << a.required;
  for (const ArgRow& a : row.args)
    out << a.offset << ' ' << int(a.type) << int(a.source) << int(a.operand) << int(a.a) << int(a.b)
        << a.attr;
  return out.str();
}

void add_folder(const fs::path& folder, const std::set<std::string>& extensions, std::string& into) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (extensions.count(entry.path().extension().string()) != 0) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) into += file.filename().string() + code_of(read(file));
}

// Row name -> what its behaviour hangs on: its source, its family's headers, and for CUDA the device headers.
std::map<std::string, std::string> sources_of_rows() {
  std::map<std::string, std::string> sources;
  const std::regex line("GE_(CPU|CUDA|LIBRARY)_KERNEL\\(([a-z0-9_]+), ([a-z0-9_.]+)\\)");
  for (const auto& family : fs::directory_iterator(kKernels)) {
    if (!fs::exists(family.path() / "kernels.def")) continue;
    const std::string text = read(family.path() / "kernels.def");
    for (std::sregex_iterator it(text.begin(), text.end(), line), end; it != end; ++it) {
      std::string& into = sources[(*it)[2]];
      into = code_of(read(family.path() / (*it)[3].str()));
      add_folder(family.path(), {".h"}, into);
      if ((*it)[1] == "CUDA") {
        add_folder(family.path(), {".cuh"}, into);
        add_folder(kKernels / "device", {".cuh"}, into);
      }
    }
  }
  return sources;
}

std::string revisions() {
  const auto sources = sources_of_rows();
  std::ostringstream out;
  for (const KernelRow& row : kernel_rows()) {
    const auto at = sources.find(std::string(row.name));
    const std::string text = table_of(row) + (at == sources.end() ? "" : at->second);
    out << row.name << ' ' << row.revision << ' ' << hash128_hex(as_bytes(text)).substr(0, 16) << '\n';
  }
  return out.str();
}

// "image sm_90 entry registers shared stack spilled", one line an entry.
std::string resources() {
  std::vector<std::string> lines;
  const fs::path folder = fs::path(GE_BINARY_DIR) / "kernels" / "images";
  if (!fs::exists(folder)) return "";
  const std::regex entry("entry function '([a-zA-Z0-9_]+)'"),
      frame("([0-9]+) bytes stack frame, ([0-9]+) bytes spill stores"), used("Used ([0-9]+) registers"),
      shared("([0-9]+) bytes smem");
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != ".resources") continue;
    std::string image = file.path().stem().stem().string(), name, stack = "0", spill = "0", text;
    std::istringstream in(read(file.path()));
    std::smatch m;
    while (std::getline(in, text)) {
      if (std::regex_search(text, m, entry)) name = m[1];
      if (std::regex_search(text, m, frame)) stack = m[1], spill = m[2];
      if (!std::regex_search(text, m, used) || name.empty()) continue;
      const std::string registers = m[1];
      lines.push_back(image + " " + name + " " + registers + " " +
                      (std::regex_search(text, m, shared) ? m[1].str() : "0") + " " + stack + " " + spill);
      name.clear();
    }
  }
  std::sort(lines.begin(), lines.end());
  std::string out = std::string("nvcc ") + GE_NVCC_VERSION + "\n";
  for (const std::string& line : lines) out += line + "\n";
  return lines.empty() ? "" : out;
}

std::map<std::string, std::vector<std::string>> by_key(const std::string& text, int key_words) {
  std::map<std::string, std::vector<std::string>> rows;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string key, word;
    for (int i = 0; i < key_words && words >> word; ++i) key += (i == 0 ? "" : " ") + word;
    auto& row = rows[key];
    while (words >> word) row.push_back(word);
  }
  return rows;
}

int compare_revisions(const std::string& kept, const std::string& now) {
  int failed = 0;
  const auto old_rows = by_key(kept, 1), rows = by_key(now, 1);
  for (const auto& [name, row] : rows) {
    const auto at = old_rows.find(name);
    if (at == old_rows.end())
      std::printf("%s: not in kernels/revisions.txt; run with --update\n", name.c_str());
    else if (at->second == row)
      continue;
    else if (at->second[0] == row[0])
      std::printf("%s: changed under revision %s; raise its revision (or --update if no answer can differ)\n",
                  name.c_str(), row[0].c_str());
    else
      std::printf("%s: revision %s is not recorded; run with --update\n", name.c_str(), row[0].c_str());
    ++failed;
  }
  for (const auto& [name, row] : old_rows) {
    if (rows.count(name) != 0) continue;
    std::printf("%s: is gone; plans that name it cannot run. Run with --update to accept\n", name.c_str());
    ++failed;
  }
  return failed;
}

int compare_resources(const std::string& kept, const std::string& now) {
  static const char* const kNames[] = {"registers", "bytes of shared memory", "bytes of stack",
                                       "bytes spilled"};
  int failed = 0;
  const auto old_rows = by_key(kept, 2), rows = by_key(now, 2);
  for (const auto& [name, row] : rows) {
    const auto at = old_rows.find(name);
    if (name.rfind("nvcc", 0) == 0) continue;
    if (at == old_rows.end()) {
      std::printf("%s: not in kernels/resources.txt; run with --update\n", name.c_str());
      ++failed;
      continue;
    }
    for (size_t i = 0; i < row.size() && i < at->second.size(); ++i) {
      if (std::stoi(row[i]) <= std::stoi(at->second[i])) continue;
      std::printf("%s: %s %s, recorded %s\n", name.c_str(), row[i].c_str(), kNames[i], at->second[i].c_str());
      ++failed;
    }
  }
  return failed;
}

void write(const char* name, const std::string& head, const std::string& text) {
  std::ofstream(kKernels / name, std::ios::binary) << head << text;
  std::printf("wrote kernels/%s\n", name);
}

int run(bool update) {
  const std::string now = revisions(), used = resources(), kept = read(kKernels / "resources.txt");
  if (update) {
    write("revisions.txt", "# name revision hash: kernels_golden_test --update\n", now);
    if (!used.empty())
      write("resources.txt", "# image entry registers shared stack spilled: kernels_golden_test --update\n",
            used);
    return 0;
  }
  const int failed = compare_revisions(read(kKernels / "revisions.txt"), now);
  if (used.empty() || kept.find(used.substr(0, used.find('\n') + 1)) == std::string::npos) {
    std::printf("resources: skipped, this build has no CUDA or another nvcc than the record's\n");
    return failed > 0 ? 1 : 77;
  }
  return failed + compare_resources(kept, used) > 0 ? 1 : 0;
}

}  // namespace
}  // namespace ge::test

int main(int argc, char** argv) {
  return ge::test::run(argc > 1 && std::string(argv[1]) == "--update");
}

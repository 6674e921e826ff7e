// kernels_golden_test [--update]: holds kernels/revisions.txt, kernels/resources.txt and
// kernels/generated_resources.txt against the tree; --update or GE_UPDATE=1 rewrites them. revisions: a row
// whose table or sources changed must get a new revision (a plan finds its kernels by name and revision).
// resources: no kernel may have a stack frame or spill, whatever compiled it; none may use more registers or
// shared memory than recorded (asked of the compiler on the record's first line alone). A new row passes
// unrecorded at revision 1, with a note: releases complete the records. Exit 0 equal, 1 different (each
// difference printed), 77 the resources could not be asked here.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
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
#include "kernels_golden_resources.h"

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
  std::set<std::string> lines;
  for (const KernelRow& row : kernel_rows()) {
    const std::string name(row.name);
    const auto at = sources.find(name);
    const std::string text = table_of(row) + (at == sources.end() ? "" : at->second);
    lines.insert(name + " " + std::to_string(row.revision) + " " + hash128_hex(as_bytes(text)).substr(0, 16));
  }
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
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
    if (at == old_rows.end() && row[0] == "1") {
      std::printf("%s: new, not yet in kernels/revisions.txt\n", name.c_str());
      continue;
    }
    if (at == old_rows.end())
      std::printf("%s: not in kernels/revisions.txt, so its revision is 1 and not %s\n", name.c_str(),
                  row[0].c_str());
    else if (at->second == row)
      continue;
    else if (at->second[0] == row[0])
      std::printf(
          "%s: changed under revision %s; raise its revision (or --update if no answer can differ: "
          "efficiency, summary, speed)\n",
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

struct Record {
  const char* file;  // under kernels/
  const char* head;
  bool new_ones_pass;  // kernels that it does not name; what is generated for the examples is all named
  std::string now;
};

// kept: what the record holds. limits: it was made by the same compiler.
int compare_resources(const Record& record, const std::string& kept, bool limits) {
  static const char* const kNames[] = {"registers", "bytes of shared memory", "bytes of stack",
                                       "bytes spilled"};
  int failed = 0;
  const auto old_rows = by_key(kept, 2), rows = by_key(record.now, 2);
  for (const auto& [name, row] : rows) {
    if (row.size() != std::size(kNames)) continue;  // the compiler's name
    const auto at = old_rows.find(name);
    for (size_t i = 2; i < row.size(); ++i) {
      if (row[i] == "0") continue;
      std::printf("%s\n", (name + ": " + row[i] + " " + std::string(kNames[i] ? kNames[i] : "") +
                           "; kernels have neither")
                              .c_str());
      ++failed;
    }
    if (limits && at == old_rows.end()) {
      std::printf("%s: not %sin kernels/%s\n", name.c_str(), record.new_ones_pass ? "yet " : "", record.file);
      failed += record.new_ones_pass ? 0 : 1;
    }
    for (size_t i = 0; limits && at != old_rows.end() && i < 2; ++i) {
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
  const std::string now = revisions();
  const Record records[] = {
      {"resources.txt", "# image entry registers shared stack spilled: kernels_golden_test --update\n", true,
       built_in_resources()},
      {"generated_resources.txt",
       "# example loop registers shared stack spilled: kernels_golden_test --update\n", false,
       generated_resources()},
  };
  if (update) {
    write("revisions.txt", "# name revision hash: kernels_golden_test --update\n", now);
    for (const Record& r : records)
      if (r.now.rfind("nv", 0) == 0) write(r.file, r.head, r.now);
    return 0;
  }
  int failed = compare_revisions(read(kKernels / "revisions.txt"), now);
  bool skipped = false;
  for (const Record& r : records) {
    const std::string kept = read(kKernels / r.file);
    if (!r.now.empty() && r.now.rfind("nv", 0) != 0) {
      std::printf("%s: %s\n", r.file, r.now.c_str());
      ++failed;
      continue;
    }
    const bool same_compiler =
        !r.now.empty() && kept.find("\n" + r.now.substr(0, r.now.find('\n') + 1)) != std::string::npos;
    if (!same_compiler) std::printf("%s: skipped, not compiled here, or by another compiler\n", r.file);
    skipped |= !same_compiler;
    failed += compare_resources(r, kept, same_compiler);
  }
  return failed > 0 ? 1 : skipped ? 77 : 0;
}

}  // namespace
}  // namespace ge::test

int main(int argc, char** argv) {
  return ge::test::run((argc > 1 && std::string(argv[1]) == "--update") ||
                       std::getenv("GE_UPDATE") != nullptr);
}

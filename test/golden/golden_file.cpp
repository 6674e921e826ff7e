// Reading and writing golden files; see golden_file.h.
#include "golden_file.h"

#include <fstream>
#include <sstream>

namespace ge::golden {

namespace {
std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) {
    const size_t first = item.find_first_not_of(' '), last = item.find_last_not_of(' ');
    if (first != std::string::npos) items.push_back(item.substr(first, last - first + 1));
  }
  return items;
}

Diagnostic malformed(const std::string& path, const std::string& why) {
  return fail(Code::ir_syntax).say("not a golden file").at(path).because(why);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + item;
  return out;
}

bool complete(const GoldenFile& file, bool expectation) {
  return file.cases.empty() || (expectation && !file.cases.back().before.empty());
}

// One "--- head" line: where the lines after it go, or what it says itself.
Status read_head(const std::string& path, const std::string& head, GoldenCase& c, std::string*& section,
                 bool& expectation) {
  section = nullptr;
  if (head.starts_with("passes: ")) {
    c.passes = split_list(head.substr(8));
  } else if (head.starts_with("options: ")) {
    c.options = split_list(head.substr(9));
  } else if (head.starts_with("kernels: ")) {
    c.kernels = head.substr(9);
  } else if (head == "before") {
    section = &c.before;
  } else if (head == "after" || head == "error" || head == "unchanged") {
    c.expect = head == "after"   ? GoldenCase::Expect::kAfter
               : head == "error" ? GoldenCase::Expect::kError
                                 : GoldenCase::Expect::kUnchanged;
    if (head != "unchanged") section = &c.expected;
    expectation = true;
  } else {
    return malformed(path, "\"--- " + head + "\" is no section");
  }
  return {};
}
}  // namespace

Result<GoldenFile> read_golden(const std::string& path) {
  std::ifstream in(path);
  GoldenFile file{path, {}};
  std::string* section = nullptr;
  bool expectation = true;  // of the last case
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# ")) {
      if (!complete(file, expectation))
        return malformed(path, "\"--- before\" or what is expected is missing before \"" + line + "\"");
      file.cases.emplace_back().intent = line.substr(2);
      section = nullptr;
      expectation = false;
    } else if (file.cases.empty()) {
      return malformed(path, "line 1 must be \"# \" and the intent");
    } else if (line.starts_with("--- ")) {
      GE_TRY(read_head(path, line.substr(4), file.cases.back(), section, expectation));
    } else if (section != nullptr) {
      *section += line + "\n";
    } else if (!line.empty()) {
      return malformed(path, "\"" + line + "\" stands before the first section");
    }
  }
  if (file.cases.empty()) return malformed(path, "line 1 must be \"# \" and the intent");
  if (!complete(file, expectation)) return malformed(path, "\"--- before\" or what is expected is missing");
  return file;
}

Status write_golden(const GoldenFile& file) {
  std::ofstream out(file.path, std::ios::binary | std::ios::trunc);
  for (const GoldenCase& c : file.cases) {
    out << "# " << c.intent << "\n";
    if (!c.passes.empty()) out << "--- passes: " << joined(c.passes) << "\n";
    if (!c.options.empty()) out << "--- options: " << joined(c.options) << "\n";
    if (!c.kernels.empty()) out << "--- kernels: " << c.kernels << "\n";
    out << "--- before\n" << c.before;
    out << (c.expect == GoldenCase::Expect::kError   ? "--- error\n"
            : c.expect == GoldenCase::Expect::kAfter ? "--- after\n"
                                                     : "--- unchanged\n");
    out << c.expected;
  }
  out.flush();
  if (!out) return fail(Code::file_unwritable).at(file.path);
  return {};
}

// Common head and tail go; what is between is shown whole: golden texts are short.
std::string difference_text(const std::string& expected, const std::string& found) {
  const auto a = lines_of(expected), b = lines_of(found);
  size_t head = 0, tail = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::string out;
  for (size_t i = head; i < a.size() - tail; ++i) out += "    - " + a[i] + "\n";
  for (size_t i = head; i < b.size() - tail; ++i) out += "    + " + b[i] + "\n";
  return out;
}

}  // namespace ge::golden

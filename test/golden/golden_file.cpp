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
}  // namespace

Result<GoldenFile> read_golden(const std::string& path) {
  std::ifstream in(path);
  GoldenFile file;
  file.path = path;
  std::string line;
  if (!std::getline(in, line) || !line.starts_with("# "))
    return malformed(path, "line 1 must be \"# \" and the intent");
  file.intent = line.substr(2);
  std::string* section = nullptr;
  bool expectation = false;
  while (std::getline(in, line)) {
    if (!line.starts_with("--- ")) {
      if (section != nullptr) *section += line + "\n";
      if (section == nullptr && !line.empty())
        return malformed(path, "\"" + line + "\" stands before the first section");
      continue;
    }
    const std::string head = line.substr(4);
    section = nullptr;
    if (head.starts_with("passes: ")) {
      file.passes = split_list(head.substr(8));
    } else if (head.starts_with("options: ")) {
      file.options = split_list(head.substr(9));
    } else if (head == "before") {
      section = &file.before;
    } else if (head == "after" || head == "error" || head == "unchanged") {
      file.expect = head == "after"   ? GoldenFile::Expect::kAfter
                    : head == "error" ? GoldenFile::Expect::kError
                                      : GoldenFile::Expect::kUnchanged;
      if (head != "unchanged") section = &file.expected;
      expectation = true;
    } else {
      return malformed(path, "\"--- " + head + "\" is no section");
    }
  }
  if (file.before.empty() || !expectation)
    return malformed(path, "\"--- before\" or what is expected is missing");
  return file;
}

Status write_golden(const GoldenFile& file) {
  std::ofstream out(file.path, std::ios::binary | std::ios::trunc);
  out << "# " << file.intent << "\n";
  if (!file.passes.empty()) out << "--- passes: " << joined(file.passes) << "\n";
  if (!file.options.empty()) out << "--- options: " << joined(file.options) << "\n";
  out << "--- before\n" << file.before;
  out << (file.expect == GoldenFile::Expect::kError   ? "--- error\n"
          : file.expect == GoldenFile::Expect::kAfter ? "--- after\n"
                                                      : "--- unchanged\n");
  out << file.expected;
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

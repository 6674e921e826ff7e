// The error codes as a table, the plain text of a Diagnostic, and "did you mean".
#include "base/diagnostic.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.h"
#include "base/usual_fix.h"

namespace ge {
namespace {

struct CodeRow {
  Code code;
  ErrorKind kind;
  std::string_view title;
};

constexpr CodeRow kRows[] = {
#define GE_ERROR(number, kind, name, title) {Code::name, ErrorKind::kind, title},
#include "base/error_codes.def"
#undef GE_ERROR
};

constexpr bool codes_ascend() {
  for (size_t i = 1; i < std::size(kRows); ++i) {
    if (kRows[i - 1].code >= kRows[i].code) return false;
  }
  return true;
}
static_assert(codes_ascend(), "error_codes.def: numbers must ascend, each used once");

const CodeRow& row_of(Code code) {
  const auto* row = std::lower_bound(std::begin(kRows), std::end(kRows), code,
                                     [](const CodeRow& r, Code c) { return r.code < c; });
  // A number that is no row can only be our own bug; the last row says so.
  return row != std::end(kRows) && row->code == code ? *row : *(std::end(kRows) - 1);
}

void append_line(std::string& text, std::string_view prefix, std::string_view line) {
  if (!line.empty()) text.append("\n  ").append(prefix).append(visible_line(line));
}

// A text of several lines keeps the indent.
void append_lines(std::string& text, std::string_view lines) {
  if (lines.empty()) return;
  text += "\n  ";
  for (const char c : visible(lines)) {
    text += c;
    if (c == '\n') text += "  ";
  }
}

// Letters that are missing, too many, wrong, or in each other's place: one each.
int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> second(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], second[j - 2] + 1);
    }
    std::swap(second, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

}  // namespace

ErrorKind kind_of(Code code) {
  return row_of(code).kind;
}
std::string_view title_of(Code code) {
  return row_of(code).title;
}

std::string code_string(Code code) {
  char text[16];
  std::snprintf(text, sizeof text, "E%04d", static_cast<int>(code));
  return text;
}

std::string_view fix_of(const Diagnostic& d) {
  if (!d.fix.empty()) return d.fix;
  switch (d.code) {
#define GE_FIX(name, text) \
  case Code::name:         \
    return text;
#include "base/usual_fixes.def"
#undef GE_FIX
    default:
      return {};
  }
}

std::string to_string(const Diagnostic& d) {
  std::string text = "error[" + code_string(d.code) + "]: ";
  text += visible_line(d.message.empty() ? title_of(d.code) : std::string_view(d.message));
  std::string where = d.place;
  if (!d.path.empty()) where += (where.empty() ? "" : "  ") + d.path;
  append_line(text, "", where);
  append_lines(text, d.found);
  append_line(text, "fix: ", fix_of(d));
  for (const std::string& frame : d.frames) append_line(text, "", frame);
  return text;
}

std::string shortened(std::string_view text) {
  constexpr size_t kLongest = 4096, kEnd = 200;
  if (text.size() <= kLongest) return std::string(text);
  const auto boundary = [&](size_t at) {  // of a code point
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
    return at;
  };
  return std::string(text.substr(0, boundary(kLongest - kEnd - 40))) + " ... (" +
         std::to_string(text.size()) + " bytes) ... " +
         std::string(text.substr(boundary(text.size() - kEnd)));
}

Diagnostic shortened(Diagnostic d) {
  for (std::string* text : {&d.message, &d.place, &d.path, &d.found, &d.fix})
    *text = shortened(std::string_view(*text));
  return d;
}

// Distance without regard to case, ties broken by the exact spelling and then by order, so the answer is the
// same everywhere.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr size_t kLongest = 200;  // longer words are no typing slips, and the distance is quadratic
  if (word.empty() || word.size() > kLongest) return "";
  constexpr size_t kShort = 3;
  const int allowed = std::max(1, static_cast<int>(word.size()) / 3);
  const std::string wanted = lowered(word);
  const std::string* best = nullptr;
  int best_score = 0;
  for (const std::string& candidate : candidates) {
    const auto gap = static_cast<int64_t>(candidate.size()) - static_cast<int64_t>(word.size());
    const std::string known = lowered(candidate);
    // "h" may well be "h_1"; nothing is said by "x" and "y" being one letter apart.
    const bool extends = word.size() <= kShort && gap <= 2 && known.starts_with(wanted);
    if (candidate.empty() || (gap > allowed && !extends) || gap < -allowed) continue;
    const int distance = edit_distance(wanted, known);
    if (distance > allowed && !extends) continue;
    if (distance >= static_cast<int>(std::max(word.size(), candidate.size()))) continue;
    const int score = distance * 1000 + std::min(999, edit_distance(word, candidate));
    if (!best || score < best_score) {
      best = &candidate;
      best_score = score;
    }
  }
  return best ? *best : "";
}

}  // namespace ge

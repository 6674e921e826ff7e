// Tokens of IR text; see text_cursor.h.
#include "compiler/ir/text_cursor.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace ge {

namespace {
bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}
}  // namespace

size_t TextCursor::skip_space() {
  if (at_ != skipped_to_) token_end_ = at_;
  while (at_ < text_.size()) {
    if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      break;
    }
  }
  skipped_to_ = at_;
  return at_;
}

bool TextCursor::take(std::string_view token) {
  skip_space();
  if (!ok() || text_.substr(at_, token.size()) != token) return false;
  at_ += token.size();
  return true;
}

bool TextCursor::looking_at(std::string_view word) {
  skip_space();
  const size_t end = at_ + word.size();
  return ok() && text_.substr(at_, word.size()) == word && (end >= text_.size() || !is_word(text_[end]));
}

bool TextCursor::take_word(std::string_view word) {
  if (!looking_at(word)) return false;
  at_ += word.size();
  return true;
}

void TextCursor::expect(std::string_view token) {
  if (!take(token)) expected("'" + std::string(token) + "'");
}

void TextCursor::expect_word(std::string_view word) {
  if (!take_word(word)) expected("'" + std::string(word) + "'");
}

std::string TextCursor::string() {
  expect("\"");
  std::string out;
  while (ok() && at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
    if (text_[at_] != '\\' || at_ + 1 >= text_.size()) {
      out += text_[at_++];
      continue;
    }
    const char escape = text_[at_ + 1];
    unsigned byte = 0;
    const char* digits = text_.data() + at_ + 2;
    if (escape == 'x' && at_ + 4 <= text_.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      at_ += 4;
    } else if (escape == 'n' || escape == '"' || escape == '\\') {
      out += escape == 'n' ? '\n' : escape;
      at_ += 2;
    } else {
      fault(at_, "an unknown escape in a string; known: \\n \\\" \\\\ \\xNN");
    }
  }
  if (ok() && (at_ >= text_.size() || text_[at_] != '"')) {
    expected("the closing quote");
  } else if (ok()) {
    ++at_;
  }
  return out;
}

int64_t TextCursor::integer() {
  skip_space();
  int64_t v = 0;
  if (!ok()) return v;
  const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
  if (code != std::errc()) {
    expected("an integer of 64 bits");
    return 0;
  }
  at_ = static_cast<size_t>(end - text_.data());
  return v;
}

std::string_view TextCursor::until(std::string_view ends) {
  const size_t start = skip_space();
  int depth = 0;
  bool quote = false;
  for (; ok() && at_ < text_.size() && text_[at_] != '\n'; ++at_) {
    const char c = text_[at_];
    if (quote) {
      if (c == '\\') {
        ++at_;
      } else {
        quote = c != '\'';
      }
      continue;
    }
    if (depth == 0 && ends.find(c) != std::string_view::npos) break;
    if (c == '\'') quote = true;
    if (c == '(') ++depth;
    if (c == ')') --depth;
  }
  at_ = std::min(at_, text_.size());
  size_t end = at_;
  while (end > start && text_[end - 1] == ' ') --end;
  return text_.substr(start, end - start);
}

std::vector<std::string> TextCursor::trailing_sources() {
  size_t at = at_ == skipped_to_ ? token_end_ : at_;  // looking for more of the line has skipped the comment
  while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
  if (!ok() || text_.substr(at, 2) != "//") return {};
  at_ = at + 2;
  const size_t end = std::min(text_.find('\n', at_), text_.size());
  std::vector<std::string> paths;
  bool separated = true;
  while (ok()) {
    while (at_ < end && text_[at_] == ' ') ++at_;
    if (at_ >= end) break;
    if (!separated) {
      separated = text_[at_] == '+';
      ++at_;
      if (!separated) paths.clear();
      if (!separated) break;
      continue;
    }
    if (text_[at_] == '"') {
      paths.push_back(string());
    } else {
      const size_t word_end = std::min(text_.find(' ', at_), end);
      paths.emplace_back(text_.substr(at_, word_end - at_));
      at_ = word_end;
    }
    separated = false;
  }
  at_ = end;
  return paths;
}

std::string TextCursor::position(size_t place) const {
  const std::string_view before = text_.substr(0, place);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t start = before.rfind('\n');
  const size_t column = place - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return file_ + ":" + std::to_string(line) + ":" + std::to_string(column);
}

void TextCursor::expected(const std::string& what) {
  if (!ok()) return;
  skip_space();
  std::string found = "the end of the text";
  if (at_ < text_.size()) {
    size_t end = at_ + 1;
    if (is_word(text_[at_]))
      while (end < text_.size() && is_word(text_[end]) && end - at_ < 40) ++end;
    found = "'" + std::string(text_.substr(at_, end - at_)) + "'";
  }
  fault(at_, "found " + found + " where " + what + " is expected");
}

void TextCursor::fault(size_t place, const std::string& found) {
  fail_with(fail(Code::ir_syntax).because(found), place);
}

void TextCursor::fail_with(Diagnostic diagnostic, size_t place) {
  if (!ok()) return;
  diagnostic.place = position(place);
  error_ = Error(std::move(diagnostic));
}

}  // namespace ge

// A place in IR text, with the tokens and faults that the parser needs. Entry: TextCursor.
// Invariant: after the first fault everything it gives is empty and nothing moves, so callers check ok() once
// in a while.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ge {

class TextCursor {
 public:
  TextCursor(std::string_view text, std::string_view file) : text_(text), file_(file) {}
  bool ok() const { return !error_.has_value(); }
  Error error() const { return *error_; }

  size_t place() const { return at_; }
  size_t skip_space();  // spaces, newlines, // comments; gives the place after them
  bool at_end() { return skip_space() == text_.size(); }
  char peek() { return skip_space() < text_.size() && ok() ? text_[at_] : '\0'; }

  bool take(std::string_view token);      // punctuation
  bool take_word(std::string_view word);  // a word that does not go on
  bool looking_at(std::string_view word);
  void expect(std::string_view token);
  void expect_word(std::string_view word);
  template <class First, class Next>
  std::string_view word(First first, Next next, const std::string& what) {
    skip_space();
    if (!ok() || at_ == text_.size() || !first(text_[at_])) return expected(what), std::string_view();
    const size_t start = at_;
    while (at_ < text_.size() && next(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  std::string string();  // "..." with its escapes undone
  int64_t integer();
  // Text up to one of `ends` outside parentheses and single quotes.
  std::string_view until(std::string_view ends);
  // The paths of a comment on the rest of this line: "// /nodes/2 + /nodes/3". Empty for any other comment.
  std::vector<std::string> trailing_sources();

  void expected(const std::string& what);              // "found X where WHAT is expected", here
  void fault(size_t place, const std::string& found);  // ir_syntax
  void fail_with(Diagnostic diagnostic, size_t place);
  std::string position(size_t place) const;  // "file:3:7"

 private:
  std::string_view text_;
  std::string file_;
  size_t at_ = 0;
  size_t skipped_to_ = SIZE_MAX;  // where skip_space ended
  size_t token_end_ = 0;          // where the token before it ended
  std::optional<Error> error_;
};

}  // namespace ge

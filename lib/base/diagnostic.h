// What is said to a user: one Diagnostic per fault, an Error is one or more of them.
// Entry: fail(Code) starts a Diagnostic; its setters chain. Invariant: every Diagnostic has a code from
// error_codes.def.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ge {

// Decides the process exit code: user 1, usage 2, environment 3, mismatch 4, bug 70.
enum class ErrorKind : uint8_t { kUser = 1, kUsage = 2, kEnvironment = 3, kMismatch = 4, kBug = 70 };

enum class Code : uint16_t {
#define GE_ERROR(number, kind, name, title) name = number,
#include "base/error_codes.def"
#undef GE_ERROR
};

ErrorKind kind_of(Code code);
std::string_view title_of(Code code);  // "axis is out of range"
std::string code_string(Code code);    // "E0312"
constexpr int exit_code(ErrorKind kind) {
  return static_cast<int>(kind);
}

// One fault. Rendered by apps/common as
//   error[E0312]: softmax axis is out of range
//     graph.json:14:37  /nodes/3/attributes/axis
//     found 4; %y has rank 3, allowed -3 .. 2
//     fix: use -1 for the last dimension
struct Diagnostic {
  Code code = Code::internal;
  std::string message;              // first line; the code's title where empty
  std::string place;                // "graph.json:14:37" or a file path; may be empty
  std::string path;                 // JSON pointer, ONNX node name or plan record path; may be empty
  std::string found;                // what was found and what is allowed
  std::string fix;                  // what to do
  std::vector<std::string> frames;  // context, innermost first: "while reading graph.json"

  Diagnostic&& say(std::string text) && {
    message = std::move(text);
    return std::move(*this);
  }
  Diagnostic&& at(std::string where) && {
    place = std::move(where);
    return std::move(*this);
  }
  Diagnostic&& in(std::string pointer) && {
    path = std::move(pointer);
    return std::move(*this);
  }
  Diagnostic&& because(std::string text) && {
    found = std::move(text);
    return std::move(*this);
  }
  Diagnostic&& try_(std::string text) && {
    fix = std::move(text);
    return std::move(*this);
  }
};

// Texts of more than 4096 bytes (names in a file have any length) cut to that, their ends and how long they
// were kept.
Diagnostic shortened(Diagnostic diagnostic);
std::string shortened(std::string_view text);  // one of them; a name before it is put in one

inline Diagnostic fail(Code code) {
  Diagnostic d;
  d.code = code;
  return d;
}

// "error[E0312]: ..." on several lines, no colour, no trailing newline.
std::string to_string(const Diagnostic& diagnostic);

// The text with its control characters, other than line ends and tabs, as \x1b: names come from files, and
// what goes to a terminal must not move its cursor.
std::string visible(std::string_view text);

// Of `candidates`, the one nearest to `word` by edit distance (letters left out, added, wrong or swapped), or
// "" where none is near: distance <= max(1, size/3), or a word of up to 3 letters with two more behind it;
// and words that share no letter are not near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace ge

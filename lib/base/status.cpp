// Error: its kind is that of its gravest diagnostic; its text is that of all of them.
#include "base/status.h"

namespace ge {
namespace {

// A bug hides everything else; then what the machine lacks; then how ge was called; then what was computed;
// then the model.
int gravity(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kBug:
      return 4;
    case ErrorKind::kEnvironment:
      return 3;
    case ErrorKind::kUsage:
      return 2;
    case ErrorKind::kMismatch:
      return 1;
    case ErrorKind::kUser:
      return 0;
  }
  return 4;
}

}  // namespace

ErrorKind Error::kind() const {
  ErrorKind gravest = kind_of(list_.front().code);
  for (const Diagnostic& d : list_) {
    const ErrorKind kind = kind_of(d.code);
    if (gravity(kind) > gravity(gravest)) gravest = kind;
  }
  return gravest;
}

Error Error::with_frame(const std::string& frame) && {
  for (Diagnostic& d : list_) d.frames.push_back(frame);
  return std::move(*this);
}

std::string Error::to_string() const {
  std::string text;
  for (const Diagnostic& d : list_) {
    if (!text.empty()) text += "\n\n";
    text += ge::to_string(d);
  }
  return text;
}

}  // namespace ge

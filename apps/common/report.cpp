#include "common/report.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/bytes.h"
#include "base/text.h"
#include "platform/file.h"

namespace ge {
namespace {

// The first line up to its colon in bold red: "error[E0312]:".
std::string coloured(const std::string& text) {
  const size_t colon = text.find("]:");
  if (colon == std::string::npos) return text;
  return "\033[1;31m" + text.substr(0, colon + 2) + "\033[0m" + text.substr(colon + 2);
}

}  // namespace

void tell(std::string_view line) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

bool use_colour(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(descriptor) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

int report(const Error& error) {
  const bool colour = use_colour(STDERR_FILENO);
  for (const Diagnostic& d : error.list()) tell(colour ? coloured(to_string(d)) : to_string(d));
  if (error.list().size() > 1) tell(std::to_string(error.list().size()) + " errors");
  return exit_code(error.kind());
}

int print_and_end(std::string_view text) {
  const Status written = write_stdout(as_bytes(text));
  return written.ok() ? 0 : report(written.error());
}

void note(std::string_view text) {
  tell("note: " + visible_line(text));
}

}  // namespace ge

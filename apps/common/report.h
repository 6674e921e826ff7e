// Rendering of diagnostics on standard error, the colour rule and the exit code. Entry: report.
// Colour only on a terminal and never with NO_COLOR; the same text otherwise.
#pragma once
#include <string_view>

#include "base/status.h"

namespace ge {

bool use_colour(int descriptor);  // a terminal, and NO_COLOR is not set
// Prints every diagnostic of the error; returns the process exit code of its kind.
int report(const Error& error);
// Writes a text to standard output; the exit code: 0, or what report() gives where it cannot be written.
int print_and_end(std::string_view text);
// A line of talk on standard error. Where that cannot be written the talk is lost, and nothing else:
// fmt::print would throw.
void tell(std::string_view line);
void note(std::string_view text);  // "note: ..." on standard error

}  // namespace ge

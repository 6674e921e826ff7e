// Finds the places of faults that were raised far from the text: later stages know a node's JSON pointer, not
// the line of its third input. Entry: locate.
#pragma once
#include <string>

#include "base/bytes.h"
#include "base/status.h"

namespace ge {

// Sets the place of every diagnostic whose path is a JSON pointer ("/nodes/3/attributes/axis") to line and
// column of the deepest part of it that stands in `text`. Diagnostics of other kinds, and all where the text
// does not parse, stay as they are. They are sorted by place then.
Error locate(Error error, ByteSpan text, const std::string& display_name);

// Sorts by the line and column that places end in ("graph.json:14:37"); those without one come first. Stable.
void sort_by_place(Error& error);

}  // namespace ge

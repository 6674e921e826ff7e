// Names as people may read them: ONNX texts are any bytes, and nodes may share names. Entry: printable,
// NameTable. Invariant: printable() is one to one, so different names stay different.
#pragma once
#include <string>
#include <string_view>

#include "base/name_map.h"

namespace ge::onnx_wire {

// The text itself where it is UTF-8 without control characters; else with "\xNN" for each byte that is not.
std::string printable(std::string_view text);

// Names that are taken.
class NameTable {
 public:
  bool take(const std::string& name) { return taken_.insert(name).second; }  // false where it was taken
  // `name`, or "name#2", "name#3", ...: the first that was free, taken now.
  std::string unique(const std::string& name);

 private:
  NameSet<std::string> taken_;
  NameMap<std::string, int> last_;  // suffixes tried so far
};

}  // namespace ge::onnx_wire

// The records of a step that name nodes.
#include "contract/source_nodes.h"

#include "base/text.h"

namespace ge {

const std::vector<std::string>& source_nodes(const Step& s) {
  static const std::vector<std::string> kNone;
  if (!s.launch.empty()) return s.launch[0].source_nodes;
  if (!s.copy.empty()) return s.copy[0].source_nodes;
  if (!s.fill.empty()) return s.fill[0].source_nodes;
  if (!s.read_dims.empty()) return s.read_dims[0].source_nodes;
  return kNone;
}

std::string join_nodes(const std::vector<std::string>& nodes) {
  return joined(nodes, " + ");
}

}  // namespace ge

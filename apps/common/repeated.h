// Names that flags like --dim NAME=N may give once: first_repeated.
#pragma once
#include <set>
#include <string>

namespace ge {

// The first name that stands twice in the list, "" where none does; entries without a name may repeat.
template <class List, class NameOf>
std::string first_repeated(const List& list, NameOf&& name_of) {
  std::set<std::string> seen;
  for (const auto& entry : list) {
    const std::string name = name_of(entry);
    if (!name.empty() && !seen.insert(name).second) return name;
  }
  return "";
}

}  // namespace ge

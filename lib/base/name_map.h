// Tables whose keys come from files: names of values, nodes and functions. Entry: NameMap, NameSet. Ordered,
// so that no choice of names makes them slow: std::hash has a seed that is known, and names whose hashes are
// the same are easily made, a walk over all of them at every look-up.
#pragma once
#include <functional>
#include <map>
#include <set>

namespace ge {

template <class Name, class T>
using NameMap = std::map<Name, T, std::less<>>;
template <class Name>
using NameSet = std::set<Name, std::less<>>;

}  // namespace ge

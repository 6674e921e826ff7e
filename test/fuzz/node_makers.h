// Operands and attributes for one node of an operator. Entry: make_node. Operators whose row says enough get
// generic operands (broadcasting with each other) and attributes by name; those that need care have a maker
// of their own in the tables of node_makers_*.cpp.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "fuzz/graph_maker.h"

namespace ge::test {

using NodeMaker = std::optional<NodeSpec> (*)(GraphMaker& m, const Operator& op);
using NodeMakers = std::map<std::string, NodeMaker>;

// nullopt where nothing fits; what it gives may still be refused by lowering.
std::optional<NodeSpec> make_node(GraphMaker& m, const Operator& op);

const NodeMakers& math_makers();   // products, windows, normalizations, reductions
const NodeMakers& shape_makers();  // movement of data, shapes as values
const NodeMakers& rare_makers();   // losses, grids, regions, transforms
const NodeMakers& model_makers();  // attention, rotary positions, com.microsoft

// Shared by the makers.
DTypeSet allowed_for_input(const Operator& op, size_t input);
AttrMap random_attributes(GraphMaker& m, const Operator& op, int64_t rank);
int64_t some_axis(GraphMaker& m, int64_t rank);  // also negative
std::vector<int64_t> some_axes(GraphMaker& m, int64_t rank, bool may_be_empty = false);

}  // namespace ge::test

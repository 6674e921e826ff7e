// What rewrites share. Entry: replace_value, only_user, merge_sources, remove_dead_nodes, uniform_constant.
#pragma once
#include <optional>
#include <string>

#include "compiler/ir/graph.h"

namespace ge {

// The node that alone uses `v`, once; nothing where there is none, or where `v` is an output.
std::optional<NodeId> only_user(const Graph& graph, ValueId v);
// Every use of `from` becomes `to`, whose producer takes over the sources of from's. False, and nothing
// happens, where their types differ (dims that are only asserted to be equal).
bool replace_value(Graph& graph, ValueId from, ValueId to);
// Removes every node that no output needs. Linear.
void remove_dead_nodes(Graph& graph);
// Appends the sources that are not there yet, up to 256 in all.
void merge_sources(std::vector<Source>& into, const std::vector<Source>& more);

// The constant that `v` repeats in every element, through broadcasts, reshapes and transposes: null where
// there is none. The element is the first of the tensor's bytes.
const TensorData* uniform_constant(const Graph& graph, ValueId v);
// `v` is `value` in every element, bit for bit (so 0.0 is not -0.0).
bool is_uniform(const Graph& graph, ValueId v, double value);

}  // namespace ge

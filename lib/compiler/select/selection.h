// What selection decides: for every node that moves or computes something, the launches that do it and why
// these. Entry: select. A pure function of graph, target and tuning database; it never looks at the machine.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/codegen/loop_nest.h"
#include "compiler/ir/graph.h"
#include "compiler/select/value_views.h"
#include "compiler/target/target.h"
#include "contract/kernel_desc.h"

namespace ge {

struct LaunchOperand {
  ValueId value = kNone;       // kNone: an absent optional operand, or scratch
  StridedView view;            // resolved down to the root it lives in
  int32_t output = -1;         // >= 0: this graph output's own buffer (value then says what it holds)
  bool scratch = false;        // bytes of its own for this launch: view.dims and dtype say how many
  DType dtype = DType::uint8;  // scratch only
};
struct LaunchGeometry {
  std::array<Dim, 3> grid{1, 1, 1};                         // blocks
  std::array<int64_t, 3> block{1, 1, 1}, cluster{1, 1, 1};  // threads; blocks
  Dim dynamic_shared_memory;                                // bytes a block
};
// A kernel to launch on views of values. Built-in and library rows are named; a loop brings its nest, pack
// generates its code.
struct LaunchSpec {
  const KernelRow* row = nullptr;  // null: a generated loop
  std::shared_ptr<const LoopNest> nest;
  std::vector<LaunchOperand> operands;  // as the row's or the nest's operands
  Dims domain;                          // loops: extents of the nest's axes, after merging
  Attrs attrs;                          // sorted by name
  LaunchGeometry geometry;              // rows on CUDA; loops get theirs from their variants
  double flops = 0;                     // at the symbols' opt values, for the cost
  Dim flops_dim;                        // the same as an expression
  std::vector<Source> sources;
  // Launched instead where a product has at most `most_rows` rows, ascending: the same operands, its own row,
  // attributes and geometry.
  std::vector<LaunchSpec> few_rows;
  int64_t most_rows = 0;  // of one of those
};
struct Candidate {
  std::string kernel;
  double cost_us = 0;   // where it was not refused
  std::string refused;  // reason; empty: accepted
  bool chosen = false;
  std::string_view preferred_over = {};  // see KernelRow
};
struct NodeSelection {
  NodeId node = kNone;                // kNone: moves a value into an output's buffer
  std::vector<LaunchSpec> launches;   // in order; usually one
  std::vector<Candidate> candidates;  // chosen first, then by cost, then refused
};
struct Selection {
  std::vector<NodeSelection> nodes;  // in topological order, views left out
};
struct SelectOptions {
  bool reference = false;  // -O0 on the CPU: reference rows only
  bool exact = false;
};
// no_kernel for every node that no kernel can run, with each candidate's reason.
Result<Selection> select(const Graph& graph, const ValueViews& views, const Target& target,
                         const SelectOptions& options);
// The table of --explain.
std::string explain(const Graph& graph, const Selection& selection, const Target& target);

}  // namespace ge

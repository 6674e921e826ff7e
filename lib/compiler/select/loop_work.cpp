// Loops are described on as few axes as their operands allow.
#include "compiler/select/loop_work.h"

#include <algorithm>

#include "compiler/select/cost.h"

namespace ge {
namespace {

// Axis a and a + 1 of the domain are one for every operand (and no instruction asks for a position on them).
bool can_merge(const LaunchSpec& spec, size_t a) {
  for (const LaunchOperand& o : spec.operands) {
    const StridedView& v = o.view;
    if (!(v.dims[a + 1] == spec.domain[a + 1]) ||
        !(v.dims[a] == spec.domain[a])) {  // row-level operands: units on row axes
      if (v.dims[a].is_value(1) && v.dims[a + 1].is_value(1)) continue;
      return false;
    }
    if (!(v.strides[a] == v.strides[a + 1] * v.dims[a + 1])) return false;
  }
  return true;
}

void drop_axis(LaunchSpec& spec, LoopProgram& program, size_t a) {
  spec.domain.erase(spec.domain.begin() + static_cast<long>(a));
  for (LaunchOperand& o : spec.operands) {
    o.view.dims.erase(o.view.dims.begin() + static_cast<long>(a));
    o.view.strides.erase(o.view.strides.begin() + static_cast<long>(a));
  }
  a < program.outer_rank ? --program.outer_rank : --program.row_rank;
  for (LoopInstruction& in : program.code)
    if (in.op == static_cast<uint16_t>(LoopOp::kIndex) && in.imm > a) --in.imm;
}

// Fewer axes mean longer runs: drops units and merges neighbours.
void simplify_axes(LaunchSpec& spec, LoopProgram& program) {
  const auto indexed = [&](size_t a) {
    return std::any_of(program.code.begin(), program.code.end(), [&](const LoopInstruction& in) {
      return in.op == static_cast<uint16_t>(LoopOp::kIndex) && in.imm == a;
    });
  };
  for (size_t a = spec.domain.size(); a-- > 0;) {
    const bool last_row = a >= program.outer_rank && program.row_rank == 1;
    if (spec.domain[a].is_value(1) && !indexed(a) && !last_row) drop_axis(spec, program, a);
  }
  for (size_t a = spec.domain.size(); a-- > 1;) {
    const bool across = a == program.outer_rank;  // an outer and a row axis never merge
    if (across || indexed(a) || indexed(a - 1) || !can_merge(spec, a - 1)) continue;
    spec.domain[a] = spec.domain[a - 1] * spec.domain[a];
    for (LaunchOperand& o : spec.operands) o.view.dims[a] = o.view.dims[a - 1] * o.view.dims[a];
    drop_axis(spec, program, a - 1);
  }
}

// Gives the work its nest, on the fewest axes, and its cost figures; the operands are resolved already.
void finish_loop(const Graph& graph, Work& w, LoopNest nest) {
  w.spec.domain = nest.domain;
  const Dim elements = product(nest.domain);
  simplify_axes(w.spec, nest.program);
  w.spec.flops_dim = elements * Dim(static_cast<int64_t>(std::max(1.0, nest.operations_per_element)));
  w.spec.flops = static_cast<double>(opt_value(graph, w.spec.flops_dim));
  w.spec.nest = std::make_shared<LoopNest>(std::move(nest));
}

}  // namespace

Result<Work> loop_work(const Graph& graph, const ValueViews& views, const Graph& body,
                       const std::vector<ValueId>& operands, const std::vector<ValueId>& results,
                       bool exact) {
  GE_ASSIGN(LoopNest nest, build_loop_nest(body, exact));
  Work w{"", {}, {}, {}};
  for (size_t i = 0; i < nest.operands.size(); ++i) {
    const LoopNest::Binding& b = nest.operands[i];
    OperandView view{b.output ? results[b.index] : operands[b.index], nest.domain, b.axes};
    if (nest.program.operands[i].row_level)
      for (size_t a = nest.program.outer_rank; a < view.domain.size(); ++a) view.domain[a] = 1;
    w.spec.operands.push_back({view.value, views.through(view)});
  }
  finish_loop(graph, w, std::move(nest));
  return w;
}

Result<Work> copy_work(const Graph& graph, LaunchOperand from, LaunchOperand to, std::vector<Source> sources,
                       bool prefer_loops) {
  const Type type{graph.type(from.value).dtype, from.view.dims};
  // Two 4-bit elements share a byte: only the cast kernels know how to move them.
  const bool nibbles = bits_of(type.dtype) < 8;
  Work w{nibbles ? "cast" : prefer_loops ? "" : "copy", {}, {}, {}};
  w.spec.operands = {std::move(from), std::move(to)};
  w.spec.sources = std::move(sources);
  if (nibbles || !prefer_loops) return w;
  Graph body;
  body.symbols = graph.symbols;
  body.add_output(body.add_input("x", type), "y");
  GE_ASSIGN(LoopNest nest, build_loop_nest(body, false));
  finish_loop(graph, w, std::move(nest));
  return w;
}

}  // namespace ge

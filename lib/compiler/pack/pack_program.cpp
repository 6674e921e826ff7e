#include "compiler/pack/pack_program.h"

#include <algorithm>
#include <map>

#include "compiler/pack/loop_kernels.h"
#include "compiler/pack/memory_plan.h"
#include "compiler/select/cost.h"
#include "numeric/convert.h"

namespace ge {
namespace {

std::vector<std::string> source_names(const std::vector<Source>& sources) {
  std::vector<std::string> names;
  for (const Source& s : sources) names.push_back(s.name.empty() ? s.path : s.name);
  return names;
}

Dim size_bytes(DType dtype, const Dims& dims) {
  const int bits = bits_of(dtype);
  return bits >= 8 ? product(dims) * Dim(bits / 8) : Dim::ceil_div(product(dims) * Dim(bits), 8);
}

DType accumulated(DType dtype) {
  return is_float(dtype) && bits_of(dtype) < 32 ? DType::float32 : dtype;
}

class Packer {
 public:
  Packer(const Graph& graph, const ValueViews& views, const Selection& selection, const Target& target,
         const PackOptions& options, PlanAssembler& assembler)
      : graph_(graph),
        views_(views),
        target_(target),
        options_(options),
        assembler_(assembler),
        loops_(graph, target, options.exact) {
    for (const NodeSelection& node : selection.nodes)
      for (const LaunchSpec& launch : node.launches) launches_.push_back(&launch);
  }

  Result<Program> pack() {
    program_.target = std::string(target_.name);
    declare_symbols();
    declare_ports();
    find_lifetimes();
    share_in_place();
    place_arena();
    GE_TRY(check_overflow({}));
    for (size_t i = 0; i < launches_.size(); ++i)
      if (launches_[i]->row == nullptr && !is_plain_copy(*launches_[i]))
        loop_of_[i] = loops_.add(*launches_[i], in_place_[i]);
    GE_TRY(loops_.generate(assembler_, options_.ptx, options_.cuda_source));
    for (size_t i = 0; i < launches_.size(); ++i) GE_TRY(emit(i));
    for (const Graph::Assertion& a : graph_.assertions) {
      program_.assertions.push_back(
          {{expr(a.lhs), Relation::kEqual, expr(a.rhs)}, a.message, source_names({a.source})});
      GE_TRY(check_overflow({a.source}));
    }
    return std::move(program_);
  }

 private:
  // -- symbols and expressions --
  void declare_symbols() {
    for (const auto& [name, range] : graph_.all_symbols()) {
      symbol_index_[name] = static_cast<uint32_t>(program_.symbols.size());
      program_.symbols.push_back({name, range.min, range.max, range.opt});
    }
  }
  // A dim that overflowed has no tokens; check_overflow refuses it once it is known whose it is.
  ExprId expr(const Dim& dim) {
    overflowed_ |= dim.overflowed();
    return program_.exprs.add(dim.tokens(symbol_index_));
  }
  Status check_overflow(const std::vector<Source>& sources) const {
    if (!overflowed_) return {};
    const Source source = sources.empty() ? Source{} : sources.front();
    return fail(Code::size_overflow)
        .say("a size, an offset or a stride of this node overflows 64 bits")
        .at(source.place)
        .in(source.path);
  }
  // For people alone: left out where it overflows.
  ExprId figure(const Dim& dim) { return dim.overflowed() ? kNoExpr : expr(dim); }
  std::vector<ExprId> exprs(const Dims& dims) {
    std::vector<ExprId> ids;
    for (const Dim& d : dims) ids.push_back(expr(d));
    return ids;
  }

  // -- buffers --
  uint32_t add_buffer(Buffer buffer) {
    program_.buffers.push_back(std::move(buffer));
    return static_cast<uint32_t>(program_.buffers.size() - 1);
  }
  void declare_ports() {
    for (const ValueId v : graph_.inputs) {
      const Type& type = graph_.type(v);
      const uint32_t buffer = add_buffer({.name = graph_.value(v).name,
                                          .region = Region::kInput,
                                          .size_bytes = expr(size_bytes(type.dtype, type.dims))});
      buffer_of_[v] = buffer;
      program_.signature.inputs.push_back(
          {graph_.value(v).name, type.dtype, exprs(type.dims), buffer, input_hint(v)});
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const Type& type = graph_.type(graph_.outputs[i]);
      const uint32_t buffer = add_buffer({.name = graph_.output_names[i],
                                          .region = Region::kOutput,
                                          .size_bytes = expr(size_bytes(type.dtype, type.dims))});
      output_buffers_.push_back(buffer);
      if (views_.root_of_output(i) != kNone) buffer_of_[views_.root_of_output(i)] = buffer;
      program_.signature.outputs.push_back(
          {graph_.output_names[i], type.dtype, exprs(type.dims), buffer, {}});
    }
  }

  static bool takes_indices(std::string_view kernel) {
    return kernel.starts_with("gather_") || kernel.starts_with("scatter_");
  }
  // Keeps generated inputs sane: an input that only serves as indices stays in the smallest range of the axes
  // it indexes.
  PortHint input_hint(ValueId input) const {
    if (is_bool(graph_.type(input).dtype)) return {"bool", 0, 1};
    double limit = -1;
    for (const LaunchSpec* launch : launches_) {
      if (launch->row == nullptr || !takes_indices(launch->row->name) ||
          launch->operands[1].view.root != input)
        continue;
      const LaunchOperand& data = launch->operands[0];
      const auto axis = static_cast<size_t>(attr_int(launch->attrs, "axis", 0));
      const double extent = static_cast<double>(data.view.dims[axis].bounds(graph_.symbols).min);
      limit = limit < 0 ? extent : std::min(limit, extent);
    }
    return limit < 0 ? PortHint{} : PortHint{"index", 0, limit};
  }

  // -- lifetimes and the arena --
  bool is_arena_root(ValueId root) const {
    const Node* producer = graph_.producer(root);
    return producer != nullptr && producer->op != Op::constant && buffer_of_.count(root) == 0;
  }
  void find_lifetimes() {
    in_place_.resize(launches_.size());
    for (uint32_t step = 0; step < launches_.size(); ++step) {
      in_place_[step].assign(launches_[step]->operands.size(), -1);
      for (const LaunchOperand& o : launches_[step]->operands) {
        if (o.scratch || o.value == kNone || o.output >= 0 || !is_arena_root(o.view.root)) continue;
        const auto [it, fresh] = root_life_.emplace(o.view.root, Life{step, step});
        it->second.last = step;
      }
    }
  }

  // A loop's output may take the bytes of an operand that dies there and that it walks in the same way.
  void share_in_place() {
    for (uint32_t step = 0; step < launches_.size(); ++step) {
      const LaunchSpec& launch = *launches_[step];
      if (launch.row != nullptr) continue;
      for (size_t out = 0; out < launch.operands.size(); ++out) {
        if (!launch.nest->operands[out].output || !stored_last(launch, out)) continue;
        for (size_t in = 0; in < launch.operands.size(); ++in)
          if (!launch.nest->operands[in].output && may_share(step, launch, in, out)) {
            in_place_[step][out] = static_cast<int8_t>(in);
            share(launch.operands[out].view.root, launch.operands[in].view.root);
            break;
          } else if (!launch.nest->operands[in].output &&
                     updates(launch.operands[in], launch.operands[out])) {
            in_place_[step][out] = static_cast<int8_t>(in);
          }
      }
    }
  }
  // The loop reads and writes one value, element by element.
  static bool updates(const LaunchOperand& in, const LaunchOperand& out) {
    return in.value != kNone && in.value == out.value && out.output < 0 &&
           in.view.offset == out.view.offset && in.view.strides == out.view.strides;
  }
  static bool stored_last(const LaunchSpec& launch, size_t out) {
    const LoopProgram& program = launch.nest->program;
    return std::all_of(program.code.begin(), program.code.end(), [&](const LoopInstruction& in) {
      return in.op != static_cast<uint16_t>(LoopOp::kStore) || in.imm != out ||
             in.sweep + 1 >= program.sweeps;
    });
  }
  bool may_share(uint32_t step, const LaunchSpec& launch, size_t in, size_t out) const {
    const LaunchOperand &a = launch.operands[in], &b = launch.operands[out];
    if (b.output >= 0 || a.value == kNone || !is_arena_root(a.view.root) || !is_arena_root(b.view.root) ||
        a.view.root == b.view.root)
      return false;
    const Life &la = root_life_.at(a.view.root), &lb = root_life_.at(b.view.root);
    if (la.last != step || lb.first != step || shared_.count(b.view.root) != 0) return false;
    const bool same_walk =
        a.view.offset == b.view.offset && a.view.dims == b.view.dims && a.view.strides == b.view.strides;
    const DType ta = graph_.type(a.value).dtype, tb = graph_.type(b.value).dtype;
    if (!same_walk || bits_of(ta) != bits_of(tb) ||
        !(product(graph_.type(a.view.root).dims) == product(graph_.type(b.view.root).dims)))
      return false;
    for (size_t i = 0; i < launch.operands.size(); ++i)  // nobody else looks at those bytes in this launch
      if (i != in && launch.operands[i].value != kNone &&
          home(launch.operands[i].view.root) == home(a.view.root))
        return false;
    return true;
  }
  ValueId home(ValueId root) const {
    const auto it = shared_.find(root);
    return it == shared_.end() ? root : it->second;
  }
  void share(ValueId out, ValueId in) {
    shared_[out] = home(in);  // which is made first, so it takes over nobody's bytes later
    Life& life = root_life_.at(home(in));
    life.last = std::max(life.last, root_life_.at(out).last);
    root_life_.at(in).last = life.last;
  }

  void place_arena() {
    std::vector<Lifetime> lifetimes;
    std::vector<std::pair<ValueId, size_t>> owners;  // root, or (kNone, launch) for scratch
    for (const auto& [root, life] : root_life_) {
      if (shared_.count(root) != 0) continue;
      const Type& type = graph_.type(root);
      const Dim size = size_bytes(type.dtype, type.dims);
      lifetimes.push_back({size, opt_value(graph_, size), life.first, life.last});
      owners.emplace_back(root, 0);
    }
    for (uint32_t step = 0; step < launches_.size(); ++step)
      for (const LaunchOperand& o : launches_[step]->operands)
        if (o.scratch) {
          const Dim size = scratch_bytes(o);
          lifetimes.push_back({size, opt_value(graph_, size), step, step});
          owners.emplace_back(kNone, step);
        }
    const MemoryPlan plan = plan_memory(lifetimes);
    for (const Dim& size : plan.slots) program_.slots.push_back({expr(size)});
    for (size_t i = 0; i < owners.size(); ++i) {
      const auto [root, step] = owners[i];
      const std::string name = root == kNone ? "scratch" : graph_.value(root).name;
      const uint32_t buffer = add_buffer({.name = name,
                                          .region = Region::kArena,
                                          .size_bytes = expr(lifetimes[i].size_bytes),
                                          .slot = plan.places[i].slot,
                                          .offset_bytes = expr(plan.places[i].offset_bytes)});
      if (root == kNone)
        scratch_buffers_[step] = buffer;
      else
        buffer_of_[root] = buffer;
    }
    for (const auto& [out, in] : shared_) buffer_of_[out] = buffer_of_.at(home(in));
  }
  static Dim scratch_bytes(const LaunchOperand& o) {
    Dim elements = 1;
    for (size_t d = 0; d < o.view.dims.size(); ++d)
      if (!o.view.strides[d].is_value(0)) elements = elements * o.view.dims[d];
    return size_bytes(o.dtype, {elements});
  }

  // A constant's buffer: weights, or for a splat bytes that prepare fills.
  Result<uint32_t> constant_buffer(ValueId v) {
    if (const auto known = buffer_of_.find(v); known != buffer_of_.end()) return known->second;
    const TensorData& data = *graph_.constant(v);
    Buffer buffer{.name = graph_.value(v).name,
                  .region = Region::kWeights,
                  .size_bytes = program_.exprs.constant(data.size_bytes())};
    if (data.splat && bits_of(data.dtype) >= 8) {
      buffer.region = Region::kPrepared;
      const uint32_t id = add_buffer(std::move(buffer));
      Dims dims(data.dims.begin(), data.dims.end());
      Step fill{.kind = StepKind::kFill};
      fill.fill.push_back(
          {tensor_ref(id, {v, 0, dims, dense_strides(dims)}, data.dtype), element_bits(data), {}});
      program_.prepare.steps.push_back(std::move(fill));
      return buffer_of_[v] = id;
    }
    GE_ASSIGN(buffer.blob, assembler_.blob(data));
    return buffer_of_[v] = add_buffer(std::move(buffer));
  }
  static uint64_t element_bits(const TensorData& data) {
    uint64_t bits = 0;
    std::memcpy(&bits, data.bytes->data(), static_cast<size_t>(bits_of(data.dtype) / 8));
    return bits;
  }

  // -- launches --
  TensorRef tensor_ref(uint32_t buffer, const StridedView& view, DType dtype) {
    const int bits = bits_of(dtype);
    const Dim offset = bits >= 8 ? view.offset * Dim(bits / 8) : Dim::floor_div(view.offset * Dim(bits), 8);
    return {buffer, expr(offset), dtype, exprs(view.dims), exprs(view.strides)};
  }
  Result<TensorRef> ref(size_t step, const LaunchOperand& o) {
    if (o.scratch) return tensor_ref(scratch_buffers_.at(step), o.view, o.dtype);
    if (o.output >= 0)
      return tensor_ref(output_buffers_[static_cast<size_t>(o.output)], o.view, graph_.type(o.value).dtype);
    if (o.value == kNone) return TensorRef{};
    uint32_t buffer = 0;
    if (graph_.is_constant(o.view.root)) {
      GE_ASSIGN(buffer, constant_buffer(o.view.root));
    } else
      buffer = buffer_of_.at(o.view.root);
    return tensor_ref(buffer, o.view, graph_.type(o.value).dtype);
  }

  // A dense value into an output's buffer: a Copy step, no kernel.
  static bool is_plain_copy(const LaunchSpec& launch) {
    return launch.operands.size() == 2 && launch.operands[1].output >= 0 && is_dense(launch.operands[0].view);
  }

  Status emit(size_t index) {
    const LaunchSpec& spec = *launches_[index];
    Step step;
    if (is_plain_copy(spec)) {
      step.kind = StepKind::kCopy;
      GE_ASSIGN(TensorRef from, ref(index, spec.operands[0]));
      GE_ASSIGN(TensorRef to, ref(index, spec.operands[1]));
      step.copy.push_back({std::move(from), std::move(to), source_names(spec.sources)});
    } else {
      GE_ASSIGN(Launch launch, make_launch(index, spec));
      launch.dependent_launch = may_start_early(spec);
      step.launch.push_back(std::move(launch));
    }
    program_.run.steps.push_back(std::move(step));
    return check_overflow(spec.sources);
  }

  // One of its kernels waits by itself, and what stands before it is a launch.
  bool may_start_early(const LaunchSpec& spec) const {
    const auto& steps = program_.run.steps;
    return target_.arch >= 90 && !steps.empty() && steps.back().kind == StepKind::kLaunch &&
           (waits(spec) || std::any_of(spec.few_rows.begin(), spec.few_rows.end(), waits));
  }
  static bool waits(const LaunchSpec& spec) { return spec.row == nullptr || spec.row->waits_for_predecessor; }
  Result<Launch> make_launch(size_t index, const LaunchSpec& spec) {
    Launch launch;
    std::vector<TensorRef> operands;
    for (const LaunchOperand& o : spec.operands) {
      GE_ASSIGN(TensorRef r, ref(index, o));
      operands.push_back(std::move(r));
    }
    if (spec.row != nullptr) {
      for (const LaunchSpec& few : spec.few_rows) {
        launch.choices.push_back(row_choice(few, operands));
        launch.choices.back().guard.push_back(
            {expr(spec.operands[3].view.dims[0]), Relation::kLessEqual, expr(few.most_rows)});
      }
      launch.choices.push_back(row_choice(spec, operands));
    } else {
      for (const LoopChoice& c : loops_.choices(loop_of_.at(index))) {
        launch.choices.push_back(
            make_choice(c.kernel, operands, c.attrs, c.grid, c.block, c.dynamic_shared_memory));
        for (const DimPredicate& p : c.guard)
          launch.choices.back().guard.push_back({expr(p.lhs), p.relation, expr(p.rhs)});
      }
    }
    launch.source_nodes = source_names(spec.sources);
    launch.flops = figure(spec.flops_dim);
    launch.bytes_read = figure(bytes_touched(graph_, spec, false));
    launch.bytes_written = figure(bytes_touched(graph_, spec, true));
    for (size_t i = spec.operands.size(); i-- > 0;) {
      if (spec.operands[i].value == kNone) continue;
      const DType dtype = graph_.type(spec.operands[i].value).dtype;
      (is_output_operand(spec, i) ? launch.type_written : launch.type_read) = dtype;
    }
    launch.type_accumulated = accumulated(launch.type_read);
    return launch;
  }
  // Of a built-in row, on a launch's operands.
  Choice row_choice(const LaunchSpec& spec, std::vector<TensorRef> operands) {
    operands.resize(spec.row->operands.size());
    Choice choice = make_choice(assembler_.builtin_kernel(*spec.row), std::move(operands), spec.attrs,
                                spec.geometry.grid, spec.geometry.block, spec.geometry.dynamic_shared_memory);
    choice.cluster = spec.geometry.cluster;
    return choice;
  }
  Choice make_choice(uint32_t kernel, std::vector<TensorRef> operands, Attrs attrs,
                     const std::array<Dim, 3>& grid, std::array<int64_t, 3> block, const Dim& shared) {
    Choice choice;
    choice.kernel = kernel;
    choice.operands = std::move(operands);
    choice.attrs = std::move(attrs);
    for (size_t i = 0; i < 3; ++i) choice.grid[i] = expr(grid[i]);
    choice.block = block;
    choice.dynamic_shared_memory = expr(shared);
    return choice;
  }

  struct Life {
    uint32_t first = 0, last = 0;
  };
  const Graph& graph_;
  const ValueViews& views_;
  const Target& target_;
  const PackOptions& options_;
  PlanAssembler& assembler_;
  Program program_;
  bool overflowed_ = false;  // an expression of the program
  std::vector<const LaunchSpec*> launches_;
  std::vector<std::vector<int8_t>> in_place_;  // by launch, operand
  std::map<std::string, uint32_t> symbol_index_;
  std::map<ValueId, uint32_t> buffer_of_;  // root value -> buffer
  std::vector<uint32_t> output_buffers_;
  std::map<ValueId, Life> root_life_;
  std::map<ValueId, ValueId> shared_;           // root -> the first root that had its bytes
  std::map<size_t, uint32_t> scratch_buffers_;  // by launch
  std::map<size_t, size_t> loop_of_;            // launch -> loop
  LoopKernels loops_;
};

}  // namespace

Result<Program> pack_program(const Graph& graph, const ValueViews& views, const Selection& selection,
                             const Target& target, const PackOptions& options, PlanAssembler& assembler) {
  return Packer(graph, views, selection, target, options, assembler).pack();
}

}  // namespace ge

// Views, launches and the other steps under one set of dims.
#include "contract/bind_steps.h"

#include <algorithm>

#include "base/checked_math.h"
#include "base/text.h"
#include "contract/args_pack.h"
#include "contract/source_nodes.h"
#include "contract/view_bounds.h"

namespace ge {
namespace {

Diagnostic refused(std::string why) {
  return fail(Code::launch_refused).because(std::move(why));
}

// Every tensor that a step names, in order.
template <class F>
void each_tensor(const Step& step, F&& f) {
  for (const Launch& l : step.launch)
    for (const Choice& c : l.choices) std::ranges::for_each(c.operands, f);
  for (const Copy& c : step.copy) f(c.from), f(c.to);
  for (const Fill& fill : step.fill) f(fill.to);
  for (const ReadDims& r : step.read_dims) f(r.from);
  for (const If& i : step.if_) f(i.cond);
  for (const Loop& l : step.loop) f(l.trip), f(l.cond), std::ranges::for_each(l.carried, f);
}

template <class F>
void each_step(const Program& program, F&& f) {
  std::ranges::for_each(program.prepare.steps, f);
  std::ranges::for_each(program.run.steps, f);
  for (const Block& block : program.blocks) std::ranges::for_each(block.steps, f);
}

std::string dims_text(const TensorView& view) {
  std::string text = "[";
  for (int i = 0; i < view.rank; ++i) text += (i ? ", " : "") + std::to_string(view.dims[i]);
  return text + "]";
}

Status require_dense(const BoundView& view, const char* what) {
  return is_contiguous(view.view) ? Status() : Status(refused(std::string(what) + " is not dense"));
}
Status require_count(const BoundView& view, int64_t count, const char* what) {
  if (element_count(view.view) == count) return require_dense(view, what);
  return refused(std::string(what) + " has dims " + dims_text(view.view) +
                 ", needed: " + std::to_string(count) + " elements");
}

}  // namespace

std::string no_size_text(const Buffer& buffer) {
  return (buffer.name.empty() ? "a tensor" : "tensor " + quoted_line(buffer.name)) + " has no valid size";
}

Status StepBinder::block(const Block& block, const std::string& path, BoundBlock& out) {
  out.resize(block.steps.size());
  for (size_t i = 0; i < block.steps.size(); ++i) {
    Status status = step(block.steps[i], out[i]);
    if (status.ok()) continue;
    Error error = std::move(status).take_error();
    std::string what = "while binding step " + std::to_string(i);
    if (!block.steps[i].launch.empty()) {
      what += ", kernel \"" +
              plan_.kernels[block.steps[i].launch[0].choices[out[i].launch.choice].kernel].name + "\"";
    }
    const auto& nodes = source_nodes(block.steps[i]);
    if (!nodes.empty()) what += ", for " + join_nodes(nodes);
    for (Diagnostic& d : error.list()) {
      if (d.path.empty()) d.path = path + "/steps/" + std::to_string(i);
      d.frames.push_back(what);
    }
    return error;
  }
  return {};
}

Status StepBinder::size_fault(uint32_t buffer) {
  Status fault;
  each_step(program_, [&](const Step& step) {
    each_tensor(step, [&](const TensorRef& ref) {
      if (!fault.ok() || ref.buffer != buffer) return;
      TensorView view;
      Status status = dims(ref, view);
      if (status.ok()) return;
      Error error = std::move(status).take_error();
      error.list().front().path = join_nodes(source_nodes(step));
      fault = std::move(error);
    });
  });
  return fault;
}

std::string StepBinder::nodes_of(uint32_t buffer) const {
  std::string text;
  each_step(program_, [&](const Step& step) {
    each_tensor(step, [&](const TensorRef& ref) {
      if (ref.buffer == buffer) text = join_nodes(source_nodes(step));
    });
  });
  return text;
}

// Errors: 'tensor "h" has no valid size', "axis 1 of [batch, h-2]: h-2 is -1 with h = 1 (allowed 0 and up)".
Status StepBinder::dims(const TensorRef& ref, TensorView& out) {
  for (size_t axis = 0; axis < ref.dims.size(); ++axis) {
    auto dim = values_.get_size(ref.dims[axis]);
    if (dim.ok()) {
      out.dims[axis] = *dim;
      continue;
    }
    std::string dims;
    for (const ExprId id : ref.dims) dims += (dims.empty() ? "" : ", ") + values_.text(id);
    Error error = std::move(dim).take_error();
    Diagnostic& d = error.list().front();
    d.message = no_size_text(program_.buffers[ref.buffer]);
    d.found = "axis " + std::to_string(axis) + " of [" + dims + "]: " + d.found;
    return error;
  }
  return {};
}

Status StepBinder::step(const Step& s, BoundStep& out) {
  out.kind = s.kind;
  switch (s.kind) {
    case StepKind::kLaunch:
      return launch(s.launch[0], out.launch);
    case StepKind::kCopy:
      return copy(s.copy[0], out);
    case StepKind::kFill:
      GE_TRY(tensors({s.fill[0].to}, out.first_view, out.view_count));
      return require_dense(binding_.views[out.first_view], "the tensor to fill");
    case StepKind::kReadDims:
      GE_TRY(tensors({s.read_dims[0].from}, out.first_view, out.view_count));
      return require_count(binding_.views[out.first_view],
                           static_cast<int64_t>(s.read_dims[0].symbols.size()), "the list of dims");
    case StepKind::kIf:
      GE_TRY(tensors({s.if_[0].cond}, out.first_view, out.view_count));
      return require_count(binding_.views[out.first_view], 1, "the condition");
    case StepKind::kLoop: {
      std::vector<TensorRef> refs = {s.loop[0].trip, s.loop[0].cond};
      refs.insert(refs.end(), s.loop[0].carried.begin(), s.loop[0].carried.end());
      GE_TRY(tensors(refs, out.first_view, out.view_count));
      for (uint32_t i = 0; i < 2; ++i) {
        const BoundView& view = binding_.views[out.first_view + i];
        if (view.buffer != kNoBuffer) GE_TRY(require_count(view, 1, "the trip count or condition"));
      }
      return {};
    }
  }
  return {};
}

Status StepBinder::copy(const Copy& c, BoundStep& out) {
  GE_TRY(tensors({c.from, c.to}, out.first_view, out.view_count));
  const BoundView &from = binding_.views[out.first_view], &to = binding_.views[out.first_view + 1];
  GE_TRY(require_dense(from, "the source of a copy"));
  GE_TRY(require_dense(to, "the destination of a copy"));
  if (from.view.dtype != to.view.dtype || from.view.rank != to.view.rank ||
      !std::equal(from.view.dims, from.view.dims + from.view.rank, to.view.dims)) {
    return refused("a copy from " + dims_text(from.view) + " to " + dims_text(to.view));
  }
  return overlap(from, to) ? Status(refused("source and destination of a copy overlap")) : Status();
}

// The tensor's view, checked to lie inside its buffer and to be aligned to its elements; appended to
// Binding::views.
Status StepBinder::tensor(const TensorRef& ref) {
  BoundView& out = binding_.views.emplace_back();
  out.view.dtype = ref.dtype;
  out.view.rank = -1;
  if (ref.buffer == kNoBuffer) return {};
  out.buffer = ref.buffer;
  out.view.rank = static_cast<int32_t>(ref.dims.size());
  GE_TRY(dims(ref, out.view));
  GE_ASSIGN(out.offset_bytes, values_.get(ref.offset_bytes));
  MaybeInt count = 1;
  for (size_t i = 0; i < ref.dims.size(); ++i) {
    GE_ASSIGN(out.view.strides[i], values_.get(ref.strides[i]));
    count = count ? checked_mul(*count, std::max<int64_t>(out.view.dims[i], 1)) : count;
  }
  if (is_empty(out.view)) out.offset_bytes = 0;  // nothing is touched: a start past the end is no fault
  const int64_t size = binding_.buffers[ref.buffer].size_bytes;
  const auto range = byte_range(out.view, out.offset_bytes);
  if (!count || !range || range->begin < 0 || range->end > size) {
    return fail(Code::view_out_of_bounds)
        .because("a view " + dims_text(out.view) + " of " + quoted_line(program_.buffers[ref.buffer].name) +
                 " from byte " + std::to_string(out.offset_bytes) + " leaves its " + std::to_string(size) +
                 " bytes");
  }
  if (out.offset_bytes % std::max(bits_of(ref.dtype) / 8, 1) != 0) {
    return fail(Code::view_out_of_bounds)
        .because("a view of " + quoted_line(program_.buffers[ref.buffer].name) +
                 " is not aligned to its elements");
  }
  return {};
}

Status StepBinder::tensors(const std::vector<TensorRef>& refs, uint32_t& first, uint32_t& count) {
  first = static_cast<uint32_t>(binding_.views.size());
  count = static_cast<uint32_t>(refs.size());
  for (const TensorRef& ref : refs) GE_TRY(tensor(ref));
  return {};
}

Status StepBinder::launch(const Launch& l, BoundLaunch& out) {
  for (out.choice = 0; out.choice + 1 < l.choices.size(); ++out.choice) {
    bool all = true;
    for (const Predicate& p : l.choices[out.choice].guard) {
      GE_ASSIGN(const bool holds, values_.holds(p));
      all &= holds;
    }
    if (all) break;
  }
  const Choice& choice = l.choices[out.choice];
  out.kernel = choice.kernel;
  out.attrs = &choice.attrs;
  const KernelDesc* desc = kernels_.entries[choice.kernel].desc;
  if (!desc) return fail(Code::unknown_kernel).because(plan_.kernels[choice.kernel].name);
  GE_TRY(tensors(choice.operands, out.first_view, out.view_count));
  GE_TRY(configure(choice, *desc, out));
  GE_TRY(check_sharing(*desc, out));
  GE_TRY(check_kernel(*desc, out));
  // Figures for people: one that overflows is left at 0.
  const auto figure = [&](ExprId id) {
    if (id == kNoExpr) return int64_t{0};
    const auto value = values_.get(id);
    return value.ok() ? *value : 0;
  };
  out.flops = figure(l.flops);
  out.bytes_read = figure(l.bytes_read);
  out.bytes_written = figure(l.bytes_written);
  return {};
}

Status StepBinder::configure(const Choice& choice, const KernelDesc& desc, BoundLaunch& out) {
  bool writes = false, all_empty = true;
  for (size_t i = 0; i < desc.operands.size(); ++i) {
    const OperandRole role = desc.operands[i].role;
    const TensorView& view = binding_.views[out.first_view + i].view;
    if (view.rank < 0 || (role != OperandRole::kOut && role != OperandRole::kInOut)) continue;
    writes = true;
    all_empty &= is_empty(view);
  }
  out.skip = writes && all_empty;
  out.block = choice.block;
  out.cluster = choice.cluster;
  for (size_t i = 0; i < 3; ++i) {
    GE_ASSIGN(out.grid[i], values_.get_size(choice.grid[i]));
  }
  if (choice.dynamic_shared_memory != kNoExpr) {
    GE_ASSIGN(out.dynamic_shared_memory, values_.get_size(choice.dynamic_shared_memory));
  }
  return out.skip ? Status() : check_geometry(desc, out);
}

Status StepBinder::check_geometry(const KernelDesc& desc, const BoundLaunch& l) const {
  const auto number = [](int64_t v) { return std::to_string(v); };
  for (size_t i = 0; i < 3; ++i) {
    if (l.grid[i] < 1 || l.grid[i] > limits_.max_grid[i]) {
      return refused("axis " + number(static_cast<int64_t>(i)) + " of the grid is " + number(l.grid[i]) +
                     ", allowed 1 .. " + number(limits_.max_grid[i]));
    }
    if (l.block[i] > limits_.max_block[i])
      return refused("axis " + number(static_cast<int64_t>(i)) + " of the block is " + number(l.block[i]) +
                     ", allowed 1 .. " + number(limits_.max_block[i]));
    if (l.grid[i] % l.cluster[i] != 0) return refused("the grid is no multiple of the cluster");
  }
  if (l.block[0] * l.block[1] * l.block[2] >
      std::min<int64_t>(limits_.max_threads_per_block, desc.limits.max_threads))
    return refused("the block has too many threads");
  const int64_t cluster = l.cluster[0] * l.cluster[1] * l.cluster[2];
  if (cluster > 1 && (limits_.arch < 90 || cluster > limits_.max_cluster))
    return refused("the device has no clusters of " + number(cluster) + " blocks");
  const int64_t shared = std::min<int64_t>(desc.limits.dynamic_shared_memory, limits_.max_shared_memory);
  if (l.dynamic_shared_memory > shared)
    return refused("it asks for " + number(l.dynamic_shared_memory) + " bytes of shared memory, allowed " +
                   number(shared));
  return {};
}

// A written tensor may share bytes with another operand only where the kernel says so and both are the same
// view.
Status StepBinder::check_sharing(const KernelDesc& desc, const BoundLaunch& l) const {
  for (size_t i = 0; i < desc.operands.size(); ++i) {
    const OperandDesc& o = desc.operands[i];
    const BoundView& written = binding_.views[l.first_view + i];
    if (o.role == OperandRole::kIn || written.buffer == kNoBuffer) continue;
    if (overlaps_itself(written.view))
      return refused("elements of operand \"" + o.name + "\" overlap one another");
    for (size_t j = 0; j < desc.operands.size(); ++j) {
      const BoundView& other = binding_.views[l.first_view + j];
      if (i == j || other.buffer == kNoBuffer || !overlap(written, other)) continue;
      const bool in_place = o.in_place_of == static_cast<int>(j) && same_layout(written.view, other.view) &&
                            binding_.buffers[written.buffer].offset_bytes + written.offset_bytes ==
                                binding_.buffers[other.buffer].offset_bytes + other.offset_bytes;
      if (!in_place)
        return refused("operands \"" + o.name + "\" and \"" + desc.operands[j].name + "\" overlap");
    }
  }
  return {};
}

bool StepBinder::overlap(const BoundView& a, const BoundView& b) const {
  const auto root = [&](uint32_t buffer) {
    const uint32_t alias = program_.buffers[buffer].alias_of;
    return alias == kNoBuffer ? buffer : alias;
  };
  const Region region_a = program_.buffers[a.buffer].region, region_b = program_.buffers[b.buffer].region;
  const bool one_space =
      region_a == region_b &&
      (region_a == Region::kArena || region_a == Region::kPrepared || region_a == Region::kDeviceBlock);
  const bool same_blob = region_a == Region::kWeights && region_b == Region::kWeights &&
                         program_.buffers[a.buffer].blob == program_.buffers[b.buffer].blob;
  if (!one_space && !same_blob && root(a.buffer) != root(b.buffer)) return false;
  return views_overlap(a.view, binding_.buffers[a.buffer].offset_bytes + a.offset_bytes, b.view,
                       binding_.buffers[b.buffer].offset_bytes + b.offset_bytes);
}

// The kernel's own word on it, and one packing without addresses: a later one cannot fail.
Status StepBinder::check_kernel(const KernelDesc& desc, const BoundLaunch& l) {
  views_.clear();
  for (uint32_t i = 0; i < l.view_count; ++i) {
    const BoundView& bound = binding_.views[l.first_view + i];
    views_.push_back(bound.view);
    views_.back().data = reinterpret_cast<void*>(bound.offset_bytes);  // buffers stand at multiples of 256
  }
  GE_TRY(check_operands(desc, views_));
  for (TensorView& view : views_) view.data = nullptr;
  if (kernels_.loops[l.kernel]) GE_TRY(check_loop_operands(*kernels_.loops[l.kernel], views_));
  if (const LaunchCheck check = kernels_.entries[l.kernel].check) {
    GE_TRY(check(LaunchShape{.operands = views_, .attrs = *l.attrs, .grid = l.grid, .block = l.block}));
  }
  binding_.max_scratch_args = std::max<int64_t>(binding_.max_scratch_args, desc.args_size);
  args_.resize(std::max<size_t>(args_.size(), desc.args_size));
  return pack_args(desc, views_, *l.attrs, nullptr, std::span(args_).first(desc.args_size));
}

}  // namespace ge

// A Binding: dims checked, memory placed, then every step bound.
#include "contract/plan_bind.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/checked_math.h"
#include "base/text.h"
#include "contract/bind_steps.h"
#include "contract/bind_values.h"
#include "contract/source_nodes.h"

namespace ge {
namespace {

class Binder {
 public:
  Binder(const Plan& plan, const PlanKernels& kernels, uint32_t program, std::span<const int64_t> symbols,
         const DeviceLimits& limits)
      : plan_(plan),
        p_(plan.programs[program]),
        path_("/programs/" + std::to_string(program)),
        limits_(limits),
        values_(p_, symbols),
        steps_(plan, kernels, p_, limits, values_, out_) {
    out_.program = program;
    out_.symbols.assign(symbols.begin(), symbols.end());
    out_.buffers.resize(p_.buffers.size());
  }

  Status bind_all() {
    GE_TRY(check_symbol_ranges(p_, out_.symbols));
    GE_TRY(check_ports(p_.signature.inputs, false));
    GE_TRY(assertions());
    GE_TRY(check_ports(p_.signature.outputs, true));
    GE_TRY(arena());
    for (uint32_t i = 0; i < p_.buffers.size(); ++i) GE_TRY(placed(i));
    GE_TRY(ports(p_.signature.inputs, false, out_.inputs));
    GE_TRY(ports(p_.signature.outputs, true, out_.outputs));
    GE_TRY(steps_.block(p_.prepare, path_ + "/prepare", out_.prepare));
    GE_TRY(steps_.block(p_.run, path_ + "/run", out_.run));
    out_.blocks.resize(p_.blocks.size());
    for (size_t i = 0; i < p_.blocks.size(); ++i) {
      GE_TRY(steps_.block(p_.blocks[i], path_ + "/blocks/" + std::to_string(i), out_.blocks[i]));
    }
    return {};
  }

  Status bind_prepare() {
    for (uint32_t i = 0; i < p_.buffers.size(); ++i) {
      const Region region = p_.buffers[i].region;
      if (region == Region::kWeights || region == Region::kPrepared) GE_TRY(placed(i));
    }
    return steps_.block(p_.prepare, path_ + "/prepare", out_.prepare);
  }

  Binding take() { return std::move(out_); }

 private:
  Status assertions() {
    for (const Assertion& a : p_.assertions) {
      const std::string nodes = join_nodes(a.source_nodes);
      auto holds = values_.holds(a.predicate);
      if (!holds.ok()) return told(std::move(holds).take_error(), a.message, "", nodes);
      if (*holds) continue;
      return fail(Code::assertion_failed)
          .in(nodes)
          .because((a.message.empty() ? "" : a.message + ": ") + values_.failure_text(a.predicate));
    }
    return {};
  }

  // `what()` names the memory; it is asked only where there is something to tell.
  template <class What>
  Status count_memory(int64_t bytes, const What& what) {
    const MaybeInt sum = checked_add(total_, bytes);
    if (!sum || *sum > limits_.memory_bytes) {
      const std::string dims = values_.symbols_text();
      return fail(Code::device_memory)
          .because(what() + " takes the plan past the device's " + std::to_string(limits_.memory_bytes) +
                   " bytes" + (dims.empty() ? "" : " with " + dims))
          .try_("use smaller dims");
    }
    total_ = *sum;
    return {};
  }
  // Appends `size` bytes to a block that holds `end` so far; gives their place in it.
  template <class What>
  Result<int64_t> append(int64_t size, int64_t& end, const What& what) {
    const MaybeInt padded = checked_add(size, kBufferAlignment - 1);
    if (!padded) return fail(Code::size_overflow).because(what() + " has " + std::to_string(size) + " bytes");
    const int64_t bytes = *padded / kBufferAlignment * kBufferAlignment, at = end;
    GE_TRY(count_memory(bytes, what));
    end += bytes;  // stays under memory_bytes
    return at;
  }

  Status arena() {
    for (size_t i = 0; i < p_.slots.size(); ++i) {
      auto size = values_.get_size(p_.slots[i].size_bytes);
      if (!size.ok()) return slot_fault(i, std::move(size).take_error());
      GE_ASSIGN(const int64_t at, append(*size, out_.arena_bytes, [&] { return slot_text(i); }));
      slots_.push_back({*size, at});
    }
    return {};
  }

  // What people know of a slot: the largest tensor that lives there.
  std::string slot_text(size_t slot) {
    const Buffer* largest = nullptr;
    int64_t most = -1;
    for (const Buffer& b : p_.buffers) {
      if (b.region != Region::kArena || b.slot != slot) continue;
      const auto size = values_.get(b.size_bytes);
      if (!size.ok() || *size <= most) continue;
      largest = &b;
      most = *size;
    }
    return largest == nullptr || largest->name.empty() ? "scratch memory"
                                                       : "tensor " + quoted_line(largest->name);
  }

  // A slot is as large as its largest tensor: the fault is that of the first tensor without a size.
  Error slot_fault(size_t slot, Error error) {
    for (uint32_t i = 0; i < p_.buffers.size(); ++i) {
      const Buffer& b = p_.buffers[i];
      if (b.region != Region::kArena || b.slot != slot) continue;
      if (auto size = values_.get_size(b.size_bytes); !size.ok())
        return buffer_fault(i, std::move(size).take_error());
    }
    return told(std::move(error), "", "scratch memory: ", path_ + "/slots/" + std::to_string(slot));
  }

  // The first view of the buffer in a step has the dims that people wrote, and the nodes.
  Error buffer_fault(uint32_t index, Error error) {
    if (auto fault = steps_.size_fault(index); !fault.ok()) return std::move(fault).take_error();
    return told(std::move(error), no_size_text(p_.buffers[index]),
                "its bytes: ", path_ + "/buffers/" + std::to_string(index));
  }

  // Says whose size it is, where the fault does not yet.
  static Error told(Error error, const std::string& message, const std::string& before,
                    const std::string& path) {
    for (Diagnostic& d : error.list()) {
      if (d.message.empty()) d.message = message;
      d.found = before + d.found;
      if (d.path.empty()) d.path = path;
    }
    return error;
  }

  static std::string port_text(const Port& port, bool is_output) {
    return (is_output ? "output " : "input ") + quoted_line(port.name);
  }
  // Of an input or output: every dim of it has a value, and so has its size.
  Result<int64_t> port_bytes(const Port& port, bool is_output) {
    MaybeInt bits = bits_of(port.dtype);
    bool is_empty = false;
    for (size_t axis = 0; axis < port.dims.size(); ++axis) {
      auto dim = values_.get_size(port.dims[axis]);
      if (!dim.ok()) {
        return told(std::move(dim).take_error(), port_text(port, is_output) + " has no valid size",
                    "axis " + std::to_string(axis) + ": ", is_output ? steps_.nodes_of(port.buffer) : "");
      }
      is_empty |= *dim == 0;
      bits = bits ? checked_mul(*bits, *dim) : bits;
    }
    if (is_empty) return 0;
    if (bits && *bits <= INT64_MAX - 7) return (*bits + 7) / 8;
    std::string dims;
    for (const ExprId id : port.dims) {
      const auto value = values_.get(id);
      dims += (dims.empty() ? "" : ", ") + values_.text(id);
      if (value.ok() && p_.exprs.uses_symbols(id)) dims += " = " + std::to_string(*value);
    }
    return fail(Code::size_overflow)
        .say(port_text(port, is_output) + " is too large")
        .because("its size in bytes overflows 64 bits: " + std::string(name_of(port.dtype)) + "[" + dims +
                 "]")
        .try_("use smaller dims");
  }
  Status check_ports(const std::vector<Port>& list, bool is_output) {
    for (const Port& port : list) GE_TRY(port_bytes(port, is_output));
    return {};
  }

  Status placed(uint32_t index) {
    if (auto size = values_.get_size(p_.buffers[index].size_bytes); !size.ok())
      return buffer_fault(index, std::move(size).take_error());
    Status status = place(p_.buffers[index], out_.buffers[index]);
    if (status.ok()) return {};
    Error error = std::move(status).take_error();
    for (Diagnostic& d : error.list()) {
      if (d.path.empty()) d.path = path_ + "/buffers/" + std::to_string(index);
    }
    return error;
  }
  Status place(const Buffer& b, BoundBuffer& out) {
    GE_ASSIGN(out.size_bytes, values_.get_size(b.size_bytes));
    const auto name = [&] { return quoted_line(b.name); };
    const auto refuse = [&](const char* why) {
      return fail(Code::plan_malformed)
          .because("buffer " + quoted_line(b.name) + " of " + std::to_string(out.size_bytes) + " bytes " +
                   why);
    };
    switch (b.region) {
      case Region::kArena:
        return place_in_arena(b, out);
      case Region::kPrepared: {
        GE_ASSIGN(out.offset_bytes, append(out.size_bytes, out_.prepared_bytes, name));
        return {};
      }
      case Region::kWeights:
        if (static_cast<uint64_t>(out.size_bytes) != plan_.blobs[b.blob].size_bytes)
          return refuse("differs from its blob");
        return blobs_.insert(b.blob).second ? count_memory(out.size_bytes, name) : Status();
      case Region::kDeviceBlock:
        return out.size_bytes == kDeviceBlockBytes ? Status() : Status(refuse("is no device block"));
      case Region::kInput:
      case Region::kOutput:
      case Region::kHost:
        break;
    }
    if (b.alias_of == kNoBuffer) return count_memory(out.size_bytes, name);
    GE_ASSIGN(const int64_t shared, values_.get_size(p_.buffers[b.alias_of].size_bytes));
    return shared == out.size_bytes ? Status()
                                    : Status(refuse("differs from the input whose storage it shares"));
  }
  Status place_in_arena(const Buffer& b, BoundBuffer& out) {
    const BoundBuffer& slot = slots_[b.slot];
    int64_t offset = 0;
    if (b.offset_bytes != kNoExpr) {
      GE_ASSIGN(offset, values_.get_size(b.offset_bytes));
    }
    if (offset % kBufferAlignment != 0 || offset > slot.size_bytes ||
        out.size_bytes > slot.size_bytes - offset) {
      return fail(Code::view_out_of_bounds)
          .because("buffer " + quoted_line(b.name) + " of " + std::to_string(out.size_bytes) + " bytes at " +
                   std::to_string(offset) + " is not aligned or leaves its slot of " +
                   std::to_string(slot.size_bytes) + " bytes");
    }
    out.offset_bytes = slot.offset_bytes + offset;
    return {};
  }

  Status ports(const std::vector<Port>& list, bool is_output, std::vector<BoundPort>& out) {
    for (const Port& port : list) {
      BoundPort& bound = out.emplace_back();
      bound.buffer = port.buffer;
      GE_ASSIGN(bound.size_bytes, port_bytes(port, is_output));
      for (const ExprId id : port.dims) {
        GE_ASSIGN(bound.dims.emplace_back(), values_.get(id));
      }
      // A buffer may be larger: dims that are read during the run are stored by their upper bound.
      if (bound.size_bytes > out_.buffers[port.buffer].size_bytes) {
        return fail(Code::plan_malformed)
            .in(path_ + "/signature")
            .because(port_text(port, is_output) + " has " + std::to_string(bound.size_bytes) +
                     " bytes, its buffer " + std::to_string(out_.buffers[port.buffer].size_bytes));
      }
    }
    return {};
  }

  const Plan& plan_;
  const Program& p_;
  std::string path_;
  const DeviceLimits& limits_;
  Binding out_;
  BoundValues values_;
  StepBinder steps_;
  std::vector<BoundBuffer> slots_;
  std::set<uint32_t> blobs_;
  int64_t total_ = 0;
};

Status check_device(const Program& program, const DeviceLimits& limits) {
  const auto target = parse_target(program.target);
  if (target && target->device == limits.device && target->arch <= limits.arch) return {};
  return fail(Code::no_target).because("the program is for " + program.target);
}

}  // namespace

Result<Binding> bind(const Plan& plan, const PlanKernels& kernels, uint32_t program,
                     std::span<const int64_t> symbols, const DeviceLimits& limits) {
  if (program >= plan.programs.size()) return fail(Code::internal).say("no such program");
  GE_TRY(check_device(plan.programs[program], limits));
  Binder binder(plan, kernels, program, symbols, limits);
  GE_TRY(binder.bind_all());
  return binder.take();
}

Result<Binding> bind_prepare(const Plan& plan, const PlanKernels& kernels, uint32_t program,
                             const DeviceLimits& limits) {
  if (program >= plan.programs.size()) return fail(Code::internal).say("no such program");
  GE_TRY(check_device(plan.programs[program], limits));
  Binder binder(plan, kernels, program, {}, limits);
  GE_TRY(binder.bind_prepare());
  return binder.take();
}

}  // namespace ge

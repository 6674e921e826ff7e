// Records and indices, with no kernel at hand. Entry: verify_structure, parse_target.
// Each check function returns nullptr or what is wrong with one record; the caller adds the record's path.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

#include "base/checked_math.h"
#include "contract/args_pack.h"
#include "contract/device_block.h"
#include "contract/plan_expr_check.h"
#include "contract/plan_verify.h"

namespace ge {
namespace {

static_assert(kMaxBlockNesting <= kMaxLoopDepth);
constexpr uint64_t kImageAlignment = 64;
constexpr size_t kMaxPrograms = 64, kMaxChoices = 256, kMaxDimsRead = 64;

Status malformed(const std::string& path, std::string why) {
  return fail(Code::plan_malformed).in(path).because(std::move(why));
}
std::string child(const std::string& path, const char* name, size_t index) {
  return path + "/" + name + "/" + std::to_string(index);
}
#define GE_CHECK(path, condition, why)             \
  do {                                             \
    if (!(condition)) return malformed(path, why); \
  } while (false)

bool is_hash(const std::string& text) {
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == 32 && std::ranges::all_of(text, digit);
}

uint64_t round_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// ---- plan ----

Status check_images(const Plan& plan, uint64_t code_bytes) {
  uint64_t end = 0;
  for (size_t i = 0; i < plan.images.size(); ++i) {
    const Image& image = plan.images[i];
    const std::string path = child("", "images", i);
    GE_CHECK(path, is_hash(image.hash), "its hash is not 32 hex digits");
    GE_CHECK(path, image.format == "cubin" || image.format == "ptx" || image.format == "bytecode",
             "unknown format \"" + image.format + "\"");
    const auto target = parse_target(image.arch);
    const bool device_code = image.format != "bytecode";
    GE_CHECK(path, device_code ? target && target->device == KernelDevice::kCuda : image.arch.empty(),
             "its arch does not fit its format");
    GE_CHECK(path, image.offset == round_up(end, kImageAlignment),
             "it does not start where the one before it ends");
    GE_CHECK(path, image.offset <= code_bytes && image.size_bytes <= code_bytes - image.offset,
             "it leaves the code section");
    end = image.offset + image.size_bytes;
  }
  GE_CHECK("/images", end == code_bytes, "images do not fill the code section");
  return {};
}

Status check_blobs(const Plan& plan, uint64_t weights_bytes) {
  uint64_t end = 0;
  for (size_t i = 0; i < plan.blobs.size(); ++i) {
    const Blob& blob = plan.blobs[i];
    const std::string path = child("", "blobs", i);
    GE_CHECK(path, is_hash(blob.hash), "its hash is not 32 hex digits");
    GE_CHECK(path, blob.dims.size() <= kMaxRank, "its rank is over 8");
    MaybeInt bits = bits_of(blob.dtype);
    for (const int64_t d : blob.dims) bits = d < 0 || !bits ? std::nullopt : checked_mul(*bits, d);
    GE_CHECK(path, bits && blob.size_bytes == static_cast<uint64_t>(*bits / 8 + (*bits % 8 != 0)),
             "its size is not that of its dims");
    GE_CHECK(path, blob.offset == round_up(end, kBlobAlignment),
             "it does not start where the one before it ends");
    GE_CHECK(path, blob.offset <= weights_bytes && blob.size_bytes <= weights_bytes - blob.offset,
             "it leaves the weights section");
    end = blob.offset + blob.size_bytes;
  }
  GE_CHECK("/blobs", end == weights_bytes, "blobs do not fill the weights section");
  return {};
}

Status check_generated(const Plan& plan, const KernelRef& kernel, const std::string& path) {
  GE_CHECK(path, kernel.generated.size() == 1 && kernel.image < plan.images.size(),
           "a generated kernel needs one description and an image");
  const KernelDesc& desc = kernel.generated[0];
  GE_CHECK(path, desc.name == kernel.name && desc.revision == kernel.revision && desc.kind == kernel.kind,
           "its description is of another kernel");
  const Status fits = check_desc(desc);
  if (!fits.ok()) return malformed(path, fits.error().first().message + ": " + fits.error().first().found);
  const bool device_code = plan.images[kernel.image].format != "bytecode";
  GE_CHECK(path, device_code == (desc.device == KernelDevice::kCuda), "its image is for another device");
  GE_CHECK(path, !device_code || !desc.symbol.empty(), "its entry has no name");
  return {};
}

Status check_kernels(const Plan& plan) {
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    const KernelRef& kernel = plan.kernels[i];
    const std::string path = child("", "kernels", i);
    GE_CHECK(path, !kernel.name.empty(), "it has no name");
    if (kernel.kind == KernelKind::kGenerated) {
      GE_TRY(check_generated(plan, kernel, path));
    } else {
      GE_CHECK(path, kernel.generated.empty() && kernel.image == kNoIndex,
               "only generated kernels carry a description and an image");
    }
  }
  return {};
}

// ---- program ----

class ProgramCheck {
 public:
  ProgramCheck(const Plan& plan, const Program& program, std::string path)
      : plan_(plan), p_(program), path_(std::move(path)) {}

  Status run() {
    GE_CHECK(path_, parse_target(p_.target), "unknown target \"" + p_.target + "\"");
    GE_TRY(symbols());
    GE_TRY(check_expr_indices(p_, path_));
    GE_TRY(assertions());
    GE_TRY(slots());
    GE_TRY(buffers());
    GE_TRY(signature());
    uses_.assign(p_.blocks.size(), 0);
    GE_TRY(block(p_.prepare, path_ + "/prepare"));
    GE_TRY(block(p_.run, path_ + "/run"));
    for (size_t i = 0; i < p_.blocks.size(); ++i) GE_TRY(block(p_.blocks[i], child(path_, "blocks", i)));
    return nesting();
  }

 private:
  Status symbols() {
    GE_CHECK(path_ + "/symbols", p_.symbols.size() <= static_cast<size_t>(kMaxBlockDims),
             "it has more symbols than the device block holds");
    std::set<std::string_view> names;
    for (size_t i = 0; i < p_.symbols.size(); ++i) {
      const Symbol& s = p_.symbols[i];
      const std::string path = child(path_, "symbols", i);
      GE_CHECK(path, !s.name.empty() && names.insert(s.name).second, "its name is empty or stands twice");
      GE_CHECK(path, 0 <= s.min && s.min <= s.opt && s.opt <= s.max, "0 <= min <= opt <= max does not hold");
    }
    for (ExprId id = 0; id < p_.exprs.size(); ++id) {
      const Status fits = ExprTable::check(p_.exprs.tokens(id), p_.symbols.size());
      if (!fits.ok()) return malformed(child(path_, "exprs", id), fits.error().first().found);
    }
    return {};
  }

  Status predicate(const Predicate& x, const std::string& path) {
    GE_CHECK(path, x.lhs != kNoExpr && x.rhs != kNoExpr, "a side is missing");
    return {};
  }
  Status assertions() {
    for (size_t i = 0; i < p_.assertions.size(); ++i)
      GE_TRY(predicate(p_.assertions[i].predicate, child(path_, "assertions", i)));
    return {};
  }
  Status slots() {
    for (size_t i = 0; i < p_.slots.size(); ++i)
      GE_CHECK(child(path_, "slots", i), p_.slots[i].size_bytes != kNoExpr, "it has no size");
    return {};
  }

  Status buffers() {
    for (size_t i = 0; i < p_.buffers.size(); ++i) GE_TRY(buffer(p_.buffers[i], child(path_, "buffers", i)));
    return {};
  }
  Status buffer(const Buffer& b, const std::string& path) {
    GE_CHECK(path, b.size_bytes != kNoExpr, "it has no size");
    const bool arena = b.region == Region::kArena, weights = b.region == Region::kWeights;
    GE_CHECK(path, arena ? b.slot < p_.slots.size() : b.slot == kNoIndex,
             "its slot does not exist, or it needs none");
    GE_CHECK(path, arena || b.offset_bytes == kNoExpr, "only arena buffers have an offset");
    GE_CHECK(path, weights ? b.blob < plan_.blobs.size() : b.blob == kNoIndex,
             "its blob does not exist, or it needs none");
    const bool fixed = weights || b.region == Region::kPrepared || b.region == Region::kDeviceBlock;
    GE_CHECK(path, !fixed || !p_.exprs.uses_symbols(b.size_bytes), "its size may not depend on dims");
    if (b.alias_of == kNoBuffer) return {};
    GE_CHECK(path, b.region == Region::kOutput && b.alias_of < p_.buffers.size(),
             "only an output may share an input's storage");
    GE_CHECK(path, p_.buffers[b.alias_of].region == Region::kInput,
             "only an output may share an input's storage");
    return {};
  }

  Status signature() {
    std::vector<uint8_t> taken(p_.buffers.size(), 0);
    GE_TRY(ports(p_.signature.inputs, Region::kInput, path_ + "/signature", "inputs", taken));
    GE_TRY(ports(p_.signature.outputs, Region::kOutput, path_ + "/signature", "outputs", taken));
    std::set<uint32_t> shared;
    for (size_t i = 0; i < p_.buffers.size(); ++i) {
      const Buffer& b = p_.buffers[i];
      const bool io = b.region == Region::kInput || b.region == Region::kOutput;
      GE_CHECK(child(path_, "buffers", i), !io || taken[i], "no input or output uses it");
      GE_CHECK(child(path_, "buffers", i), b.alias_of == kNoBuffer || shared.insert(b.alias_of).second,
               "two outputs share one input");
    }
    return {};
  }
  Status ports(const std::vector<Port>& list, Region region, const std::string& base, const char* what,
               std::vector<uint8_t>& taken) {
    std::set<std::string_view> names;
    for (size_t i = 0; i < list.size(); ++i) {
      const Port& port = list[i];
      const std::string path = child(base, what, i);
      GE_CHECK(path, !port.name.empty() && names.insert(port.name).second,
               "its name is empty or stands twice");
      GE_CHECK(path, port.dims.size() <= kMaxRank && !std::ranges::count(port.dims, kNoExpr),
               "its rank is over 8, or a dim is missing");
      GE_CHECK(path, port.buffer < p_.buffers.size() && p_.buffers[port.buffer].region == region,
               "its buffer is none of that kind");
      GE_CHECK(path, !std::exchange(taken[port.buffer], 1), "its buffer is another's");
      const PortHint& hint = port.hint;
      const bool known =
          hint.kind.empty() || hint.kind == "index" || hint.kind == "unit" || hint.kind == "bool";
      GE_CHECK(path, known && std::isfinite(hint.low) && std::isfinite(hint.high) && hint.low <= hint.high,
               "its hint is unknown or an empty range");
    }
    return {};
  }

  // ---- steps ----

  Status tensor(const TensorRef& t, const std::string& path, bool optional) {
    if (t.buffer == kNoBuffer) {
      GE_CHECK(path, optional, "a tensor is missing");
      GE_CHECK(path, t.dims.empty() && t.strides.empty() && t.offset_bytes == kNoExpr,
               "an absent tensor has dims or an offset");
      return {};
    }
    GE_CHECK(path, t.buffer < p_.buffers.size(), "its buffer does not exist");
    GE_CHECK(path, t.dims.size() <= kMaxRank && t.dims.size() == t.strides.size(),
             "its rank is over 8, or dims and strides differ in number");
    const bool whole = t.offset_bytes != kNoExpr && !std::ranges::count(t.dims, kNoExpr) &&
                       !std::ranges::count(t.strides, kNoExpr);
    GE_CHECK(path, whole, "its offset, a dim or a stride is missing");
    return {};
  }
  Status tensors(const std::vector<TensorRef>& list, const std::string& path, const char* what) {
    for (size_t i = 0; i < list.size(); ++i) GE_TRY(tensor(list[i], child(path, what, i), true));
    return {};
  }

  Status block(const Block& block, const std::string& path) {
    for (size_t i = 0; i < block.steps.size(); ++i) GE_TRY(step(block.steps[i], i, child(path, "steps", i)));
    return {};
  }
  Status step(const Step& s, size_t index, const std::string& path) {
    GE_CHECK(path, s.kind <= StepKind::kLoop, "unknown kind");
    const std::array<size_t, 6> sizes = {s.launch.size(),    s.copy.size(), s.fill.size(),
                                         s.read_dims.size(), s.if_.size(),  s.loop.size()};
    for (size_t k = 0; k < sizes.size(); ++k) {
      GE_CHECK(path, sizes[k] == (k == static_cast<size_t>(s.kind) ? 1u : 0u),
               "it does not hold exactly what its kind names");
    }
    switch (s.kind) {
      case StepKind::kLaunch:
        return launch(s.launch[0], index, path + "/launch");
      case StepKind::kCopy:
        GE_TRY(tensor(s.copy[0].from, path + "/copy/from", false));
        return tensor(s.copy[0].to, path + "/copy/to", false);
      case StepKind::kFill:
        return tensor(s.fill[0].to, path + "/fill/to", false);
      case StepKind::kReadDims:
        return read_dims(s.read_dims[0], path + "/read_dims");
      case StepKind::kIf:
        return if_step(s.if_[0], path + "/if");
      case StepKind::kLoop:
        return loop_step(s.loop[0], path + "/loop");
    }
    return {};
  }

  Status launch(const Launch& l, size_t index, const std::string& path) {
    GE_CHECK(path, !l.choices.empty() && l.choices.size() <= kMaxChoices,
             "it has no choice, or more than 256");
    GE_CHECK(path, l.choices.back().guard.empty(), "its last choice has a guard");
    GE_CHECK(path, l.lane < kMaxLanes, "its lane is 16 or higher");
    for (size_t i = 0; i < l.after.size(); ++i) {
      GE_CHECK(path, l.after[i] < index && (i == 0 || l.after[i - 1] < l.after[i]),
               "it waits for a step that is not earlier, or twice");
    }
    for (size_t i = 0; i < l.choices.size(); ++i) GE_TRY(choice(l.choices[i], child(path, "choices", i)));
    for (size_t i = 0; i < l.shadow.size(); ++i) {
      const std::string at = child(path, "shadow", i);
      GE_CHECK(at, l.shadow[i].kernel < plan_.kernels.size(), "its kernel does not exist");
      GE_TRY(tensors(l.shadow[i].operands, at, "operands"));
    }
    return {};
  }
  Status choice(const Choice& c, const std::string& path) {
    for (size_t i = 0; i < c.guard.size(); ++i) GE_TRY(predicate(c.guard[i], child(path, "guard", i)));
    GE_CHECK(path, c.kernel < plan_.kernels.size(), "its kernel does not exist");
    GE_CHECK(path, !std::ranges::count(c.grid, kNoExpr), "an axis of its grid is missing");
    const auto threads = [](const std::array<int64_t, 3>& v) {
      return std::ranges::all_of(v, [](int64_t n) { return n >= 1 && n <= 1024; });
    };
    GE_CHECK(path, threads(c.block) && threads(c.cluster), "its block or cluster is not within 1 .. 1024");
    return tensors(c.operands, path, "operands");
  }
  Status read_dims(const ReadDims& r, const std::string& path) {
    GE_TRY(tensor(r.from, path + "/from", false));
    GE_CHECK(path, r.from.dtype == DType::int64 && r.from.dims.size() <= 1,
             "it does not read a list of int64");
    GE_CHECK(path, r.symbols.size() <= kMaxDimsRead, "it reads more than 64 dims");
    GE_CHECK(path,
             !r.symbols.empty() &&
                 std::ranges::all_of(r.symbols, [&](uint32_t s) { return s < p_.symbols.size(); }),
             "a symbol does not exist");
    return {};
  }
  Status if_step(const If& x, const std::string& path) {
    GE_TRY(tensor(x.cond, path + "/cond", false));
    GE_CHECK(path, x.cond.dtype == DType::boolean, "its condition is not a bool");
    GE_TRY(use(x.then_block, path));
    return x.else_block == kNoIndex ? Status() : use(x.else_block, path);
  }
  Status loop_step(const Loop& x, const std::string& path) {
    GE_TRY(tensor(x.trip, path + "/trip", true));
    GE_TRY(tensor(x.cond, path + "/cond", true));
    GE_CHECK(path, x.trip.buffer != kNoBuffer || x.cond.buffer != kNoBuffer,
             "it has neither a trip count nor a condition");
    GE_CHECK(path, x.trip.buffer == kNoBuffer || x.trip.dtype == DType::int64,
             "its trip count is not an int64");
    GE_CHECK(path, x.cond.buffer == kNoBuffer || x.cond.dtype == DType::boolean,
             "its condition is not a bool");
    for (size_t i = 0; i < x.carried.size(); ++i)
      GE_TRY(tensor(x.carried[i], child(path, "carried", i), false));
    return use(x.body, path);
  }
  // Each block is the body of one step: blocks form a forest, so no walk over them is longer than the plan.
  Status use(uint32_t index, const std::string& path) {
    GE_CHECK(path, index < p_.blocks.size(), "its block does not exist");
    GE_CHECK(path, uses_[index]++ == 0, "its block is another step's too");
    return {};
  }

  // Depth from prepare and run; what was not reached hangs on itself or on nothing.
  Status nesting() {
    std::vector<const Block*> level = {&p_.prepare, &p_.run};
    size_t reached = 0;
    for (int depth = 0; !level.empty(); ++depth) {
      GE_CHECK(path_, depth <= kMaxBlockNesting, "blocks nest deeper than 8");
      std::vector<const Block*> next;
      for (const Block* b : level) {
        for (const Step& s : b->steps) {
          for (const uint32_t inner : inner_blocks(s)) next.push_back(&p_.blocks[inner]);
        }
      }
      reached += next.size();
      level = std::move(next);
    }
    GE_CHECK(path_ + "/blocks", reached == p_.blocks.size(), "a block is no step's body, or contains itself");
    return {};
  }
  static std::vector<uint32_t> inner_blocks(const Step& s) {
    if (s.kind == StepKind::kIf && s.if_[0].else_block == kNoIndex) return {s.if_[0].then_block};
    if (s.kind == StepKind::kIf) return {s.if_[0].then_block, s.if_[0].else_block};
    if (s.kind == StepKind::kLoop) return {s.loop[0].body};
    return {};
  }

  const Plan& plan_;
  const Program& p_;
  std::string path_;
  std::vector<uint32_t> uses_;
};

}  // namespace

std::optional<TargetName> parse_target(std::string_view target) {
  if (target == "cpu") return TargetName{};
  if (!target.starts_with("sm_") || target.size() < 5 || target.size() > 6) return std::nullopt;
  int32_t arch = 0;
  for (const char c : target.substr(3)) {
    if (c < '0' || c > '9') return std::nullopt;
    arch = arch * 10 + (c - '0');
  }
  if (arch < 10 || target[3] == '0') return std::nullopt;
  return TargetName{KernelDevice::kCuda, arch};
}

Status verify_structure(const Plan& plan, uint64_t code_bytes, uint64_t weights_bytes) {
  GE_TRY(check_images(plan, code_bytes));
  GE_TRY(check_blobs(plan, weights_bytes));
  GE_TRY(check_kernels(plan));
  GE_CHECK("/programs", !plan.programs.empty() && plan.programs.size() <= kMaxPrograms,
           "a plan has 1 to 64 programs");
  std::set<std::string_view> targets;
  for (size_t i = 0; i < plan.programs.size(); ++i) {
    const std::string path = child("", "programs", i);
    GE_CHECK(path, targets.insert(plan.programs[i].target).second, "its target stands twice");
    GE_TRY(ProgramCheck(plan, plan.programs[i], path).run());
  }
  return {};
}

}  // namespace ge

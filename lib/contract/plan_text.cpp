// Text about tensors and steps.
#include "contract/plan_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "contract/plan_bind.h"
#include "contract/plan_names.h"

namespace ge {
namespace {

std::string scaled(double value, double step, const char* const* units, int count) {
  int unit = 0;
  while (value >= step && unit + 1 < count) {
    value /= step;
    ++unit;
  }
  const bool whole = unit == 0 || value >= 10;
  return whole ? fmt::format("{:.0f}{}", value, units[unit]) : fmt::format("{:.1f}{}", value, units[unit]);
}

}  // namespace

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {" B", " KiB", " MiB", " GiB", " TiB"};
  return scaled(bytes, 1024, kUnits, 5);
}
std::string count_text(double count) {
  static constexpr const char* kUnits[] = {" ", " K", " M", " G", " T"};
  return scaled(count, 1000, kUnits, 5);
}

ProgramText::ProgramText(const Plan& plan, const Program& program)
    : plan_(plan), program_(program), symbols_(optimal_symbols(program)), values_(program, symbols_) {
  for (const Symbol& s : program.symbols) names_.push_back(s.name);
}

std::string ProgramText::dims(const std::vector<ExprId>& dims) const {
  std::vector<std::string> parts;
  for (const ExprId id : dims) parts.push_back(program_.exprs.to_string(id, names_));
  return parts.empty() ? "" : "[" + joined(parts, ",") + "]";
}

std::string ProgramText::tensor(const TensorRef& t) const {
  if (t.buffer == kNoBuffer) return "-";
  std::vector<ExprId> moving;
  for (size_t i = 0; i < t.dims.size(); ++i) {
    const auto stride = program_.exprs.tokens(t.strides[i]);
    if (stride.size() != 1 || stride[0] != ExprToken{}) moving.push_back(t.dims[i]);
  }
  return buffer(t.buffer) + dims(moving);
}

std::string ProgramText::buffer(size_t index) const {
  const std::string& name = program_.buffers[index].name;
  return name.empty() ? "t" + std::to_string(index) : name;
}

std::optional<int64_t> ProgramText::value(ExprId id) {
  if (id == kNoExpr) return std::nullopt;
  const auto value = values_.get(id);
  return value.ok() ? std::optional(*value) : std::nullopt;
}

std::string ProgramText::launch(const Launch& l) {
  const Choice& choice = l.choices.back();
  std::vector<std::string> in, out;
  for (size_t i = 0; i < choice.operands.size(); ++i) {
    const TensorRef& t = choice.operands[i];
    const Region region = t.buffer == kNoBuffer ? Region::kInput : program_.buffers[t.buffer].region;
    const bool writable = region == Region::kOutput || region == Region::kArena ||
                          region == Region::kPrepared || region == Region::kHost;
    const bool result = t.buffer != kNoBuffer &&
                        (i + 1 == choice.operands.size() || (writable && !written_.contains(t.buffer)));
    (result ? out : in).push_back(tensor(t));
    if (result) written_.insert(t.buffer);
  }
  std::vector<std::string> kernels;
  for (const Choice& c : l.choices) {
    const std::string& name = plan_.kernels[c.kernel].name;
    if (kernels.empty() || kernels.back() != name) kernels.push_back(name);
  }
  return joined(kernels, " | ") + "  " + joined(in, " ") + " -> " + joined(out, " ");
}

std::string ProgramText::step(const Step& s) {
  switch (s.kind) {
    case StepKind::kLaunch:
      return launch(s.launch[0]);
    case StepKind::kCopy:
      written_.insert(s.copy[0].to.buffer);
      return "copy  " + tensor(s.copy[0].from) + " -> " + tensor(s.copy[0].to);
    case StepKind::kFill:
      written_.insert(s.fill[0].to.buffer);
      return fmt::format("fill  0x{:x} -> {}", s.fill[0].bits, tensor(s.fill[0].to));
    case StepKind::kReadDims: {
      std::vector<std::string> symbols;
      for (const uint32_t i : s.read_dims[0].symbols) symbols.push_back(names_[i]);
      return "read dims  " + tensor(s.read_dims[0].from) + " -> " + joined(symbols, " ");
    }
    case StepKind::kIf:
      return fmt::format("if  {}  block {}", tensor(s.if_[0].cond), s.if_[0].then_block) +
             (s.if_[0].else_block == kNoIndex ? "" : fmt::format(" else block {}", s.if_[0].else_block));
    case StepKind::kLoop:
      return fmt::format("loop  {} times, while {}  block {}", tensor(s.loop[0].trip), tensor(s.loop[0].cond),
                         s.loop[0].body);
  }
  return "";
}

}  // namespace ge

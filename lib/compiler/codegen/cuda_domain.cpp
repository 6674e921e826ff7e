#include "compiler/codegen/cuda_domain.h"

#include <algorithm>
#include <numeric>

#include "base/checked_math.h"

namespace ge {

CudaDomain::CudaDomain(const LoopProgram& program, const LoopFacts& facts) : p_(program), facts_(facts) {
  while (p_.operands[whole_].row_level) ++whole_;
  std::set<uint32_t> indexed;
  for (const LoopInstruction& c : p_.code)
    if (c.op == static_cast<uint16_t>(LoopOp::kIndex)) indexed.insert(c.imm);
  const int rank = p_.outer_rank + p_.row_rank;
  for (int a = 0; a < rank; ++a) {
    const LoopFacts::Axis& f = facts_.axes[static_cast<size_t>(a)];
    if (f.extent == 1) continue;
    const bool row = a >= p_.outer_rank;
    bool merge = !axes_.empty() && axes_.back().row == row && !indexed.contains(static_cast<uint32_t>(a)) &&
                 !indexed.contains(axes_.back().to - 1u);
    for (size_t i = 0; merge && i < p_.operands.size(); ++i)
      merge = operand_merges(i, axes_.back().to - 1, a);
    if (!merge) {
      axes_.push_back({static_cast<uint8_t>(a), static_cast<uint8_t>(a + 1), row, f.extent,
                       f.extent.value_or(f.max), f.extent ? f.extent : f.multiple_of});
      continue;
    }
    CudaAxis& last = axes_.back();
    const auto product = [](std::optional<int64_t> x, std::optional<int64_t> y) {
      return x && y ? checked_mul(*x, *y) : std::nullopt;
    };
    last.to = static_cast<uint8_t>(a + 1);
    last.extent = product(last.extent, f.extent);
    last.max = product(last.max, f.extent.value_or(f.max)).value_or(INT64_MAX);
    last.multiple_of =
        product(last.multiple_of.value_or(1), (f.extent ? f.extent : f.multiple_of).value_or(1));
  }
}

bool CudaDomain::operand_merges(size_t operand, int a, int b) const {
  if (p_.operands[operand].row_level && b >= p_.outer_rank) return true;  // extent 1 there
  const LoopFacts::Operand& o = facts_.operands[operand];
  const auto outer = o.strides[static_cast<size_t>(a)], inner = o.strides[static_cast<size_t>(b)];
  if (outer && inner) {
    if (*outer == 0 && *inner == 0) return true;
    if (const auto extent = facts_.axes[static_cast<size_t>(b)].extent)
      return checked_mul(*inner, *extent) == *outer;
  }
  return static_cast<size_t>(a) < o.merges.size() && o.merges[static_cast<size_t>(a)];
}

std::vector<int> CudaDomain::all_axes() const {
  std::vector<int> list(axes_.size());
  std::iota(list.begin(), list.end(), 0);
  return list;
}

std::vector<int> CudaDomain::level_axes(bool row) const {
  std::vector<int> list;
  for (size_t i = 0; i < axes_.size(); ++i)
    if (axes_[i].row == row) list.push_back(static_cast<int>(i));
  return list;
}

std::optional<int64_t> CudaDomain::stride(size_t operand, int axis) const {
  const CudaAxis& a = axes_[static_cast<size_t>(axis)];
  if (p_.operands[operand].row_level && a.row) return 0;
  return facts_.operands[operand].strides[a.to - 1u];
}

bool CudaDomain::is_dense(size_t operand, const std::vector<int>& axes) const {
  for (size_t i = 0; i + 1 < axes.size(); ++i) {
    if (axes[i + 1] != axes[i] + 1) return false;
    if (!operand_merges(operand, axes_[static_cast<size_t>(axes[i])].to - 1,
                        axes_[static_cast<size_t>(axes[i + 1])].from))
      return false;
  }
  return true;
}

int CudaDomain::axis_of(uint32_t domain_axis) const {
  if (facts_.axes[domain_axis].extent == 1) return -1;  // also where its neighbours are one axis
  for (size_t i = 0; i < axes_.size(); ++i)
    if (domain_axis >= axes_[i].from && domain_axis < axes_[i].to) return static_cast<int>(i);
  return -1;
}

std::vector<Requirement> CudaDomain::requirements() const {
  using Kind = RequirementKind;
  std::vector<Requirement> list;
  const int rank = p_.outer_rank + p_.row_rank;
  const auto axis = [](int a) { return static_cast<int8_t>(a); };
  std::vector<int> moving;  // domain axes that may have more than one position
  for (int a = 0; a < rank; ++a) {
    if (facts_.axes[static_cast<size_t>(a)].extent == 1)
      list.push_back({Kind::kExtent, axis(static_cast<int>(whole_)), axis(a), axis(a + 1), 1});
    else
      moving.push_back(a);
  }
  for (const CudaAxis& a : axes_)
    if (a.extent)
      list.push_back({Kind::kExtent, axis(static_cast<int>(whole_)), axis(a.from), axis(a.to), *a.extent});
  for (size_t i = 0; i < p_.operands.size(); ++i) {
    const int levels = p_.operands[i].row_level ? p_.outer_rank : rank;  // the rest has extent 1
    const auto operand = axis(static_cast<int>(i));
    if (i != whole_ && levels > 0)
      list.push_back({Kind::kSameDims, operand, 0, axis(levels), static_cast<int64_t>(whole_)});
    for (size_t m = 0; m < moving.size() && moving[m] < levels; ++m) {
      const int a = moving[m];
      if (const auto stride = facts_.operands[i].strides[static_cast<size_t>(a)])
        list.push_back({Kind::kStride, operand, axis(a), 0, *stride});
      if (m + 1 < moving.size() && moving[m + 1] < levels && operand_merges(i, a, moving[m + 1]))
        list.push_back({Kind::kMerges, operand, axis(a), axis(moving[m + 1]), 0});
    }
  }
  return list;
}

std::optional<int64_t> CudaDomain::count(const std::vector<int>& axes) const {
  std::optional<int64_t> n = 1;
  for (const int a : axes) {
    const auto extent = axes_[static_cast<size_t>(a)].extent;
    n = n && extent ? checked_mul(*n, *extent) : std::nullopt;
  }
  return n;
}
int64_t CudaDomain::max_count(const std::vector<int>& axes) const {
  int64_t n = 1;
  for (const int a : axes) n = checked_mul(n, axes_[static_cast<size_t>(a)].max).value_or(INT64_MAX);
  return n;
}

std::string CudaArguments::field(const std::string& name, ArgDesc source) {
  const auto known =
      std::find_if(fields_.begin(), fields_.end(), [&](const auto& f) { return f.first == name; });
  if (known == fields_.end()) {
    source.offset = static_cast<uint32_t>(fields_.size() * 8);
    fields_.emplace_back(name, std::move(source));
  }
  return "a." + name;
}
std::string CudaArguments::pointer(size_t operand) {
  return field(
      "p" + std::to_string(operand),
      {.type = ArgType::kPointer, .source = ArgSource::kPtr, .operand = static_cast<int8_t>(operand)});
}
std::string CudaArguments::extent(int axis) {
  const CudaAxis& a = domain_.axes()[static_cast<size_t>(axis)];
  if (a.extent) return std::to_string(*a.extent) + "ll";
  return field("n" + std::to_string(axis), {.type = ArgType::kI64,
                                            .source = ArgSource::kCount,
                                            .operand = static_cast<int8_t>(domain_.whole_operand()),
                                            .a = static_cast<int8_t>(a.from),
                                            .b = static_cast<int8_t>(a.to)});
}
std::string CudaArguments::stride(size_t operand, int axis) {
  if (const auto s = domain_.stride(operand, axis)) return std::to_string(*s) + "ll";
  return field("s" + std::to_string(operand) + "_" + std::to_string(axis),
               {.type = ArgType::kI64,
                .source = ArgSource::kStride,
                .operand = static_cast<int8_t>(operand),
                .a = static_cast<int8_t>(domain_.axes()[static_cast<size_t>(axis)].to - 1)});
}
std::string CudaArguments::count(const std::vector<int>& axes) {
  if (const auto n = domain_.count(axes)) return std::to_string(*n) + "ll";
  std::string text;
  for (const int a : axes) text += (text.empty() ? "" : " * ") + extent(a);
  return "(" + text + ")";
}

std::string CudaArguments::struct_text(const std::string& name) const {
  std::string text = "struct " + name + " {";
  for (const auto& [field, source] : fields_)
    text += std::string(source.type == ArgType::kPointer ? " void* " : " long long ") + field + ";";
  return text + " };\n";
}
void CudaArguments::fill(KernelDesc& desc) const {
  for (const auto& [name, source] : fields_) desc.args.push_back(source);
  desc.args_size = static_cast<uint32_t>(fields_.size() * 8);
}

}  // namespace ge

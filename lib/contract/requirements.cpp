#include "contract/requirements.h"

#include "base/checked_math.h"

namespace ge {
namespace {

bool is_of_one_axis(RequirementKind kind) {
  return kind == RequirementKind::kStride || kind == RequirementKind::kStrideMultiple ||
         kind == RequirementKind::kMerges;
}

std::string number(int64_t value) {
  return std::to_string(value);
}

class Check {
 public:
  Check(const KernelDesc& desc, std::span<const TensorView> operands) : desc_(desc), operands_(operands) {}

  std::string fault(const Requirement& r) const {
    const TensorView& view = operands_[static_cast<size_t>(r.operand)];
    const std::string name = "operand \"" + desc_.operands[static_cast<size_t>(r.operand)].name + "\"";
    const int last = r.kind == RequirementKind::kMerges ? r.to : is_of_one_axis(r.kind) ? r.from : r.to - 1;
    if (view.rank < 0 || last >= view.rank) return name + " has no axis " + number(last);
    const std::string axes =
        is_of_one_axis(r.kind) ? number(r.from) : number(r.from) + " to " + number(r.to - 1);
    const auto expected = [&](const char* what, int64_t found, const char* relation) {
      return name + " has " + what + " " + number(found) + " on axis " + axes + ", its code was made for " +
             relation + number(r.value);
    };
    switch (r.kind) {
      case RequirementKind::kExtent:
        return extent(view, r) == r.value ? "" : expected("extent", extent(view, r), "");
      case RequirementKind::kExtentMultiple:
        return extent(view, r) % r.value == 0 ? "" : expected("extent", extent(view, r), "multiples of ");
      case RequirementKind::kExtentAtMost:
        return extent(view, r) <= r.value ? "" : expected("extent", extent(view, r), "at most ");
      case RequirementKind::kStride:
        return view.dims[r.from] <= 1 || view.strides[r.from] == r.value
                   ? ""
                   : expected("stride", view.strides[r.from], "");
      case RequirementKind::kStrideMultiple:
        return view.dims[r.from] <= 1 || view.strides[r.from] % r.value == 0
                   ? ""
                   : expected("stride", view.strides[r.from], "multiples of ");
      case RequirementKind::kMerges:
        return merges(view, r) ? ""
                               : name + " does not run on from axis " + number(r.to) + " to axis " +
                                     number(r.from) + " as its code takes it to";
      case RequirementKind::kSameDims:
        return same_dims(view, r)
                   ? ""
                   : name + " and operand \"" + desc_.operands[static_cast<size_t>(r.value)].name +
                         "\" differ in dims";
    }
    return "";
  }

 private:
  // Saturates: more elements than any code was made for.
  static int64_t extent(const TensorView& view, const Requirement& r) {
    int64_t n = 1;
    for (int i = r.from; i < r.to; ++i) n = checked_mul(n, view.dims[i]).value_or(INT64_MAX);
    return n;
  }
  static bool merges(const TensorView& view, const Requirement& r) {
    return view.dims[r.from] <= 1 || checked_mul(view.strides[r.to], view.dims[r.to]) == view.strides[r.from];
  }
  bool same_dims(const TensorView& view, const Requirement& r) const {
    const TensorView& other = operands_[static_cast<size_t>(r.value)];
    if (other.rank < r.to) return false;
    for (int i = r.from; i < r.to; ++i)
      if (view.dims[i] != other.dims[i]) return false;
    return true;
  }

  const KernelDesc& desc_;
  std::span<const TensorView> operands_;
};

}  // namespace

std::string requirement_desc_fault(const KernelDesc& desc) {
  const auto operands = static_cast<int64_t>(desc.operands.size());
  for (size_t i = 0; i < desc.requirements.size(); ++i) {
    const Requirement& r = desc.requirements[i];
    const std::string name = "requirement " + std::to_string(i);
    if (r.kind > RequirementKind::kSameDims) return name + " is of an unknown kind";
    if (r.operand < 0 || r.operand >= operands ||
        (r.kind == RequirementKind::kSameDims && (r.value < 0 || r.value >= operands)))
      return name + " is of an operand that is not";
    const bool ordered = is_of_one_axis(r.kind) || r.from < r.to;
    if (r.from < 0 || r.from >= kMaxRank || r.to < 0 || r.to > kMaxRank || !ordered ||
        (r.kind == RequirementKind::kMerges && r.to == kMaxRank))
      return name + " is of an axis that is not";
    const bool divides =
        r.kind == RequirementKind::kExtentMultiple || r.kind == RequirementKind::kStrideMultiple;
    if (divides && r.value < 1) return name + " asks for multiples of " + number(r.value);
  }
  return "";
}

std::string requirement_fault(const KernelDesc& desc, std::span<const TensorView> operands) {
  const Check check(desc, operands);
  for (const Requirement& r : desc.requirements) {
    std::string fault = check.fault(r);
    if (!fault.empty()) return fault;
  }
  return "";
}

}  // namespace ge

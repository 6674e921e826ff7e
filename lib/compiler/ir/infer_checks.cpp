// What the type rules share: operand counts, attributes against core_ops.def, dtypes, ranks, equal dims; and
// the rule of maps.
#include <algorithm>

#include "compiler/ir/inference.h"
#include "compiler/ir/op_info.h"
#include "contract/scalar_op.h"

namespace ge {

std::string ints_text(const std::vector<int64_t>& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(values[i]);
  return out + "]";
}

Diagnostic Inference::fault(Code code, const std::string& found) const {
  return fail(code).say(std::string(name_of(op_)) + ": " + std::string(title_of(code))).because(found);
}

std::string Inference::operand_text(size_t i) const {
  return has(i) ? to_string(in(i)) : "an absent input";
}

int64_t Inference::integer(const std::string& name, int64_t fallback) const {
  const auto it = attrs_.find(name);
  return it == attrs_.end() ? fallback : std::get<int64_t>(it->second);
}
const std::vector<int64_t>& Inference::ints(const std::string& name) const {
  return std::get<std::vector<int64_t>>(attrs_.at(name));
}
const Dims& Inference::dims(const std::string& name) const {
  return std::get<Dims>(attrs_.at(name));
}
const std::string& Inference::text(const std::string& name) const {
  return std::get<std::string>(attrs_.at(name));
}
DType Inference::dtype(const std::string& name) const {
  return std::get<DType>(attrs_.at(name));
}

Status Inference::check_operands() {
  const CoreOpInfo* info = core_op_info(op_);
  if (info == nullptr)
    return fail(Code::internal).because("types of ONNX operators are not inferred: lower them first");
  const size_t count = operands_.size();
  if (count < info->min_operands || count > info->max_operands) {
    const std::string low = std::to_string(info->min_operands), high = std::to_string(info->max_operands);
    return fault(Code::operand_count, "found " + std::to_string(count) + " inputs; allowed " +
                                          (low == high ? low : low + " .. " + high));
  }
  const auto required = op_ == Op::concat || op_ == Op::fused ? count : info->min_operands;
  for (size_t i = 0; i < required; ++i)
    if (!has(i))
      return fault(Code::operand_count, "input " + std::to_string(i) + " is absent; it is required");
  return {};
}

Status Inference::check_attributes() {
  for (const auto& [name, attr] : attrs_) GE_TRY(check_attribute(name, attr));
  for (const AttrSpec& spec : core_op_info(op_)->attrs) {
    if (!spec.required || attrs_.contains(spec.name)) continue;
    return fault(Code::missing_attribute,
                 "attribute \"" + spec.name + "\" (" + std::string(name_of(spec.kind)) + ") is missing");
  }
  return {};
}

Status Inference::check_attribute(const std::string& name, const Attr& attr) {
  const AttrSpec* spec = attr_spec(op_, name);
  if (spec == nullptr) {
    std::string known;
    for (const AttrSpec& s : core_op_info(op_)->attrs) known += (known.empty() ? "" : ", ") + s.name;
    return fault(Code::unknown_attribute,
                 "found \"" + name + "\"; allowed: " + (known.empty() ? "none" : known));
  }
  const AttrKind kind = kind_of(attr);
  if (kind != spec->kind && !(kind == AttrKind::kInt && spec->kind == AttrKind::kDouble)) {
    return fault(Code::wrong_attribute_type, "\"" + name + "\" is of kind " + std::string(name_of(kind)) +
                                                 "; needed " + std::string(name_of(spec->kind)));
  }
  if (spec->choices.empty()) return {};
  const auto& value = std::get<std::string>(attr);
  if (std::find(spec->choices.begin(), spec->choices.end(), value) != spec->choices.end()) return {};
  std::string choices;
  for (const std::string& c : spec->choices) choices += (choices.empty() ? "" : ", ") + c;
  return fault(Code::bad_attribute, "\"" + name + "\" is \"" + value + "\"; allowed: " + choices);
}

Status Inference::axis_in_range(int64_t axis, size_t rank) const {
  if (axis >= 0 && axis < static_cast<int64_t>(rank)) return {};
  const std::string allowed = rank == 0 ? "a scalar has no axis" : "allowed 0 .. " + std::to_string(rank - 1);
  return fault(Code::axis_out_of_range, "found " + std::to_string(axis) + "; " +
                                            (has(0) ? operand_text(0) : std::string("the shape")) +
                                            " has rank " + std::to_string(rank) + ", " + allowed);
}

Status Inference::rank_is(size_t operand, size_t low, size_t high) const {
  const size_t rank = in(operand).dims.size();
  if (rank >= low && rank <= high) return {};
  const std::string allowed = low == high ? std::to_string(low) : std::to_string(low) + " or more";
  return fault(Code::operand_rank, "input " + std::to_string(operand) + " is " + operand_text(operand) +
                                       " with rank " + std::to_string(rank) + "; needed " + allowed);
}

Status Inference::floats_only(size_t operand) const {
  if (is_float(in(operand).dtype)) return {};
  return fault(Code::operand_dtype, "input " + std::to_string(operand) + " is " + operand_text(operand) +
                                        "; allowed: floating point");
}

Status Inference::numbers_only(size_t operand) const {
  if (!is_bool(in(operand).dtype)) return {};
  return fault(Code::operand_dtype,
               "input " + std::to_string(operand) + " is " + operand_text(operand) + "; allowed: numbers");
}

Status Inference::same_dtype(size_t a, size_t b) const {
  if (in(a).dtype == in(b).dtype) return {};
  return fault(Code::dtype_mismatch, "input " + std::to_string(a) + " is " + operand_text(a) + ", input " +
                                         std::to_string(b) + " is " + operand_text(b) +
                                         "; they must have one dtype");
}

Status Inference::no_negative(const Dims& dims) const {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].overflowed()) {
      return fault(Code::size_overflow,
                   "axis " + std::to_string(i) + " of the shape does not fit in 64 bits");
    }
    if (dims[i].is_static() && *dims[i].value() < 0) {
      return fault(Code::bad_dim, "axis " + std::to_string(i) + " of " + to_string(dims) + " is negative");
    }
  }
  if (size_overflows(dims, 1))
    return fault(Code::size_overflow, "the element count of " + to_string(dims) + " does not fit in 64 bits");
  return {};
}

Status Inference::equal(const Dim& a, const Dim& b, const std::string& what) {
  if (a.overflowed() || b.overflowed())
    return fault(Code::size_overflow, what + ": a size does not fit in 64 bits");
  if (a == b) return {};
  if (assertions_ == nullptr || Dim::never_equal(a, b)) {
    return fault(Code::shape_mismatch, what + " differ: " + a.to_string() + " and " + b.to_string());
  }
  assertions_->push_back({a, b, std::string(name_of(op_)) + ": " + what + " must be equal", {}});
  return {};
}

Status Inference::equal_dims(const Dims& a, const Dims& b, const std::string& what) {
  if (a.size() != b.size()) {
    return fault(Code::shape_mismatch, what + " differ in rank: " + to_string(a) + " and " + to_string(b));
  }
  for (size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i])) GE_TRY(equal(a[i], b[i], "axis " + std::to_string(i) + " of " + what));
  return {};
}

namespace {
std::string_view domain_text(ScalarDomain domain) {
  switch (domain) {
    case ScalarDomain::number:
      return "numbers";
    case ScalarDomain::real:
      return "floating point";
    case ScalarDomain::integer:
      return "integers";
    case ScalarDomain::boolean:
      return "bool";
    case ScalarDomain::any:
      return "any";
  }
  return "";
}
}  // namespace

Result<Type> Inference::map() {
  const ScalarOpInfo& info = *scalar_op_info(*scalar_code(op_));
  const size_t first = op_ == Op::select ? 1 : 0;
  if (op_ == Op::select && !is_bool(in(0).dtype)) {
    return fault(Code::operand_dtype, "the condition is " + operand_text(0) + "; allowed: bool");
  }
  if (!accepts(info.domain, in(first).dtype)) {
    return fault(Code::operand_dtype, "input " + std::to_string(first) + " is " + operand_text(first) +
                                          "; allowed: " + std::string(domain_text(info.domain)));
  }
  Type result{info.result == ScalarResult::boolean ? DType::boolean : in(first).dtype, in(0).dims};
  for (size_t i = 1; i < operands_.size(); ++i) {
    if (i > first) GE_TRY(same_dtype(first, i));
    GE_TRY(equal_dims(in(0).dims, in(i).dims, "inputs 0 and " + std::to_string(i)));
    // Of two dims asserted equal the static one says more.
    for (size_t d = 0; d < result.dims.size(); ++d)
      if (!result.dims[d].is_static() && in(i).dims[d].is_static()) result.dims[d] = in(i).dims[d];
  }
  return result;
}

}  // namespace ge

#include "compiler/codegen/cuda_kernel.h"

#include <algorithm>
#include <cstdio>

#include "compiler/codegen/cuda_precision.h"
#include "contract/scalar_op.h"
#include "kernels/loop/loop_uses.h"

namespace ge {
namespace {

std::string hex(uint64_t bits) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  return text;
}

// Of functions that are computed once a row, those whose short forms are as good as float32.
bool is_exact_enough_for_rows(uint16_t op) {
  return op == static_cast<uint16_t>(ScalarOp::div) || op == static_cast<uint16_t>(ScalarOp::rsqrt);
}

}  // namespace

void take_held(const std::vector<bool>& want, const std::vector<bool>& hold, std::vector<bool>& have) {
  for (size_t r = 0; r < want.size(); ++r)
    if (want[r] && hold[r]) have[r] = true;
}

CudaKernel::CudaKernel(const CudaDomain& domain)
    : domain_(domain),
      p_(domain.program()),
      args_(domain),
      needed_(needed_registers(p_)),
      used_operands_(p_.operands.size(), false),
      held_(p_.code.size(), false),
      vector_operands_(p_.operands.size(), false),
      ahead_(p_.code.size(), false),
      kept_(p_.code.size(), false),
      early_(p_.code.size(), false),
      based_(p_.operands.size(), false),
      narrow_(domain.facts().exact ? std::vector<bool>(p_.code.size(), false) : narrow_registers(p_)),
      small_floats_(has_small_floats(p_)),
      steady_(p_.code.size(), false),
      dropped_(p_.code.size(), false),
      stored_(p_.code.size(), kNoRegister),
      replaced_(p_.operands.size()) {
  for (size_t r = 0; r < p_.code.size(); ++r)
    if (needed_[r] && (is_load(r) || is_store(r))) used_operands_[p_.code[r].imm] = true;
  drop_casts_before_stores();
  keep_products_steady();
}

// Where one sweep rounds a product and another takes it unrounded into a sum, exp(x - top) is not the same
// number in a softmax's sum and above it, and by far not where x is large.
void CudaKernel::keep_products_steady() {
  std::vector<int> sweeps(p_.code.size(), 0);
  for (int s = 0; s < p_.sweeps; ++s) {
    const auto want = wanted(s);
    for (size_t r = 0; r < want.size(); ++r) sweeps[r] += want[r] ? 1 : 0;
  }
  for (size_t r = 0; r < p_.code.size(); ++r) {
    const LoopInstruction& c = p_.code[r];
    steady_[r] = c.op == static_cast<uint16_t>(ScalarOp::mul) && is_float(c.type) && sweeps[r] > 1;
  }
}

// A store converts to its operand's dtype; a cast through the same one before it would do so twice.
void CudaKernel::drop_casts_before_stores() {
  std::vector<bool> read_otherwise(p_.code.size(), false);
  const auto is_same_cast = [&](size_t store) {
    const LoopInstruction &s = p_.code[store], &c = p_.code[s.a];
    return c.op == static_cast<uint16_t>(LoopOp::kCast) &&
           static_cast<DType>(c.imm) == p_.operands[s.imm].dtype;
  };
  for (size_t r = 0; r < p_.code.size(); ++r) {
    const LoopInstruction& c = p_.code[r];
    for (const uint16_t used : {c.a, c.b, c.c})
      if (used != kNoRegister && !(is_store(r) && is_same_cast(r))) read_otherwise[used] = true;
  }
  for (size_t r = 0; r < p_.code.size(); ++r) {
    if (!is_store(r)) continue;
    const uint16_t value = p_.code[r].a;
    dropped_[value] = is_same_cast(r) && !read_otherwise[value];
    stored_[r] = dropped_[value] ? p_.code[value].a : value;
  }
}

bool CudaKernel::is_divisor(size_t r) const {
  if (p_.code[r].element || is_inline(r)) return false;
  return std::any_of(p_.code.begin(), p_.code.end(), [&](const LoopInstruction& c) {
    return c.element && c.op == static_cast<uint16_t>(ScalarOp::div) && c.b == r &&
           narrow_[static_cast<size_t>(&c - p_.code.data())];
  });
}

std::string CudaKernel::type_name(DType type) {
  switch (type) {
    case DType::float32:
      return "float";
    case DType::float64:
      return "double";
    case DType::int32:
      return "int";
    case DType::int64:
      return "long long";
    case DType::uint64:
      return "unsigned long long";
    default:
      return "bool";
  }
}
std::string CudaKernel::memory_type_name(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return "ge::loop::Half";
    case DType::bfloat16:
      return "ge::loop::Bfloat";
    case DType::float8e4m3fn:
      return "ge::loop::Float8e4m3";
    case DType::float8e5m2:
      return "ge::loop::Float8e5m2";
    case DType::boolean:
      return "ge::loop::Boolean";
    case DType::int16:
      return "short";
    case DType::int8:
      return "signed char";
    case DType::uint32:
      return "unsigned int";
    case DType::uint16:
      return "unsigned short";
    case DType::uint8:
      return "unsigned char";
    default:
      return type_name(dtype);
  }
}

// ---- positions ----

bool CudaKernel::needs_indices(const CudaGroup& group) const {
  if (group.axes.empty()) return false;
  for (size_t i = 0; i < p_.operands.size(); ++i)
    if (used_operands_[i] && !domain_.is_dense(i, group.axes)) return true;
  for (size_t r = 0; r < p_.code.size(); ++r) {
    if (!needed_[r] || p_.code[r].op != static_cast<uint16_t>(LoopOp::kIndex)) continue;
    const int axis = domain_.axis_of(p_.code[r].imm);
    for (const int a : group.axes)
      if (a == axis) return true;
  }
  return false;
}

void CudaKernel::leave_where(const std::string& position, const std::vector<int>& axes) {
  line("if (" + position + " >= " + args_.count(axes) + ") return;");
}

void CudaKernel::declare_indices(const CudaGroup& group) {
  if (!needs_indices(group)) return;
  const auto index = [](int axis) { return "i" + number(axis); };
  if (group.axes.size() == 1)
    return line("const long long " + index(group.axes[0]) + " = " + group.linear + ";");
  const std::string rest = "rest_" + group.linear;
  line("long long " + rest + " = " + group.linear + ";");
  for (size_t n = group.axes.size(); n-- > 1;) {
    line("const long long " + index(group.axes[n]) + " = ge::loop::split(" + rest + ", " +
         args_.extent(group.axes[n]) + ");");
  }
  line("const long long " + index(group.axes[0]) + " = " + rest + ";");
}

// "" where the operand does not move along the group, else " + ..." in elements.
std::string CudaKernel::offset(size_t operand, const CudaGroup& group) {
  if (group.axes.empty()) return "";
  const auto term = [&](const std::string& position, int axis) -> std::string {
    const auto stride = domain_.stride(operand, axis);
    if (stride == 0) return "";
    return " + " + position + (stride == 1 ? "" : " * " + args_.stride(operand, axis));
  };
  if (domain_.is_dense(operand, group.axes))
    return term(group.origin.empty() ? group.linear : "(" + group.linear + " - " + group.origin + ")",
                group.axes.back());
  std::string text;
  for (const int a : group.axes) text += term("i" + number(a), a);
  return text;
}

std::string CudaKernel::base(size_t operand, const std::vector<CudaGroup>& groups, const CudaGroup* inner) {
  const std::string type = memory_type_name(p_.operands[operand].dtype);
  std::string text = "static_cast<" + type + "*>(" + args_.pointer(operand) + ")";
  for (const CudaGroup& g : groups) text += offset(operand, g);
  if (inner != nullptr && !inner->origin.empty() && domain_.is_dense(operand, inner->axes)) {
    const CudaGroup at{inner->axes, inner->origin};
    const std::string moved = offset(operand, at);
    if (!moved.empty()) text = "ge::loop::settled(" + text + moved + ")";
  }
  return type + "* const b" + number(operand) + " = " + text + ";";
}

void CudaKernel::declare_bases(const std::vector<CudaGroup>& groups, const CudaGroup* inner) {
  for (size_t i = 0; i < p_.operands.size(); ++i)
    if (used_operands_[i] && !based_[i]) line(base(i, groups, inner));
}

void CudaKernel::declare_held(const std::vector<bool>& hold, int elements) {
  for (size_t r = 0; r < hold.size(); ++r)
    if (hold[r]) line(type_name(p_.code[r].type) + " x" + number(r) + "[" + number(elements) + "];");
}

// ---- values ----

std::string CudaKernel::literal(size_t r) {
  const LoopInstruction& c = p_.code[r];
  if (c.op == static_cast<uint16_t>(LoopOp::kRowCount))
    return "static_cast<" + type_name(c.type) + ">(" + args_.count(domain_.row_axes()) + ")";
  const uint64_t bits = p_.constants[c.imm].bits;
  switch (c.type) {
    case DType::float32:
      return "__uint_as_float(" + hex(bits & 0xffffffffu) + "u)";
    case DType::float64:
      return "__longlong_as_double(static_cast<long long>(" + hex(bits) + "ull))";
    case DType::int32:
      return "static_cast<int>(" + hex(bits & 0xffffffffu) + "u)";
    case DType::int64:
      return "static_cast<long long>(" + hex(bits) + "ull)";
    case DType::uint64:
      return hex(bits) + "ull";
    default:
      return bits != 0 ? "true" : "false";
  }
}

std::string CudaKernel::value(uint16_t r) {
  if (is_inline(r)) return literal(r);
  return p_.code[r].element && (is_load(r) || held_[r]) ? "x" + number(r) + "[t]" : "r" + number(r);
}

std::string CudaKernel::index_of(uint32_t domain_axis, const CudaPass* pass) const {
  const int axis = domain_.axis_of(domain_axis);
  if (axis < 0) return "0ll";
  const bool moves = pass != nullptr && !pass->group.axes.empty() && pass->group.axes.back() == axis;
  return moves ? "(i" + number(axis) + " + v)" : "i" + number(axis);
}

std::string CudaKernel::narrow_expression(const LoopInstruction& c) {
  std::string text = std::string("ge::narrow::") + narrow_function(c.op, small_floats_) + "(" + value(c.a);
  if (c.op == static_cast<uint16_t>(ScalarOp::div)) {
    if (is_inline(c.b)) return text + ", ge::narrow::Divisor(" + literal(c.b) + "))";
    return text + (p_.code[c.b].element || !c.element ? ", " + value(c.b) : ", q" + number(c.b)) + ")";
  }
  if (c.b != kNoRegister) text += ", " + value(c.b);
  return text + ")";
}

std::string CudaKernel::expression(size_t r, const CudaPass* pass) {
  const LoopInstruction& c = p_.code[r];
  if (c.op < kFirstControlOp) {
    const ScalarOpInfo& info = *scalar_op_info(c.op);
    if (narrow_[r] && (c.element || is_exact_enough_for_rows(c.op)) &&
        narrow_function(c.op, small_floats_) != nullptr)
      return narrow_expression(c);
    if (steady_[r]) return "ge::loop::rounded_product(" + value(c.a) + ", " + value(c.b) + ")";
    const DType type = p_.code[info.op == ScalarOp::select ? c.b : c.a].type;
    std::string text = "ge::scalar::" + std::string(info.name) + "<" + type_name(type) + ">(" + value(c.a);
    if (info.arity > 1) text += ", " + value(c.b);
    if (info.arity > 2) text += ", " + value(c.c);
    return text + ")";
  }
  switch (static_cast<LoopOp>(c.op)) {
    case LoopOp::kIndex:
      return index_of(c.imm, pass);
    case LoopOp::kLoad:
      return "ge::loop::from_memory<" + type_name(c.type) + ">(*b" + number(c.imm) + ")";
    default:
      break;
  }
  const auto through = static_cast<DType>(c.imm);  // kCast
  if (through == c.type) return "ge::loop::value_cast<" + type_name(c.type) + ">(" + value(c.a) + ")";
  return "ge::loop::cast_through<" + memory_type_name(through) + ", " + type_name(c.type) + ">(" +
         value(c.a) + ")";
}

std::string CudaKernel::join_of(size_t r) const {
  const LoopInstruction& c = p_.code[r];
  const std::string type = type_name(p_.code[c.a].type);
  switch (static_cast<LoopOp>(c.op)) {
    case LoopOp::kReduceSum:
      return "ge::loop::Sum<" + type + ">";
    case LoopOp::kReduceProd:
      return "ge::loop::Prod<" + type + ">";
    case LoopOp::kReduceMax:
      return "ge::loop::Max<" + type + ">";
    case LoopOp::kReduceMin:
      return "ge::loop::Min<" + type + ">";
    default:
      break;
  }
  const bool max = c.op == static_cast<uint16_t>(LoopOp::kReduceArgMax);
  return "ge::loop::Arg<" + type + (max ? ", true" : ", false") + (c.imm ? ", true>" : ", false>");
}

void CudaKernel::row_values(int sweep, const Finish& finish) {
  for (size_t r = 0; r < p_.code.size(); ++r) {
    const LoopInstruction& c = p_.code[r];
    if (!needed_[r] || c.element || is_inline(r) || is_store(r) || dropped_[r] || c.sweep != sweep) continue;
    std::string text;
    if (is_reduction(c.op)) {
      text = finish(join_of(r), "acc" + number(r));
      if (c.op >= static_cast<uint16_t>(LoopOp::kReduceArgMax)) text = "ge::loop::position_of(" + text + ")";
    } else {
      text = expression(r, nullptr);
    }
    line("const " + type_name(c.type) + " r" + number(r) + " = " + text + ";");
    if (is_divisor(r)) line("const ge::narrow::Divisor q" + number(r) + "(r" + number(r) + ");");
  }
}

void CudaKernel::start_accumulators(int sweep) {
  for (size_t r = 0; r < p_.code.size(); ++r) {
    if (!needed_[r] || !is_reduction(p_.code[r].op) || p_.code[r].sweep != sweep + 1) continue;
    line(join_of(r) + "::Type acc" + number(r) + " = " + join_of(r) + "::start();");
  }
}

void CudaKernel::row_stores(const std::string& condition) {
  bool opened = false;
  for (size_t r = 0; r < p_.code.size(); ++r) {
    const LoopInstruction& c = p_.code[r];
    if (!is_store(r) || c.element) continue;
    if (!opened) open("if (" + condition + ")");
    opened = true;
    line("*b" + number(c.imm) + " = ge::loop::to_memory<" + memory_type_name(p_.operands[c.imm].dtype) +
         ">(" + value(stored_[r]) + ");");
  }
  if (opened) close();
}

// ---- values from sweep to sweep ----

std::vector<bool> CudaKernel::wanted(int sweep) const {
  return wanted_in_sweep(p_, needed_, sweep, held_);
}

std::vector<bool> CudaKernel::choose_held() const {
  std::vector<int> sweeps(p_.code.size(), 0);
  const std::vector<bool> nothing(p_.code.size(), false);
  for (int s = 0; s < p_.sweeps; ++s) {
    const auto want = wanted_in_sweep(p_, needed_, s, nothing);
    for (size_t r = 0; r < want.size(); ++r) sweeps[r] += want[r] ? 1 : 0;
  }
  std::vector<bool> hold(p_.code.size(), false);
  for (size_t r = 0; r < p_.code.size(); ++r) {
    const LoopInstruction& c = p_.code[r];
    const bool worth = is_load(r) || is_costly(c.op) || c.op == static_cast<uint16_t>(LoopOp::kCast);
    hold[r] = c.element && !is_inline(r) && worth && sweeps[r] > 1;
  }
  hold = without_idle(hold);
  // One cheap value in place of several that it is made of: x + y for x and y.
  for (size_t r = p_.code.size(); r-- > 0;) {
    if (hold[r] || sweeps[r] < 2 || !p_.code[r].element || is_inline(r)) continue;
    std::vector<bool> with = hold;
    with[r] = true;
    with = without_idle(with);
    if (std::count(with.begin(), with.end(), true) <= std::count(hold.begin(), hold.end(), true) && with[r])
      hold = with;
  }
  return hold;
}

// A held value makes what it alone was computed from unnecessary in later sweeps: only what is still read
// then stays.
std::vector<bool> CudaKernel::without_idle(std::vector<bool> hold) const {
  std::vector<int> reads(p_.code.size(), 0);
  std::vector<bool> have(p_.code.size(), false);
  for (int s = 0; s < p_.sweeps; ++s) {
    const auto want = wanted_in_sweep(p_, needed_, s, have);
    for (size_t r = 0; r < want.size(); ++r) reads[r] += want[r] ? 1 : 0;
    take_held(want, hold, have);
  }
  for (size_t r = 0; r < hold.size(); ++r) hold[r] = hold[r] && reads[r] > 1;
  return hold;
}

int CudaKernel::loads_in_sweep(int sweep) const {
  const auto want = wanted_in_sweep(p_, needed_, sweep, std::vector<bool>(p_.code.size(), false));
  int n = 0;
  for (size_t r = 0; r < want.size(); ++r) n += want[r] && is_load(r) && p_.code[r].element;
  return n;
}

int CudaKernel::live_values(const std::vector<bool>& hold) const {
  int most = 1;
  std::vector<bool> have(p_.code.size(), false);
  for (int s = 0; s < p_.sweeps; ++s) {
    auto live = static_cast<int>(std::count(have.begin(), have.end(), true));
    const auto want = wanted_in_sweep(p_, needed_, s, have);
    for (size_t r = 0; r < want.size(); ++r) live += want[r] && !have[r] && is_load(r) && p_.code[r].element;
    most = std::max(most, live);
    take_held(want, hold, have);
  }
  return most;
}

bool CudaKernel::holds_anything_wide() const {
  for (size_t r = 0; r < p_.code.size(); ++r) {
    const DType t = p_.code[r].type;
    if (needed_[r] && p_.code[r].element && !is_inline(r) && bits_of(t) == 64) return true;
  }
  return false;
}

}  // namespace ge

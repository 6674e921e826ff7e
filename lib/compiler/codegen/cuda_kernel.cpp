#include "compiler/codegen/cuda_kernel.h"

#include <algorithm>
#include <cstdio>

#include "compiler/codegen/cuda_precision.h"
#include "contract/scalar_op.h"
#include "kernels/loop/loop_uses.h"

namespace ge {
namespace {

std::string number(size_t i) {
  return std::to_string(i);
}
std::string hex(uint64_t bits) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  return text;
}

// What a sweep leaves to the next: of the values it wanted, those that are held.
void take_held(const std::vector<bool>& want, const std::vector<bool>& hold, std::vector<bool>& have) {
  for (size_t r = 0; r < want.size(); ++r)
    if (want[r] && hold[r]) have[r] = true;
}

}  // namespace

CudaKernel::CudaKernel(const CudaDomain& domain)
    : domain_(domain),
      p_(domain.program()),
      args_(domain),
      needed_(needed_registers(p_)),
      used_operands_(p_.operands.size(), false),
      held_(p_.code.size(), false),
      vector_operands_(p_.operands.size(), false),
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
  const auto index = [](int axis) { return "i" + std::to_string(axis); };
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
  if (domain_.is_dense(operand, group.axes)) return term(group.linear, group.axes.back());
  std::string text;
  for (const int a : group.axes) text += term("i" + std::to_string(a), a);
  return text;
}

void CudaKernel::declare_bases(const std::vector<CudaGroup>& groups) {
  for (size_t i = 0; i < p_.operands.size(); ++i) {
    if (!used_operands_[i]) continue;
    const std::string type = memory_type_name(p_.operands[i].dtype);
    std::string moved;
    for (const CudaGroup& g : groups) moved += offset(i, g);
    line(type + "* const b" + number(i) + " = static_cast<" + type + "*>(" + args_.pointer(i) + ")" + moved +
         ";");
  }
}

void CudaKernel::declare_held(const std::vector<bool>& hold, int elements) {
  for (size_t r = 0; r < hold.size(); ++r)
    if (hold[r]) line(type_name(p_.code[r].type) + " x" + number(r) + "[" + std::to_string(elements) + "];");
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
  return moves ? "(i" + std::to_string(axis) + " + v)" : "i" + std::to_string(axis);
}

std::string CudaKernel::narrow_expression(const LoopInstruction& c) {
  std::string text = std::string("ge::narrow::") + narrow_function(c.op, small_floats_) + "(" + value(c.a);
  if (c.op == static_cast<uint16_t>(ScalarOp::div)) {
    if (is_inline(c.b)) return text + ", ge::narrow::Divisor(" + literal(c.b) + "))";
    return text + (p_.code[c.b].element ? ", " + value(c.b) : ", q" + number(c.b)) + ")";
  }
  if (c.b != kNoRegister) text += ", " + value(c.b);
  return text + ")";
}

std::string CudaKernel::expression(size_t r, const CudaPass* pass) {
  const LoopInstruction& c = p_.code[r];
  if (c.op < kFirstControlOp) {
    const ScalarOpInfo& info = *scalar_op_info(c.op);
    if (narrow_[r] && c.element && narrow_function(c.op, small_floats_) != nullptr)
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

// ---- passes ----

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

void CudaKernel::open_chunk(const CudaPass& pass) {
  if (pass.chunks > 1) line("#pragma unroll");
  open("for (int k = 0; k < " + std::to_string(pass.chunks) + "; ++k)");
  const std::string& j = pass.group.linear;
  if (pass.inside.empty()) {
    line("const long long " + j + " = " + pass.position + ";");
    if (!pass.whole.empty()) {
      line("const bool whole = " + pass.whole + ";");
      line("const int from = whole ? 0 : static_cast<int>(-" + j + "), to = whole ? " +
           std::to_string(pass.vector) + " : static_cast<int>(" + pass.length + " - " + j + ");");
    }
  } else {
    line("const long long own_" + j + " = " + pass.position + ";");
    line("const bool inside = own_" + j + " < " + pass.inside + ";");
    line("const long long " + j + " = inside ? own_" + j + " : " + pass.instead + ";");
  }
  if (!pass.condition.empty()) open("if (" + pass.condition + ")");
  declare_indices(pass.group);
}
void CudaKernel::close_chunk(const CudaPass& pass) {
  if (!pass.condition.empty()) close();
  close();
}

void CudaKernel::load(size_t r, const CudaPass& pass) {
  const LoopInstruction& c = p_.code[r];
  const std::string into = "x" + number(r) + (pass.chunks > 1 ? " + k * " + std::to_string(pass.vector) : "");
  if (!replaced_[c.imm].empty())
    return line("*(" + into + ") = ge::loop::from_memory<" + type_name(c.type) + ">(" + replaced_[c.imm] +
                ");");
  const std::string at = "b" + number(c.imm) + offset(c.imm, pass.group);
  const std::string count = std::to_string(pass.vector);
  const auto stride =
      pass.group.axes.empty() ? std::optional<int64_t>(0) : domain_.stride(c.imm, pass.group.axes.back());
  // Loads carry no streaming hint, stores do: on an H200 a 12-op chain over 2 x 64M floats took 191 us
  // without, 210 us with it.
  if (stride == 0)
    line("ge::loop::load_repeated<" + count + ">(" + at + ", " + into + ");");
  else if (!pass.whole.empty() && vector_operands_[c.imm])
    line("ge::loop::load_across<" + count + ">(" + at + ", b" + number(c.imm) +
         " - before, whole || (to > 0 && " + pass.group.linear + " + " + count + " <= room), to, " + into +
         ");");
  else if (!pass.whole.empty())
    line("ge::loop::load_inside<" + count + ">(" + at + ", " + args_.stride(c.imm, pass.group.axes.back()) +
         ", from, to, " + into + ");");
  else if (vector_operands_[c.imm])
    line("ge::loop::load<" + count + ", false>(" + at + ", " + into + ");");
  else
    line("ge::loop::load_strided<" + count + ">(" + at + ", " + args_.stride(c.imm, pass.group.axes.back()) +
         ", " + into + ");");
}

void CudaKernel::store(size_t r, const CudaPass& pass) {
  const LoopInstruction& c = p_.code[r];
  const std::string at = "b" + number(c.imm) + offset(c.imm, pass.group), count = std::to_string(pass.vector);
  const bool streams = domain_.facts().operands[c.imm].streaming;
  if (pass.whole.empty() && (vector_operands_[c.imm] || (pass.vector == 1 && streams)))
    return line("ge::loop::store<" + count + ", " + (streams ? "true" : "false") + ">(" + at + ", y" +
                number(r) + ");");
  const std::string stride = pass.group.axes.empty() ? "0ll" : args_.stride(c.imm, pass.group.axes.back());
  if (!pass.whole.empty())
    return line("ge::loop::store_inside<" + count + (vector_operands_[c.imm] ? ", true" : ", false") +
                (streams ? ", true>(" : ", false>(") + at + ", " + stride + ", from, to, y" + number(r) +
                ");");
  line("ge::loop::store_strided<" + count + ">(" + at + ", " + stride + ", y" + number(r) + ");");
}

void CudaKernel::compute(const CudaPass& pass, const std::vector<bool>& want, const std::vector<bool>& hold) {
  const bool last = pass.sweep == p_.sweeps - 1;
  std::vector<size_t> stores;
  for (size_t r = 0; r < p_.code.size(); ++r)
    if (last && is_store(r) && p_.code[r].element) stores.push_back(r);
  for (const size_t r : stores)
    line(type_name(p_.code[stored_[r]].type) + " y" + number(r) + "[" + std::to_string(pass.vector) + "];");
  if (pass.vector > 1) line("#pragma unroll");
  open("for (int v = 0; v < " + std::to_string(pass.vector) + "; ++v)");
  line("const int t = " + std::string(pass.chunks > 1 ? "k * " + std::to_string(pass.vector) + " + v" : "v") +
       ";");
  for (size_t r = 0; r < p_.code.size(); ++r) {
    const LoopInstruction& c = p_.code[r];
    if (!want[r] || !c.element || is_inline(r) || is_load(r) || held_[r] || dropped_[r]) continue;
    line("const " + type_name(c.type) + " r" + number(r) + " = " + expression(r, &pass) + ";");
    if (hold[r]) line("x" + number(r) + "[t] = r" + number(r) + ";");
  }
  std::vector<size_t> joins;
  for (size_t r = 0; r < p_.code.size(); ++r)
    if (needed_[r] && is_reduction(p_.code[r].op) && p_.code[r].sweep == pass.sweep + 1) joins.push_back(r);
  if (!pass.whole.empty() && !joins.empty()) line("const bool inside = v >= from && v < to;");
  for (const size_t r : joins) join(r, pass);
  for (const size_t r : stores) line("y" + number(r) + "[v] = " + value(stored_[r]) + ";");
  close();
  const std::string both = pass.inside.empty() || pass.alive.empty() ? "" : " && ";
  const std::string condition = (pass.inside.empty() ? "" : "inside") + both + pass.alive;
  const bool masked = !stores.empty() && !condition.empty();
  if (masked) open("if (" + condition + ")");
  for (const size_t r : stores) store(r, pass);
  if (masked) close();
}

// Of an element with its accumulator.
void CudaKernel::join(size_t r, const CudaPass& pass) {
  const LoopInstruction& c = p_.code[r];
  const bool positional = c.op >= static_cast<uint16_t>(LoopOp::kReduceArgMax);
  const std::string element =
      positional ? join_of(r) + "::Type{" + value(c.a) + ", " + pass.group.linear + " + v}" : value(c.a);
  const std::string acc = "acc" + number(r), joined = join_of(r) + "::join(" + acc + ", " + element + ")";
  line(acc + " = " +
       (pass.inside.empty() && pass.whole.empty() ? joined : "inside ? " + joined + " : " + acc) + ";");
}

void CudaKernel::pass(const CudaPass& pass, const std::vector<bool>& hold) {
  const std::vector<bool> want = wanted(pass.sweep);
  std::vector<size_t> loads;
  for (size_t r = 0; r < p_.code.size(); ++r)
    if (want[r] && is_load(r) && p_.code[r].element && !held_[r]) loads.push_back(r);
  open("");
  for (const size_t r : loads) {
    if (!hold[r])
      line(type_name(p_.code[r].type) + " x" + number(r) + "[" + std::to_string(pass.chunks * pass.vector) +
           "];");
  }
  if (!loads.empty()) {
    open_chunk(pass);
    for (const size_t r : loads) load(r, pass);
    close_chunk(pass);
  }
  open_chunk(pass);
  compute(pass, want, hold);
  close_chunk(pass);
  close();
  take_held(want, hold, held_);  // only element values are held
}

}  // namespace ge

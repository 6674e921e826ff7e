// A pass over a row's elements: CudaKernel's chunks, loads, arithmetic and stores.
#include <algorithm>

#include "compiler/codegen/cuda_kernel.h"
#include "kernels/loop/loop_uses.h"

namespace ge {

void CudaKernel::open_chunk(const CudaPass& pass) {
  if (pass.chunks > 1) line("#pragma unroll");
  open("for (int k = 0; k < " + number(pass.chunks) + "; ++k)");
  const std::string& j = pass.group.linear;
  const std::string safe =
      pass.safe_from >= pass.safe_to ? ""
      : pass.safe_from == 0          ? "k < " + number(pass.safe_to) + " || "
                            : "(k >= " + number(pass.safe_from) + " && k < " + number(pass.safe_to) + ") || ";
  if (!pass.across.empty()) {
    const std::string width = number(pass.vector);
    line("const int " + j + " = " + pass.position + ", from = -" + j + ", to = " + pass.across + " - " + j +
         ";");
    line("const bool whole = " + safe + "(from <= 0 && to >= " + width + ");");
  } else if (pass.inside.empty()) {
    line("const auto " + j + " = " + pass.position + ";");
  } else {
    line("const int own_" + j + " = " + pass.position + ";");
    line("const bool inside = " + safe + "own_" + j + " < " + pass.inside + ";");
    line("const int " + j + " = inside ? own_" + j + " : " + pass.instead + ";");
  }
  if (!pass.condition.empty()) open("if (" + pass.condition + ")");
  declare_indices(pass.group);
}
void CudaKernel::close_chunk(const CudaPass& pass) {
  if (!pass.condition.empty()) close();
  close();
}

// ---- loads ----

std::vector<bool> CudaKernel::loads_of_every_row() const {
  std::vector<bool> loads(p_.code.size(), false);
  const std::vector<int> outer = domain_.outer_axes(), row = domain_.row_axes();
  if (row.empty()) return loads;
  for (size_t r = 0; r < p_.code.size(); ++r) {
    if (!needed_[r] || !is_load(r) || !p_.code[r].element) continue;
    const size_t operand = p_.code[r].imm;
    loads[r] =
        domain_.stride(operand, row.back()) != 0 &&
        std::all_of(outer.begin(), outer.end(), [&](int a) { return domain_.stride(operand, a) == 0; });
  }
  return loads;
}

void CudaKernel::keep_loads(const CudaPass& pass, int block) {
  const std::vector<bool> every_row = loads_of_every_row();
  std::vector<size_t> loads;
  for (size_t r = 0; r < every_row.size(); ++r)
    if (every_row[r]) loads.push_back(r);
  if (loads.empty()) return;
  for (const size_t r : loads) {
    const uint32_t operand = p_.code[r].imm;
    if (!based_[operand]) line(base(operand, {}, &pass.group));
    based_[operand] = kept_[r] = true;
    line("__shared__ " + raw_type(r, pass) + " w" + number(r) + "[" + number(pass.chunks) + "][" +
         number(block) + "];");
  }
  open_chunk(pass);
  for (const size_t r : loads) load(r, pass, false);
  close_chunk(pass);
}

void CudaKernel::load_early(const CudaPass& pass, int registers) {
  constexpr uint32_t kMostOperands = 63;  // that a mask of 64 bits with a sign names
  const std::vector<bool> every_row = loads_of_every_row();
  std::vector<size_t> loads;
  int bytes = 0;
  for (size_t r = 0; r < every_row.size(); ++r) {
    const uint32_t operand = p_.code[r].imm;
    if (!every_row[r] || operand >= kMostOperands || !domain_.facts().operands[operand].constant) continue;
    loads.push_back(r);
    bytes += std::max(4, pass.vector * bits_of(p_.operands[operand].dtype) / 8) * pass.chunks;
  }
  if (loads.empty() || bytes > registers * 4) return;
  for (const size_t r : loads) {
    const uint32_t operand = p_.code[r].imm;
    if (!based_[operand]) line(base(operand, {}, &pass.group));
    based_[operand] = early_[r] = true;
    declare_raw(r, pass);
  }
  load_chunks(loads, pass);
}

int64_t CudaKernel::early_operands() const {
  int64_t operands = 0;
  for (size_t r = 0; r < early_.size(); ++r)
    if (early_[r]) operands |= int64_t{1} << p_.code[r].imm;
  return operands;
}

void CudaKernel::declare_ahead(const CudaPass& pass, const std::vector<bool>& except) {
  const std::vector<bool> want = wanted(0);
  for (size_t r = 0; r < p_.code.size(); ++r) {
    if (!want[r] || !is_load(r) || !p_.code[r].element || except[r]) continue;
    if (domain_.stride(p_.code[r].imm, pass.group.axes.back()) == 0) continue;
    ahead_[r] = true;
    declare_raw(r, pass);
  }
}

void CudaKernel::load_ahead(const CudaPass& pass) {
  std::vector<size_t> loads;
  for (size_t r = 0; r < ahead_.size(); ++r)
    if (ahead_[r]) loads.push_back(r);
  load_chunks(loads, pass);
}

// Elements stay as they lie in memory until they are computed with.
bool CudaKernel::is_raw(size_t r, const CudaPass& pass) const {
  if (kept_[r] || early_[r] || (ahead_[r] && pass.sweep == 0)) return true;
  return !pass.across.empty() && domain_.stride(p_.code[r].imm, pass.group.axes.back()) != 0;
}

void CudaKernel::declare_raw(size_t r, const CudaPass& pass) {
  line(raw_type(r, pass) + " w" + number(r) + "[" + number(pass.chunks) + "];");
}
std::string CudaKernel::raw_type(size_t r, const CudaPass& pass) const {
  return "ge::loop::Raw<" + memory_type_name(p_.operands[p_.code[r].imm].dtype) + ", " + number(pass.vector) +
         ">";
}
std::string CudaKernel::raw(size_t r) const {
  return "w" + number(r) + (kept_[r] ? "[k][threadIdx.x]" : "[k]");
}

// `whole`: all vectors may be read, whatever of them lies outside the row.
void CudaKernel::load(size_t r, const CudaPass& pass, bool whole) {
  const LoopInstruction& c = p_.code[r];
  const std::string into = "x" + number(r) + (pass.chunks > 1 ? " + k * " + number(pass.vector) : "");
  if (!replaced_[c.imm].empty())
    return line("*(" + into + ") = ge::loop::from_memory<" + type_name(c.type) + ">(" + replaced_[c.imm] +
                ");");
  const std::string at = "b" + number(c.imm) + offset(c.imm, pass.group), raw = this->raw(r);
  const std::string count = number(pass.vector);
  const auto stride =
      pass.group.axes.empty() ? std::optional<int64_t>(0) : domain_.stride(c.imm, pass.group.axes.back());
  // Loads carry no streaming hint, stores do: on an H200 a 12-op chain over 2 x 64M floats took 191 us
  // without, 210 us with it.
  if (stride == 0) return line("ge::loop::load_repeated<" + count + ">(" + at + ", " + into + ");");
  const std::string step = args_.stride(c.imm, pass.group.axes.back());
  if (!pass.across.empty() && vector_operands_[c.imm] && whole)
    return line("ge::loop::fetch<false>(b" + number(c.imm) + " + ((to > 0 ? " + pass.group.linear +
                " : -before) - " + pass.group.origin + "), " + raw + ");");
  if (!pass.across.empty())
    return line("ge::loop::gather(" + at + ", " + step + ", whole ? 0 : from, whole ? " + count + " : to, " +
                raw + ");");
  const bool stays = is_raw(r, pass);
  if (stays && vector_operands_[c.imm]) return line("ge::loop::fetch<false>(" + at + ", " + raw + ");");
  if (stays) return line("ge::loop::gather(" + at + ", " + step + ", 0, " + count + ", " + raw + ");");
  if (vector_operands_[c.imm]) return line("ge::loop::load<" + count + ", false>(" + at + ", " + into + ");");
  line("ge::loop::load_strided<" + count + ">(" + at + ", " + step + ", " + into + ");");
}

void CudaKernel::load_chunks(const std::vector<size_t>& loads, const CudaPass& pass) {
  const bool asks = !pass.across.empty() && !pass.readable.empty();
  if (asks) open("if (" + pass.readable + ")");
  open_chunk(pass);
  for (const size_t r : loads) load(r, pass, true);
  close_chunk(pass);
  if (!asks) return;
  close();
  open("else");
  open_chunk(pass);
  for (const size_t r : loads) load(r, pass, false);
  close_chunk(pass);
  close();
}

void CudaKernel::store(size_t r, const CudaPass& pass) {
  const LoopInstruction& c = p_.code[r];
  const std::string at = "b" + number(c.imm) + offset(c.imm, pass.group), count = number(pass.vector);
  const bool streams = domain_.facts().operands[c.imm].streaming, vectors = vector_operands_[c.imm];
  const std::string whole =
      "ge::loop::store<" + count + ", " + (streams ? "true" : "false") + ">(" + at + ", y" + number(r) + ");";
  const std::string stride = pass.group.axes.empty() ? "0ll" : args_.stride(c.imm, pass.group.axes.back());
  if (!pass.across.empty()) {
    if (vectors) line("if (whole) " + whole);
    return line((vectors ? "else " : "") + std::string("ge::loop::store_some<") + count + ">(" + at + ", " +
                stride + ", ge::loop::bits_between<" + count + ">(from, to), y" + number(r) + ");");
  }
  if (vectors || (pass.vector == 1 && streams)) return line(whole);
  line("ge::loop::store_strided<" + count + ">(" + at + ", " + stride + ", y" + number(r) + ");");
}

// Elements are stored in the last sweep alone.
std::vector<size_t> CudaKernel::stores_of(const CudaPass& pass) const {
  std::vector<size_t> stores;
  for (size_t r = 0; pass.sweep == p_.sweeps - 1 && r < p_.code.size(); ++r)
    if (is_store(r) && p_.code[r].element) stores.push_back(r);
  return stores;
}
std::vector<size_t> CudaKernel::joins_of(const CudaPass& pass) const {
  std::vector<size_t> joins;
  for (size_t r = 0; r < p_.code.size(); ++r)
    if (needed_[r] && is_reduction(p_.code[r].op) && p_.code[r].sweep == pass.sweep + 1) joins.push_back(r);
  return joins;
}

void CudaKernel::compute(const CudaPass& pass, const std::vector<bool>& want, const std::vector<bool>& hold) {
  const std::vector<size_t> stores = stores_of(pass), joins = joins_of(pass);
  const std::string count = number(pass.vector);
  for (size_t r = 0; r < p_.code.size(); ++r)
    if (want[r] && is_load(r) && p_.code[r].element && !held_[r] && is_raw(r, pass))
      line("ge::loop::decode(" + raw(r) + ", x" + number(r) + (pass.chunks > 1 ? " + k * " + count : "") +
           ");");
  for (const size_t r : stores)
    line(type_name(p_.code[stored_[r]].type) + " y" + number(r) + "[" + count + "];");
  // Few vectors reach over a row's ends: only those ask of each element, and after all are computed.
  const bool later = !pass.across.empty();
  for (const size_t r : joins)
    if (later) line(type_name(p_.code[p_.code[r].a].type) + " z" + number(r) + "[" + count + "];");
  if (pass.vector > 1) line("#pragma unroll");
  open("for (int v = 0; v < " + count + "; ++v)");
  line("const int t = " + std::string(pass.chunks > 1 ? "k * " + count + " + v" : "v") + ";");
  for (size_t r = 0; r < p_.code.size(); ++r) {
    const LoopInstruction& c = p_.code[r];
    if (!want[r] || !c.element || is_inline(r) || is_load(r) || held_[r] || dropped_[r]) continue;
    line("const " + type_name(c.type) + " r" + number(r) + " = " + expression(r, &pass) + ";");
    if (hold[r]) line("x" + number(r) + "[t] = r" + number(r) + ";");
  }
  for (const size_t r : joins)
    later ? line("z" + number(r) + "[v] = " + value(p_.code[r].a) + ";") : join(r, value(p_.code[r].a), pass);
  for (const size_t r : stores) line("y" + number(r) + "[v] = " + value(stored_[r]) + ";");
  close();
  if (later && !joins.empty()) join_later(joins, pass);
  store_all(stores, pass);
}

void CudaKernel::store_all(const std::vector<size_t>& stores, const CudaPass& pass) {
  const std::string both = pass.inside.empty() || pass.alive.empty() ? "" : " && ";
  const std::string condition = (pass.inside.empty() ? "" : "inside") + both + pass.alive;
  const bool masked = !stores.empty() && !condition.empty();
  if (masked) open("if (" + condition + ")");
  for (const size_t r : stores) store(r, pass);
  if (masked) close();
}

// Of an element with its accumulator.
void CudaKernel::join(size_t r, const std::string& element, const CudaPass& pass) {
  const bool positional = p_.code[r].op >= static_cast<uint16_t>(LoopOp::kReduceArgMax);
  const std::string acc = "acc" + number(r);
  const std::string whole =
      positional ? join_of(r) + "::Type{" + element + ", " + pass.group.linear + " + v}" : element;
  const std::string joined = join_of(r) + "::join(" + acc + ", " + whole + ")";
  line(acc + " = " + (pass.inside.empty() ? joined : "inside ? " + joined + " : " + acc) + ";");
}

void CudaKernel::join_later(const std::vector<size_t>& joins, const CudaPass& pass) {
  for (const bool whole : {true, false}) {
    open(whole ? "if (whole)" : "else");
    if (pass.vector > 1) line("#pragma unroll");
    open("for (int v = 0; v < " + number(pass.vector) + "; ++v)");
    if (!whole) line("if (v < from || v >= to) continue;");
    for (const size_t r : joins) join(r, "z" + number(r) + "[v]", pass);
    close();
    close();
  }
}

void CudaKernel::pass(const CudaPass& pass, const std::vector<bool>& hold) {
  const std::vector<bool> want = wanted(pass.sweep);
  std::vector<size_t> loads;
  for (size_t r = 0; r < p_.code.size(); ++r)
    if (want[r] && is_load(r) && p_.code[r].element && !held_[r]) loads.push_back(r);
  open("");
  std::vector<size_t> read;  // what is not in registers before
  for (const size_t r : loads) {
    if (!hold[r])
      line(type_name(p_.code[r].type) + " x" + number(r) + "[" + number(pass.chunks * pass.vector) + "];");
    if (kept_[r] || early_[r] || (ahead_[r] && pass.sweep == 0)) continue;
    if (is_raw(r, pass)) declare_raw(r, pass);
    read.push_back(r);
  }
  if (!read.empty()) load_chunks(read, pass);
  open_chunk(pass);
  compute(pass, want, hold);
  close_chunk(pass);
  close();
  take_held(want, hold, held_);  // only element values are held
}

}  // namespace ge

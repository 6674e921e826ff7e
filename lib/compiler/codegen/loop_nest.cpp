#include "compiler/codegen/loop_nest.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "contract/scalar_op.h"
#include "numeric/convert.h"

namespace ge {
namespace {

constexpr uint16_t kNoRegister = 0xffff;

Error refuse(std::string reason) {
  return fail(Code::no_kernel).say(std::move(reason));
}

bool wraps_to_own_type(DType dtype) {  // integers whose registers are wider than they are
  return is_integer(dtype) && bits_of(dtype) < bits_of(register_type(dtype));
}

double op_weight(uint16_t code) {  // exp and its kin cost about eight multiplies
  const auto* info = scalar_op_info(code);
  const bool cheap =
      info != nullptr && (code <= 5 || (code >= 8 && code <= 13) || (code >= 33 && code <= 66) ||
                          code == 71 || code == 72 || code >= 79);
  return cheap ? 1 : 8;
}

class NestBuilder {
 public:
  NestBuilder(const Graph& graph, bool round_each_op) : graph_(graph), round_each_op_(round_each_op) {}

  Result<LoopNest> build() {
    GE_TRY(choose_domain());
    GE_TRY(store_outputs());
    finish();
    return std::move(nest_);
  }

 private:
  struct Emitted {
    AxisMaps maps;
    uint16_t reg;
  };

  // -- domain --
  // The largest output; of equal ones the last to be computed, which may need the others.
  ValueId primary_output() const {
    std::map<NodeId, size_t> position;
    for (const NodeId id : graph_.order()) position.emplace(id, position.size());
    const auto rank = [&](ValueId v) {
      const NodeId producer = graph_.value(v).producer;
      return std::pair(opt_elements(v), producer == kNone ? size_t{0} : position.at(producer) + 1);
    };
    ValueId best = graph_.outputs[0];
    for (const ValueId v : graph_.outputs)
      if (rank(v) > rank(best)) best = v;
    return best;
  }
  int64_t opt_elements(ValueId v) const { return opt_value(graph_, product(graph_.type(v).dims)); }

  // Maps that values have without crossing a reduction, walking back from the output.
  void walk_back(ValueId v, const AxisMaps& maps, std::map<ValueId, AxisMaps>& seen) const {
    if (!seen.emplace(v, maps).second) return;
    const Node* node = graph_.producer(v);
    if (node == nullptr || node->op == Op::reduce) return;
    for (const ValueId operand : node->operands)
      if (const auto next = operand_maps(*node, operand, maps)) walk_back(operand, *next, seen);
  }

  std::optional<AxisMaps> operand_maps(const Node& node, ValueId operand, const AxisMaps& maps) const {
    const Dims& from = graph_.type(operand).dims;
    const Dims& to = graph_.type(node.results[0]).dims;
    switch (node.op) {
      case Op::transpose:
        return through_transpose(maps, attr_ints(node, "perm"));
      case Op::broadcast:
        return through_broadcast(maps, from, to);
      case Op::slice:
        return through_slice(maps, attr_dims(node, "starts"), attr_ints(node, "steps"));
      case Op::reshape:
        return through_unit_reshape(maps, from, to);
      case Op::cast:
        return maps;
      default:
        return is_map(node.op) ? std::optional(maps) : std::nullopt;
    }
  }

  Status choose_domain() {
    if (graph_.outputs.empty()) return refuse("no output");
    primary_ = primary_output();
    const Dims& dims = graph_.type(primary_).dims;
    std::vector<int8_t> rows;  // axes of the provisional domain
    Dims extents = dims;
    std::map<ValueId, AxisMaps> seen;
    walk_back(primary_, identity_map(dims.size()), seen);
    for (const NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (node.op == Op::reduce) GE_TRY(place_reduction(node, seen, extents, rows));
    }
    return order_domain(extents, rows, dims.size());
  }

  Status place_reduction(const Node& node, const std::map<ValueId, AxisMaps>& seen, Dims& extents,
                         std::vector<int8_t>& rows) {
    const Dims& operand = graph_.type(node.operands[0]).dims;
    const auto& axes = attr_ints(node, "axes");
    if (!rows.empty()) {
      if (axes.size() != rows.size()) return refuse("reductions over different axes");
      for (size_t i = 0; i < axes.size(); ++i)
        if (!(operand[static_cast<size_t>(axes[i])] == extents[static_cast<size_t>(rows[i])]))
          return refuse("reductions over rows of different length");
      return {};
    }
    const auto found = seen.find(node.operands[0]);
    for (const int64_t axis : axes) {
      const Dim& extent = operand[static_cast<size_t>(axis)];
      int8_t row = -1;
      if (found != seen.end()) {
        row = found->second[static_cast<size_t>(axis)].axis;
      } else if (operand.size() == extents.size() && extents[static_cast<size_t>(axis)] == extent) {
        row = static_cast<int8_t>(axis);
      }
      if (row >= 0 && !(extents[static_cast<size_t>(row)] == extent)) row = -1;
      if (row < 0 || std::find(rows.begin(), rows.end(), row) != rows.end()) {
        row = static_cast<int8_t>(extents.size());
        extents.push_back(extent);
      }
      rows.push_back(row);
    }
    return {};
  }

  Status order_domain(const Dims& extents, const std::vector<int8_t>& rows, size_t primary_rank) {
    if (extents.size() > static_cast<size_t>(kMaxRank)) return refuse("more than 8 loop axes");
    std::vector<int8_t> position(extents.size());
    int8_t next = 0;
    for (size_t a = 0; a < extents.size(); ++a) {
      if (std::find(rows.begin(), rows.end(), static_cast<int8_t>(a)) != rows.end()) continue;
      position[a] = next++;
      nest_.domain.push_back(extents[a]);
    }
    nest_.program.outer_rank = static_cast<uint8_t>(next);
    for (const int8_t a : rows) {
      position[static_cast<size_t>(a)] = next++;
      row_axes_.push_back(position[static_cast<size_t>(a)]);
      nest_.domain.push_back(extents[static_cast<size_t>(a)]);
    }
    nest_.program.row_rank = static_cast<uint8_t>(rows.size());
    primary_maps_ = AxisMaps(primary_rank);
    for (size_t a = 0; a < primary_rank; ++a) primary_maps_[a].axis = position[a];
    outer_elements_ = opt_product(0, nest_.program.outer_rank);
    domain_elements_ = opt_product(0, nest_.domain.size());
    return {};
  }
  double opt_product(size_t from, size_t to) const {
    return static_cast<double>(opt_value(graph_, product(nest_.domain, from, to)));
  }

  // An op may run once per element of its own result, not once per element of a larger loop.
  Status check_redundancy(const Node& node, ValueId counted, bool element) const {
    const double runs = element ? domain_elements_ : outer_elements_;
    if (domain_elements_ == 0 || runs <= 1.01 * static_cast<double>(opt_elements(counted))) return {};
    return refuse(std::string(name_of(node.op)) +
                  " would be computed again for every element of a larger loop");
  }

  // -- instructions --
  bool is_row_axis(int8_t axis) const { return axis >= static_cast<int8_t>(nest_.program.outer_rank); }
  bool touches_row(const AxisMaps& maps) const {
    return std::any_of(maps.begin(), maps.end(),
                       [&](const AxisMap& m) { return m.axis >= 0 && is_row_axis(m.axis); });
  }
  bool is_element(const AxisMaps& maps) const { return nest_.program.row_rank == 0 || touches_row(maps); }

  Result<uint16_t> append(LoopInstruction in) {
    if (code_.size() >= 1024) return refuse("more than 1024 instructions");
    for (const uint16_t r : {in.a, in.b, in.c}) {
      if (r == kNoRegister) continue;
      const LoopInstruction& source = code_[r];
      in.sweep = std::max(in.sweep, source.sweep);
    }
    code_.push_back(in);
    return static_cast<uint16_t>(code_.size() - 1);
  }
  bool any_element(std::initializer_list<uint16_t> registers) const {
    if (nest_.program.row_rank == 0) return true;
    for (const uint16_t r : registers)
      if (r != kNoRegister && code_[r].element) return true;
    return false;
  }
  Result<uint16_t> append_op(uint16_t op, DType type, std::initializer_list<uint16_t> registers,
                             uint32_t imm = 0) {
    LoopInstruction in{.op = op, .type = type, .element = any_element(registers), .imm = imm};
    const auto* r = registers.begin();
    if (registers.size() > 0) in.a = r[0];
    if (registers.size() > 1) in.b = r[1];
    if (registers.size() > 2) in.c = r[2];
    return append(in);
  }
  Result<uint16_t> append_constant(DType type, uint64_t bits) {
    const LoopConstant constant{type, bits};
    auto& list = nest_.program.constants;
    auto it = std::find(list.begin(), list.end(), constant);
    if (it == list.end()) it = list.insert(list.end(), constant);
    return append({.op = static_cast<uint16_t>(LoopOp::kConstant),
                   .type = type,
                   .element = nest_.program.row_rank == 0,
                   .imm = static_cast<uint32_t>(it - list.begin())});
  }
  Result<uint16_t> round_through(uint16_t reg, DType dtype) {
    return append_op(static_cast<uint16_t>(LoopOp::kCast), register_type(dtype), {reg},
                     static_cast<uint32_t>(dtype));
  }
  // After an op on values of `dtype`: integers wrap to their width; halves round where every op must.
  Result<uint16_t> settle(uint16_t reg, DType dtype) {
    const bool half = is_float(dtype) && bits_of(dtype) < 32;
    return wraps_to_own_type(dtype) || (half && round_each_op_) ? round_through(reg, dtype)
                                                                : Result<uint16_t>(reg);
  }

  // An axis of extent 1 is at 0, whatever leads there: a value is the same one seen through a reduction that
  // kept its axes and seen directly. (The axes of rows stay: they tell elements from row values.)
  AxisMaps without_units(ValueId v, AxisMaps maps) const {
    const Dims& dims = graph_.type(v).dims;
    for (size_t a = 0; a < maps.size(); ++a)
      if (dims[a].is_value(1) && maps[a].axis >= 0 && !is_row_axis(maps[a].axis)) maps[a] = {};
    return maps;
  }

  Result<uint16_t> value_at(ValueId v, const AxisMaps& seen) {
    const AxisMaps maps = without_units(v, seen);
    for (const Emitted& e : emitted_[v])
      if (e.maps == maps) return e.reg;
    if (++depth_ > 2000) return refuse("too deep");
    auto reg = compute(v, maps);
    --depth_;
    if (reg.ok()) emitted_[v].push_back({maps, *reg});
    return reg;
  }

  Result<uint16_t> compute(ValueId v, const AxisMaps& maps) {
    const ValueInfo& value = graph_.value(v);
    if (value.producer == kNone) return load(v, maps);
    const Node& node = graph_.node(value.producer);
    switch (node.op) {
      case Op::constant:
        return constant(*node.data);
      case Op::iota:
        return iota(node, value.type.dtype, maps);
      case Op::cast:
        return cast(node, maps);
      case Op::reduce:
        return reduce(node, maps);
      default:
        break;
    }
    if (is_map(node.op)) return map(node, value.type.dtype, maps);
    const auto next = node.operands.size() == 1 ? operand_maps(node, node.operands[0], maps) : std::nullopt;
    if (!next) return refuse(std::string(name_of(node.op)) + " does not fit into a loop");
    return value_at(node.operands[0], *next);
  }

  Result<uint16_t> load(ValueId v, const AxisMaps& maps) {
    const auto it = std::find(graph_.inputs.begin(), graph_.inputs.end(), v);
    const DType dtype = graph_.type(v).dtype;
    if (bits_of(dtype) < 8) return refuse("4-bit operands");
    if (nest_.operands.size() >= kMaxFusedOperands) return refuse("more than 24 operands");
    const bool element = is_element(maps);
    nest_.program.operands.push_back({.dtype = dtype, .output = false, .row_level = !element});
    nest_.operands.push_back({false, static_cast<uint32_t>(it - graph_.inputs.begin()), maps});
    return append({.op = static_cast<uint16_t>(LoopOp::kLoad),
                   .type = register_type(dtype),
                   .element = element,
                   .imm = static_cast<uint32_t>(nest_.operands.size() - 1)});
  }

  Result<uint16_t> constant(const TensorData& data) {
    if (!data.splat && data.count() != 1) return refuse("a constant that is not a scalar");
    GE_ASSIGN(const auto bytes, full_bytes(TensorData{data.dtype, {}, data.bytes, data.splat, data.load}));
    const DType type = register_type(data.dtype);
    uint64_t bits = 0;
    if (type == DType::float32) {
      bits = std::bit_cast<uint32_t>(static_cast<float>(load_as_double(data.dtype, bytes->data(), 0)));
    } else if (type == DType::float64) {
      bits = std::bit_cast<uint64_t>(load_as_double(data.dtype, bytes->data(), 0));
    } else {
      bits = static_cast<uint64_t>(load_as_int64(data.dtype, bytes->data(), 0));
    }
    return append_constant(type, bits);
  }

  Result<uint16_t> iota(const Node& node, DType dtype, const AxisMaps& maps) {
    const AxisMap& m = maps[static_cast<size_t>(attr_int(node, "axis"))];
    if (!m.offset.is_static()) return refuse("iota sliced from a symbolic start");
    GE_ASSIGN(uint16_t reg, append_constant(DType::int64, static_cast<uint64_t>(*m.offset.value())));
    if (m.axis >= 0) {
      GE_ASSIGN(uint16_t index, append({.op = static_cast<uint16_t>(LoopOp::kIndex),
                                        .type = DType::int64,
                                        .element = nest_.program.row_rank == 0 || is_row_axis(m.axis),
                                        .imm = static_cast<uint32_t>(m.axis)}));
      if (m.step != 1) {
        GE_ASSIGN(const uint16_t step, append_constant(DType::int64, static_cast<uint64_t>(m.step)));
        GE_ASSIGN(index, append_op(static_cast<uint16_t>(ScalarOp::mul), DType::int64, {index, step}));
      }
      if (m.offset.is_value(0))
        reg = index;
      else {
        GE_ASSIGN(reg, append_op(static_cast<uint16_t>(ScalarOp::add), DType::int64, {index, reg}));
      }
    }
    return dtype == DType::int64 ? Result<uint16_t>(reg) : round_through(reg, dtype);
  }

  Result<uint16_t> cast(const Node& node, const AxisMaps& maps) {
    const DType from = graph_.type(node.operands[0]).dtype, to = attr_dtype(node, "to");
    GE_ASSIGN(const uint16_t reg, value_at(node.operands[0], maps));
    if (bits_of(from) < 8 || bits_of(to) < 8) return refuse("4-bit elements in a loop");
    const bool widening =
        is_float(from) && is_float(to) && register_type(from) == register_type(to) && to == register_type(to);
    if (from == to || widening) return reg;
    return round_through(reg, to);
  }

  Result<uint16_t> map(const Node& node, DType result, const AxisMaps& maps) {
    uint16_t registers[3] = {kNoRegister, kNoRegister, kNoRegister};
    for (size_t i = 0; i < node.operands.size(); ++i) {
      GE_ASSIGN(registers[i], value_at(node.operands[i], maps));
    }
    const uint16_t code = *scalar_code(node.op);
    LoopInstruction in{
        .op = code, .type = register_type(result), .a = registers[0], .b = registers[1], .c = registers[2]};
    in.element = any_element({in.a, in.b, in.c});
    GE_TRY(check_redundancy(node, node.results[0], in.element));
    nest_.operations_per_element += in.element ? op_weight(code) : 0;
    GE_ASSIGN(uint16_t reg, append(in));
    if (code == static_cast<uint16_t>(ScalarOp::shift_right)) {
      GE_ASSIGN(reg, narrow_shift(reg, in, result));
    }
    return settle(reg, result);
  }

  // The register is wider than the type: an amount between the two widths shifts copies of the sign in, where
  // the rule says 0. (Unsigned numbers have none, and what is shifted left wraps to 0.)
  Result<uint16_t> narrow_shift(uint16_t reg, const LoopInstruction& shift, DType dtype) {
    if (class_of(dtype) != DTypeClass::kSigned || !wraps_to_own_type(dtype)) return reg;
    GE_ASSIGN(const uint16_t width, append_constant(shift.type, static_cast<uint64_t>(bits_of(dtype))));
    GE_ASSIGN(const uint16_t within,
              append_op(static_cast<uint16_t>(ScalarOp::less), DType::boolean, {shift.b, width}));
    GE_ASSIGN(const uint16_t zero, append_constant(shift.type, 0));
    return append_op(static_cast<uint16_t>(ScalarOp::select), shift.type, {within, reg, zero});
  }

  static LoopOp reduce_op(std::string_view kind) {
    if (kind == "prod") return LoopOp::kReduceProd;
    if (kind == "max") return LoopOp::kReduceMax;
    if (kind == "min") return LoopOp::kReduceMin;
    if (kind == "argmax") return LoopOp::kReduceArgMax;
    if (kind == "argmin") return LoopOp::kReduceArgMin;
    return LoopOp::kReduceSum;
  }

  // The extreme of no elements is the register's: brought to the least (greatest) number of the dtype itself.
  Result<uint16_t> bounded(uint16_t reg, DType dtype, bool from_below) {
    const int bits = bits_of(dtype);
    const bool is_signed = class_of(dtype) == DTypeClass::kSigned;
    const int64_t least = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
    const int64_t greatest = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    const DType type = register_type(dtype);
    GE_ASSIGN(const uint16_t limit,
              append_constant(type, static_cast<uint64_t>(from_below ? least : greatest)));
    return append_op(static_cast<uint16_t>(from_below ? ScalarOp::max : ScalarOp::min), type, {reg, limit});
  }

  Result<uint16_t> reduce(const Node& node, const AxisMaps& maps) {
    const ValueId operand = node.operands[0];
    const DType dtype = graph_.type(operand).dtype;
    if (attr_ints(node, "axes").empty()) return refuse("a reduction over no axes");
    if (touches_row(maps)) return refuse("a reduction inside another reduction's row");
    GE_TRY(check_redundancy(node, operand, true));
    const auto& axes = attr_ints(node, "axes");
    AxisMaps inner(graph_.type(operand).dims.size());
    for (size_t a = 0, kept = 0, row = 0; a < inner.size(); ++a) {
      if (row < axes.size() && axes[row] == static_cast<int64_t>(a))
        inner[a].axis = row_axes_[row++];
      else
        inner[a] = maps[kept++];
    }
    GE_ASSIGN(uint16_t reg, value_at(operand, inner));
    const std::string kind = attr_string(node, "kind");
    const bool arg = kind == "argmax" || kind == "argmin";
    if (!code_[reg].element) {  // the operand does not depend on the row: make it an element value
      GE_ASSIGN(reg, append({.op = static_cast<uint16_t>(LoopOp::kCast),
                             .type = code_[reg].type,
                             .element = true,
                             .a = reg,
                             .imm = static_cast<uint32_t>(dtype)}));
    }
    LoopInstruction in{.op = static_cast<uint16_t>(reduce_op(kind)),
                       .type = arg ? DType::int64 : register_type(dtype),
                       .sweep = static_cast<uint8_t>(code_[reg].sweep + 1),
                       .element = false,
                       .a = reg,
                       .imm = static_cast<uint32_t>(attr_int(node, "select_last"))};
    if (code_[reg].sweep > 200) return refuse("too many dependent reductions");
    if (kind == "mean" && in.type == DType::int32) {  // the sum may be no int32 where the mean is
      GE_ASSIGN(in.a, round_through(reg, DType::int64));
      in.type = DType::int64;
    }
    nest_.operations_per_element += 1;
    GE_ASSIGN(reg, append(in));
    if (kind == "mean") {
      GE_ASSIGN(const uint16_t count,
                append({.op = static_cast<uint16_t>(LoopOp::kRowCount), .type = in.type, .element = false}));
      GE_ASSIGN(reg, append_op(static_cast<uint16_t>(ScalarOp::div), in.type, {reg, count}));
      if (in.type != register_type(dtype)) return round_through(reg, dtype);
    }
    if ((kind == "max" || kind == "min") && wraps_to_own_type(dtype)) {
      GE_ASSIGN(reg, bounded(reg, dtype, kind == "max"));
    }
    return settle(reg, arg ? DType::int64 : dtype);
  }

  // -- outputs --
  // An output must be written once per element: every axis of its level stands in the map exactly once,
  // whole. (A slice of its first rows leaves no trace in the map but the loop's shorter axis.)
  Status check_injective(const Dims& dims, const AxisMaps& maps, bool element) const {
    std::vector<int> count(nest_.domain.size(), 0);
    for (const AxisMap& m : maps)
      if (m.axis >= 0) ++count[static_cast<size_t>(m.axis)];
    for (size_t a = 0; a < count.size(); ++a) {
      const bool needed = (element || a < nest_.program.outer_rank) && !nest_.domain[a].is_value(1);
      if (count[a] > 1 || (needed && count[a] == 0))
        return refuse("an output that does not follow the loop's axes");
    }
    for (size_t a = 0; a < maps.size(); ++a) {
      const AxisMap& m = maps[a];
      const bool whole =
          m.axis < 0 ? dims[a].is_value(1) : dims[a] == nest_.domain[static_cast<size_t>(m.axis)];
      if (!whole || m.step != 1 || !m.offset.is_value(0))
        return refuse("an output that is sliced inside the loop");
    }
    return {};
  }

  Status store(size_t index, const AxisMaps& maps, uint16_t reg) {
    const bool element = is_element(maps);
    if (code_[reg].element && !element) return refuse("an output of row level holds element values");
    GE_TRY(check_injective(graph_.type(graph_.outputs[index]).dims, maps, element));
    if (nest_.operands.size() >= kMaxFusedViews) return refuse("more than 28 operands and results");
    if (bits_of(graph_.type(graph_.outputs[index]).dtype) < 8) return refuse("4-bit results");
    nest_.program.operands.push_back(
        {.dtype = graph_.type(graph_.outputs[index]).dtype, .output = true, .row_level = !element});
    nest_.operands.push_back({true, static_cast<uint32_t>(index), maps});
    auto stored = append({.op = static_cast<uint16_t>(LoopOp::kStore),
                          .type = code_[reg].type,
                          .element = element,
                          .a = reg,
                          .imm = static_cast<uint32_t>(nest_.operands.size() - 1)});
    if (!stored.ok()) return std::move(stored).take_error();
    return {};
  }

  Status store_outputs() {
    GE_ASSIGN(const uint16_t first, value_at(primary_, primary_maps_));
    bool primary_done = false;
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const ValueId v = graph_.outputs[i];
      if (v == primary_ && !primary_done) {
        primary_done = true;
        GE_TRY(store(i, primary_maps_, first));
        continue;
      }
      if (emitted_[v].empty()) {  // a loop of its own beside the others, over the same elements
        if (!(graph_.type(v).dims == graph_.type(primary_).dims))
          return refuse("an output of another shape that the others do not need");
        GE_ASSIGN(const uint16_t own, value_at(v, primary_maps_));
        GE_TRY(store(i, primary_maps_, own));
        continue;
      }
      const Emitted known = emitted_[v].front();
      GE_TRY(store(i, known.maps, known.reg));
    }
    return check_row_known();
  }

  // A row's length is read off an operand that follows it.
  Status check_row_known() const {
    const auto& operands = nest_.program.operands;
    if (nest_.program.row_rank == 0) return {};
    if (std::any_of(operands.begin(), operands.end(), [](const LoopOperand& o) { return !o.row_level; }))
      return {};
    return refuse("no operand follows the row that is reduced");
  }

  // Orders the code by sweep, row values before the elements of the sweep that may use them.
  void finish() {
    std::vector<uint16_t> order(code_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint16_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](uint16_t x, uint16_t y) {
      return std::tuple(code_[x].sweep, code_[x].element) < std::tuple(code_[y].sweep, code_[y].element);
    });
    std::vector<uint16_t> renamed(code_.size());
    for (size_t i = 0; i < order.size(); ++i) renamed[order[i]] = static_cast<uint16_t>(i);
    const auto rename = [&](uint16_t& r) {
      if (r != kNoRegister) r = renamed[r];
    };
    int sweeps = 1;
    for (const uint16_t old : order) {
      LoopInstruction in = code_[old];
      rename(in.a);
      rename(in.b);
      rename(in.c);
      if (in.element) sweeps = std::max(sweeps, in.sweep + 1);
      nest_.program.code.push_back(in);
    }
    nest_.program.sweeps = static_cast<uint8_t>(sweeps);
  }

  const Graph& graph_;
  const bool round_each_op_;
  LoopNest nest_;
  ValueId primary_ = kNone;
  AxisMaps primary_maps_;
  std::vector<int8_t> row_axes_;
  std::vector<LoopInstruction> code_;
  std::map<ValueId, std::vector<Emitted>> emitted_;
  double outer_elements_ = 1, domain_elements_ = 1;  // at the symbols' opt values
  int depth_ = 0;
};

}  // namespace

Result<LoopNest> build_loop_nest(const Graph& body, bool round_each_op) {
  Graph expanded = body.clone();
  GE_TRY(expand_composites(expanded));
  return NestBuilder(expanded, round_each_op).build();
}

}  // namespace ge

#include "kernels/loop/loop_reference.h"

#include <array>
#include <bit>
#include <limits>

#include "contract/scalar_op.h"
#include "kernels/scalar_reference.h"
#include "numeric/convert.h"

namespace ge {
namespace {

// One register over one row: `real` for float types, `integer` for the others. A row value has one entry.
struct Values {
  std::vector<double> real;
  std::vector<int64_t> integer;
};

double rounded(DType type, double x) {
  return type == DType::float32 ? static_cast<float>(x) : x;
}

class RowRunner {
 public:
  RowRunner(const LoopProgram& program, std::span<const TensorView> operands)
      : p_(program), operands_(operands), registers_(program.code.size()) {
    size_t whole = 0;
    while (p_.operands[whole].row_level) ++whole;
    for (int a = 0; a < kMaxRank; ++a) extent_[a] = operands_[whole].dims[a];
    for (int a = 0; a < p_.outer_rank; ++a) rows_ *= extent_[a];
    for (int a = p_.outer_rank; a < p_.outer_rank + p_.row_rank; ++a) length_ *= extent_[a];
  }

  void run() {
    for (int64_t row = 0; row < rows_; ++row) {
      row_ = row;
      for (size_t i = 0; i < p_.code.size(); ++i) evaluate(i);
      for (size_t i = 0; i < p_.code.size(); ++i)
        if (op(i) == LoopOp::kStore) store(i);
    }
  }

 private:
  LoopOp op(size_t i) const { return static_cast<LoopOp>(p_.code[i].op); }
  int64_t count(const LoopInstruction& c) const { return c.element ? length_ : 1; }

  static void step(int64_t& at, int64_t& position, int64_t extent) {
    if (extent == 0) return;  // an empty row still has row values
    at = position % extent;
    position /= extent;
  }
  // Position of element `e` of the current row on every axis.
  std::array<int64_t, kMaxRank> position(int64_t e) const {
    std::array<int64_t, kMaxRank> at{};
    for (int a = p_.outer_rank + p_.row_rank - 1; a >= p_.outer_rank; --a) step(at[a], e, extent_[a]);
    int64_t row = row_;
    for (int a = p_.outer_rank - 1; a >= 0; --a) step(at[a], row, extent_[a]);
    return at;
  }
  int64_t offset(size_t operand, int64_t e) const {
    const auto at = position(e);
    const int rank = p_.operands[operand].row_level ? p_.outer_rank : p_.outer_rank + p_.row_rank;
    int64_t offset = 0;
    for (int a = 0; a < rank; ++a) offset += at[a] * operands_[operand].strides[a];
    return offset;
  }
  double real(uint16_t r, int64_t e) const {
    if (r == kNoRegister) return 0;
    const Values& v = registers_[r];
    if (is_float(p_.code[r].type)) return v.real[p_.code[r].element ? static_cast<size_t>(e) : 0];
    return static_cast<double>(integer(r, e));
  }
  int64_t integer(uint16_t r, int64_t e) const {
    if (r == kNoRegister) return 0;
    return registers_[r].integer[p_.code[r].element ? static_cast<size_t>(e) : 0];
  }

  void evaluate(size_t i) {
    const LoopInstruction& c = p_.code[i];
    if (op(i) == LoopOp::kStore) return;
    Values& out = registers_[i];
    out.real.clear();
    out.integer.clear();
    if (c.op >= static_cast<uint16_t>(LoopOp::kReduceSum) &&
        c.op <= static_cast<uint16_t>(LoopOp::kReduceArgMin))
      return reduce(c, out);
    for (int64_t e = 0; e < count(c); ++e) {
      if (is_float(c.type))
        out.real.push_back(rounded(c.type, real_value(c, e)));
      else
        out.integer.push_back(integer_value(c, e));
    }
  }

  double real_value(const LoopInstruction& c, int64_t e) const {
    if (c.op < kFirstControlOp) {
      if (c.op == static_cast<uint16_t>(ScalarOp::select))
        return integer(c.a, e) != 0 ? real(c.b, e) : real(c.c, e);
      return scalar::apply_real(c.op, real(c.a, e), real(c.b, e), real(c.c, e));
    }
    switch (static_cast<LoopOp>(c.op)) {
      case LoopOp::kLoad: {
        double value = 0;
        convert_one(p_.operands[c.imm].dtype, operands_[c.imm].data, offset(c.imm, e), c.type, &value);
        return c.type == DType::float32 ? load_as_double(DType::float32, &value, 0) : value;
      }
      case LoopOp::kConstant: {
        const uint64_t bits = p_.constants[c.imm].bits;
        return c.type == DType::float32 ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                                        : std::bit_cast<double>(bits);
      }
      case LoopOp::kRowCount:
        return static_cast<double>(length_);
      default:
        return cast_value<double>(c, e);
    }
  }

  int64_t integer_value(const LoopInstruction& c, int64_t e) const {
    if (c.op < kFirstControlOp) return scalar_integer(c, e);
    switch (static_cast<LoopOp>(c.op)) {
      case LoopOp::kLoad: {
        uint64_t raw = 0;
        convert_one(p_.operands[c.imm].dtype, operands_[c.imm].data, offset(c.imm, e), c.type, &raw);
        return load_as_int64(c.type, &raw, 0);
      }
      case LoopOp::kConstant:
        return load_as_int64(c.type, &p_.constants[c.imm].bits, 0);
      case LoopOp::kIndex:
        return position(e)[c.imm];
      case LoopOp::kRowCount:
        return c.type == DType::int32 ? static_cast<int32_t>(length_) : length_;
      default:
        return cast_value<int64_t>(c, e);
    }
  }

  int64_t scalar_integer(const LoopInstruction& c, int64_t e) const {
    if (c.op == static_cast<uint16_t>(ScalarOp::select))
      return integer(c.a, e) != 0 ? integer(c.b, e) : integer(c.c, e);
    const DType type = p_.code[c.a].type;  // of the operands: a compare's result is boolean
    if (is_float(type))
      return static_cast<int64_t>(scalar::apply_real(c.op, real(c.a, e), real(c.b, e), real(c.c, e)));
    return scalar::apply_integer(c.op, type, integer(c.a, e), integer(c.b, e), integer(c.c, e));
  }

  static void convert_one(DType from, const void* base, int64_t index, DType to, void* into) {
    convert(from, static_cast<const char*>(base) + index * (bits_of(from) / 8), 1, to, into);
  }

  // a -> dtype imm -> type, through the bytes of one element.
  template <class T>
  T cast_value(const LoopInstruction& c, int64_t e) const {
    const DType from = p_.code[c.a].type, through = static_cast<DType>(c.imm);
    uint64_t source = 0, middle = 0, result = 0;
    if (is_float(from))
      store_from_double(from, &source, 0, real(c.a, e));
    else
      store_from_int64(from, &source, 0, integer(c.a, e));
    convert(from, &source, 1, through, &middle);
    convert(through, &middle, 1, c.type, &result);
    if constexpr (std::is_same_v<T, double>)
      return load_as_double(c.type, &result, 0);
    else
      return load_as_int64(c.type, &result, 0);
  }

  void reduce(const LoopInstruction& c, Values& out) {
    const DType type = p_.code[c.a].type;
    if (c.op >= static_cast<uint16_t>(LoopOp::kReduceArgMax)) {
      const std::vector<int64_t>& numbers = registers_[c.a].integer;
      out.integer.push_back(is_float(type) ? best(registers_[c.a].real, c)
                            : type == DType::uint64
                                ? best(std::vector<uint64_t>(numbers.begin(), numbers.end()), c)
                                : best(numbers, c));
    } else if (is_float(type)) {
      out.real.push_back(rounded(type, fold_real(registers_[c.a].real, static_cast<LoopOp>(c.op))));
    } else {
      out.integer.push_back(fold_integer(registers_[c.a].integer, static_cast<LoopOp>(c.op), type));
    }
  }
  static double fold_real(const std::vector<double>& values, LoopOp op) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double total = op == LoopOp::kReduceSum    ? 0
                   : op == LoopOp::kReduceProd ? 1
                   : op == LoopOp::kReduceMax  ? -kInfinity
                                               : kInfinity;
    const auto code = static_cast<uint16_t>(op == LoopOp::kReduceSum    ? ScalarOp::add
                                            : op == LoopOp::kReduceProd ? ScalarOp::mul
                                            : op == LoopOp::kReduceMax  ? ScalarOp::max
                                                                        : ScalarOp::min);
    for (const double v : values) total = scalar::apply_real(code, total, v, 0);
    return total;
  }
  static bool is_less(DType type, int64_t a, int64_t b) {
    return type == DType::uint64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  }
  static int64_t fold_integer(const std::vector<int64_t>& values, LoopOp op, DType type) {
    const bool is_unsigned = type == DType::uint64;  // its bits: -1 is the greatest
    const int64_t low = type == DType::boolean || is_unsigned ? 0
                        : type == DType::int32                ? INT32_MIN
                                                              : INT64_MIN;
    const int64_t high = type == DType::boolean ? 1
                         : is_unsigned          ? -1
                         : type == DType::int32 ? INT32_MAX
                                                : INT64_MAX;
    int64_t total = op == LoopOp::kReduceSum    ? 0
                    : op == LoopOp::kReduceProd ? 1
                    : op == LoopOp::kReduceMax  ? low
                                                : high;
    for (const int64_t v : values) {
      switch (op) {
        case LoopOp::kReduceSum:
          total = scalar::apply_integer(static_cast<uint16_t>(ScalarOp::add), type, total, v, 0);
          break;
        case LoopOp::kReduceProd:
          total = scalar::apply_integer(static_cast<uint16_t>(ScalarOp::mul), type, total, v, 0);
          break;
        case LoopOp::kReduceMax:
          total = is_less(type, total, v) ? v : total;
          break;
        default:
          total = is_less(type, v, total) ? v : total;
          break;
      }
    }
    return total;
  }
  template <class T>
  static int64_t best(const std::vector<T>& values, const LoopInstruction& c) {
    const bool least = static_cast<LoopOp>(c.op) == LoopOp::kReduceArgMin, last = c.imm == 1;
    int64_t found = 0;
    for (size_t i = 1; i < values.size(); ++i) {
      const T x = values[i], y = values[static_cast<size_t>(found)];
      const bool x_nan = x != x, y_nan = y != y;
      const bool same = x_nan ? y_nan : x == y;
      const bool better = x_nan ? !y_nan : !y_nan && (least ? x < y : x > y);
      if (better || (last && same && !x_nan)) found = static_cast<int64_t>(i);
    }
    return found;
  }

  void store(size_t i) {
    const LoopInstruction& c = p_.code[i];
    const TensorView& view = operands_[c.imm];
    for (int64_t e = 0; e < count(c); ++e) {
      char* at = static_cast<char*>(view.data) + offset(c.imm, e) * (bits_of(view.dtype) / 8);
      if (is_float(c.type))
        store_from_double(view.dtype, at, 0, real(c.a, e));
      else if (c.type == DType::uint64)
        store_from_uint64(view.dtype, at, 0, static_cast<uint64_t>(integer(c.a, e)));
      else
        store_from_int64(view.dtype, at, 0, integer(c.a, e));
    }
  }

  const LoopProgram& p_;
  std::span<const TensorView> operands_;
  std::vector<Values> registers_;
  int64_t extent_[kMaxRank] = {};
  int64_t rows_ = 1, length_ = 1, row_ = 0;
};

}  // namespace

Status reference_loop(const LoopProgram& program, std::span<const TensorView> operands) {
  GE_TRY(verify_loop(program));
  GE_TRY(check_loop_operands(program, operands));
  RowRunner(program, operands).run();
  return {};
}

}  // namespace ge

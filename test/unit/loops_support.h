// What the loop tests share: tensors with guard bytes, launch contexts, random loop programs. Entry:
// RandomLoop.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "contract/bytecode.h"
#include "contract/scalar_op.h"
#include "numeric/convert.h"
#include "platform/thread_pool.h"
#include "runtime/cpu/scratch.h"

namespace ge::test {

// A launch context over `threads` threads.
struct Machine {
  explicit Machine(int threads) : pool(threads), scratch(pool) {
    context.parallel = &cpu::Scratch::parallel;
    context.scratch = &cpu::Scratch::scratch;
    context.pool = &scratch;
    context.threads = threads;
    context.fault = &fault;
  }
  ThreadPool pool;
  cpu::Scratch scratch;
  FaultRecord fault;
  LaunchContext context;
};

// A view with its own memory, guarded on both sides.
struct Tensor {
  TensorView view;
  std::vector<std::byte> memory;
  static constexpr size_t kGuard = 256;

  // Strides in elements, in any order and sign; memory covers exactly what they reach.
  Tensor(DType dtype, const std::vector<int64_t>& dims, const std::vector<int64_t>& strides) {
    int64_t low = 0, high = 0;
    bool empty = false;
    view.rank = static_cast<int32_t>(dims.size());
    view.dtype = dtype;
    for (size_t i = 0; i < dims.size(); ++i) {
      view.dims[i] = dims[i];
      view.strides[i] = strides[i];
      empty |= dims[i] == 0;
      if (dims[i] > 0) (strides[i] < 0 ? low : high) += (dims[i] - 1) * strides[i];
    }
    const int64_t width = bits_of(dtype) / 8;
    size_bytes = empty ? 0 : static_cast<size_t>((high - low + 1) * width);
    memory.assign(size_bytes + 2 * kGuard, std::byte{0xa5});
    view.data = memory.data() + kGuard - low * width;
    count = width > 0 ? static_cast<int64_t>(size_bytes) / width : 0;
  }
  void* first() { return memory.data() + kGuard; }
  // Memory moved with the object: the view must follow.
  Tensor(const Tensor& other)
      : view(other.view), memory(other.memory), size_bytes(other.size_bytes), count(other.count) {
    view.data = memory.data() + (static_cast<const std::byte*>(other.view.data) - other.memory.data());
  }
  Tensor& operator=(const Tensor&) = delete;
  bool guards_intact() const {
    const auto whole = [](const std::byte* p) {
      return std::all_of(p, p + kGuard, [](std::byte b) { return b == std::byte{0xa5}; });
    };
    return whole(memory.data()) && whole(memory.data() + kGuard + size_bytes);
  }
  size_t size_bytes = 0;
  int64_t count = 0;
};

inline std::vector<int64_t> dense_strides(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<int64_t>(dims[i], 1);
  return strides;
}

// Values of every sort: small integers, halves, large, tiny, specials.
template <class Rng>
double any_value(Rng& rng) {
  static const double special[] = {0.0,  -0.0,  1.0,   -1.0, INFINITY, -INFINITY, NAN,          1e-42, -1e-40,
                                   3e38, -3e38, 1e-20, 127,  -128,     32767,     2147483648.0, 0.5,   -2.5};
  const auto pick = rng() % 8;
  if (pick == 0) return special[rng() % std::size(special)];
  const double unit = static_cast<double>(rng() % 2000001) / 1e6 - 1;
  return pick < 4 ? std::floor(unit * 20) : unit * (pick == 4 ? 1e4 : 8);
}
template <class Rng>
void fill_randomly(Tensor& t, Rng& rng) {
  for (int64_t i = 0; i < t.count; ++i) {
    if (is_float(t.view.dtype))
      store_from_double(t.view.dtype, t.first(), i, any_value(rng));
    else
      store_from_int64(t.view.dtype, t.first(), i,
                       rng() % 4 == 0 ? static_cast<int64_t>((uint64_t{rng()} << 32) ^ rng())
                                      : static_cast<int64_t>(rng() % 41) - 20);
  }
}

// A valid program of exact operations over random views: float results are the same bits however they are
// computed, as float sums only take small integers.
class RandomLoop {
 public:
  explicit RandomLoop(uint32_t seed, int64_t most_elements = 6000) : rng_(seed) {
    choose_domain(most_elements);
    const int inputs = 1 + static_cast<int>(rng_() % 3);
    for (int i = 0; i < inputs; ++i) add_input(i == 0);
    const int ops = 1 + static_cast<int>(rng_() % 14);
    for (int i = 0; i < ops; ++i) add_op();
    const int outputs = 1 + static_cast<int>(rng_() % 2);
    for (int i = 0; i < outputs; ++i) add_output(i == 0);
    int sweeps = 1;
    for (const auto& c : program.code)
      if (c.element) sweeps = std::max(sweeps, c.sweep + 1);
    program.sweeps = static_cast<uint8_t>(sweeps);
    for (auto& c : program.code)
      if (!c.element) c.sweep = static_cast<uint8_t>(std::min<int>(c.sweep, sweeps));
  }
  std::vector<TensorView> views() {
    std::vector<TensorView> list;
    for (Tensor& t : tensors) list.push_back(t.view);
    return list;
  }

  LoopProgram program;
  std::vector<Tensor> tensors;

 private:
  template <class T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[rng_() % list.size()];
  }
  int rank() const { return program.outer_rank + program.row_rank; }

  void choose_domain(int64_t most) {
    program.outer_rank = static_cast<uint8_t>(rng_() % 4);
    program.row_rank = static_cast<uint8_t>(rng_() % 3);
    if (rank() == 0) program.outer_rank = 1;
    int64_t total = 1;
    for (int a = 0; a < rank(); ++a) {
      int64_t d = pick<int64_t>({1, 1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 40, 64, 100, 300, 1030, 2500});
      if (rng_() % 60 == 0) d = 0;
      if (d > 0 && total * d > most) d = 1 + static_cast<int64_t>(rng_() % 3);
      dims_.push_back(d);
      total *= std::max<int64_t>(d, 1);
    }
    // Any axis may be the long one.
    std::shuffle(dims_.begin(), dims_.end(), rng_);
  }

  std::vector<int64_t> level_dims(bool row_level) const {
    auto d = dims_;
    if (row_level) std::fill(d.begin() + program.outer_rank, d.end(), 1);
    return d;
  }
  std::vector<int64_t> random_strides(const std::vector<int64_t>& dims, bool output) {
    std::vector<size_t> order(dims.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (rng_() % 3 == 0) std::shuffle(order.begin(), order.end(), rng_);
    std::vector<int64_t> strides(dims.size());
    int64_t step = rng_() % 6 == 0 ? 2 : 1;
    for (size_t k = order.size(); k-- > 0;) {
      const size_t a = order[k];
      strides[a] = step;
      if (!output && rng_() % 5 == 0) {
        strides[a] = 0;
        continue;
      }
      step *= std::max<int64_t>(dims[a], 1);
      if (rng_() % 8 == 0) step += 3;
      if (rng_() % 12 == 0) strides[a] = -strides[a];
    }
    return strides;
  }
  void add_tensor(DType dtype, bool output, bool row_level) {
    const auto dims = level_dims(row_level);
    tensors.emplace_back(dtype, dims, random_strides(dims, output));
    fill_randomly(tensors.back(), rng_);
    program.operands.push_back({dtype, output, row_level});
  }

  uint16_t append(LoopInstruction c) {
    program.code.push_back(c);
    return static_cast<uint16_t>(program.code.size() - 1);
  }
  uint16_t op_of(uint16_t op, DType type, std::initializer_list<uint16_t> registers, uint32_t imm = 0) {
    LoopInstruction c{.op = op, .type = type, .element = program.row_rank == 0, .imm = imm};
    uint16_t* into[] = {&c.a, &c.b, &c.c};
    size_t i = 0;
    for (const uint16_t r : registers) {
      *into[i++] = r;
      c.element |= program.code[r].element;
      c.sweep = std::max(c.sweep, program.code[r].sweep);
    }
    if (rng_() % 10 == 0 && c.element && program.row_rank > 0 && c.sweep < 4)
      ++c.sweep;  // later than it must be
    return append(c);
  }
  uint16_t cast(uint16_t r, DType to) {
    return op_of(static_cast<uint16_t>(LoopOp::kCast), register_type(to), {r}, static_cast<uint32_t>(to));
  }

  void add_input(bool element) {
    const bool row_level = !element && program.row_rank > 0 && rng_() % 3 == 0;
    const DType dtype =
        pick({DType::float32, DType::float32, DType::float32, DType::float16, DType::bfloat16, DType::float64,
              DType::int32, DType::int64, DType::int8, DType::uint8, DType::uint16, DType::uint32,
              DType::uint64, DType::boolean, DType::float8e4m3fn});
    add_tensor(dtype, false, row_level);
    append({.op = static_cast<uint16_t>(LoopOp::kLoad),
            .type = register_type(dtype),
            .element = !row_level,
            .imm = static_cast<uint32_t>(program.operands.size() - 1)});
  }
  uint16_t any_register() {
    for (;;) {
      const auto r = static_cast<uint16_t>(rng_() % program.code.size());
      if (program.code[r].op != static_cast<uint16_t>(LoopOp::kStore)) return r;
    }
  }
  uint16_t register_of(DType type) {
    for (int tries = 0; tries < 20; ++tries) {
      const uint16_t r = any_register();
      if (program.code[r].type == type) return r;
    }
    return rng_() % 2 == 0 ? constant(type) : cast(any_register(), type);
  }
  uint16_t constant(DType type) {
    uint64_t bits = 0;
    if (is_float(type))
      store_from_double(type, &bits, 0, any_value(rng_));
    else if (type == DType::boolean)
      bits = rng_() % 2;
    else
      store_from_int64(type, &bits, 0, static_cast<int64_t>(rng_() % 200) - 100);
    program.constants.push_back({type, bits});
    return append({.op = static_cast<uint16_t>(LoopOp::kConstant),
                   .type = type,
                   .element = program.row_rank == 0,
                   .imm = static_cast<uint32_t>(program.constants.size() - 1)});
  }

  void add_op() {
    const auto kind = rng_() % 10;
    if (kind == 0) {
      constant(
          pick({DType::float32, DType::int64, DType::int32, DType::float64, DType::uint64, DType::boolean}));
      return;
    }
    if (kind == 1) {
      cast(any_register(), pick({DType::float32, DType::float16, DType::bfloat16, DType::int8, DType::int32,
                                 DType::int64, DType::uint8, DType::uint64, DType::boolean, DType::float64}));
      return;
    }
    if (kind == 2 && rank() > 0) {
      index();
      return;
    }
    if (kind <= 4 && program.row_rank > 0) {
      reduce();
      return;
    }
    map();
  }
  void index() {
    const auto axis = static_cast<uint32_t>(rng_() % static_cast<unsigned>(rank()));
    const bool element = program.row_rank == 0 || axis >= program.outer_rank || rng_() % 2 == 0;
    append(
        {.op = static_cast<uint16_t>(LoopOp::kIndex), .type = DType::int64, .element = element, .imm = axis});
  }
  void reduce() {
    uint16_t r = any_register();
    if (!program.code[r].element) {
      LoopInstruction c{.op = static_cast<uint16_t>(LoopOp::kCast),
                        .type = program.code[r].type,
                        .sweep = program.code[r].sweep,
                        .element = true,
                        .a = r,
                        .imm = static_cast<uint32_t>(program.code[r].type)};
      r = append(c);
    }
    if (program.code[r].sweep > 3) return;
    LoopOp op = pick({LoopOp::kReduceSum, LoopOp::kReduceMax, LoopOp::kReduceMin, LoopOp::kReduceArgMax,
                      LoopOp::kReduceArgMin, LoopOp::kReduceProd});
    DType type = program.code[r].type;
    const bool sums = op == LoopOp::kReduceSum || op == LoopOp::kReduceProd;
    if (sums && is_float(type)) {
      r = cast(cast(r, DType::int8), type);
      op = LoopOp::kReduceSum;
    }
    if (sums && type == DType::boolean) op = LoopOp::kReduceMax;
    if (program.code[r].sweep > 3) return;
    const bool arg = op == LoopOp::kReduceArgMax || op == LoopOp::kReduceArgMin;
    append({.op = static_cast<uint16_t>(op),
            .type = arg ? DType::int64 : type,
            .sweep = static_cast<uint8_t>(program.code[r].sweep + 1),
            .element = false,
            .a = r,
            .imm = arg ? static_cast<uint32_t>(rng_() % 2) : 0});
    if (rng_() % 3 == 0)
      append({.op = static_cast<uint16_t>(LoopOp::kRowCount),
              .type = pick({DType::float32, DType::int64, DType::uint64}),
              .element = false});
  }
  void map() {
    static const ScalarOp exact[] = {
        ScalarOp::add,         ScalarOp::sub,    ScalarOp::mul,           ScalarOp::div,
        ScalarOp::max,         ScalarOp::min,    ScalarOp::neg,           ScalarOp::abs,
        ScalarOp::sign,        ScalarOp::sqrt,   ScalarOp::floor,         ScalarOp::round,
        ScalarOp::equal,       ScalarOp::less,   ScalarOp::greater_equal, ScalarOp::logical_and,
        ScalarOp::logical_not, ScalarOp::is_nan, ScalarOp::bit_xor,       ScalarOp::shift_left,
        ScalarOp::shift_right, ScalarOp::relu,   ScalarOp::clamp,         ScalarOp::select,
        ScalarOp::select,      ScalarOp::mod,    ScalarOp::reciprocal};
    const ScalarOp op = exact[rng_() % std::size(exact)];
    const ScalarOpInfo& info = *scalar_op_info(static_cast<uint16_t>(op));
    if (op == ScalarOp::select) {
      const uint16_t condition = register_of(DType::boolean);
      const DType type = program.code[any_register()].type;
      const uint16_t b = register_of(type), c = register_of(type);
      op_of(static_cast<uint16_t>(op), type, {condition, b, c});
      return;
    }
    DType type = program.code[any_register()].type;
    if (!accepts(info.domain, type))
      type = info.domain == ScalarDomain::boolean   ? DType::boolean
             : info.domain == ScalarDomain::integer ? pick({DType::int32, DType::uint64})
                                                    : DType::float32;
    const uint16_t a = register_of(type);
    const DType result = info.result == ScalarResult::boolean ? DType::boolean : type;
    if (info.arity == 1) op_of(static_cast<uint16_t>(op), result, {a});
    if (info.arity == 2) {
      const uint16_t b = register_of(type);
      op_of(static_cast<uint16_t>(op), result, {a, b});
    }
    if (info.arity == 3) {
      const uint16_t b = register_of(type), c = register_of(type);
      op_of(static_cast<uint16_t>(op), result, {a, b, c});
    }
  }
  void add_output(bool latest) {
    uint16_t r = latest ? static_cast<uint16_t>(program.code.size() - 1) : any_register();
    if (program.code[r].op == static_cast<uint16_t>(LoopOp::kStore)) r = any_register();
    const bool row_level = program.row_rank > 0 && !program.code[r].element && rng_() % 3 != 0;
    const DType type = program.code[r].type;
    DType memory = type;
    if (type == DType::float32 && rng_() % 2 == 0)
      memory = pick({DType::float16, DType::bfloat16, DType::int32, DType::int8});
    if (type == DType::int32 && rng_() % 2 == 0) memory = pick({DType::int8, DType::uint8, DType::float32});
    if (type == DType::int64 && rng_() % 3 == 0) memory = pick({DType::uint32, DType::int32});
    add_tensor(memory, true, row_level);
    append({.op = static_cast<uint16_t>(LoopOp::kStore),
            .type = type,
            .sweep = program.code[r].sweep,
            .element = !row_level || program.row_rank == 0,
            .a = r,
            .imm = static_cast<uint32_t>(program.operands.size() - 1)});
  }

  std::mt19937 rng_;
  std::vector<int64_t> dims_;
};

}  // namespace ge::test

// The CPU interpreter of loop programs against the plain one, for random programs, dtypes, strides and sizes.
#include "catch.h"

#include <ctime>

#include "base/bytes.h"
#include "kernels/loop/loop_reference.h"
#include "loops_support.h"
#include "runtime/cpu/bytecode_run.h"

namespace ge {
namespace {

using cpu::LoopIsa;
using cpu::PreparedLoop;
using test::Machine;
using test::RandomLoop;
using test::Tensor;

// Equal bits, any NaN equal to any other.
bool same_element(DType dtype, const void* a, const void* b, int64_t i) {
  const int64_t width = bits_of(dtype) / 8;
  if (std::memcmp(static_cast<const char*>(a) + i * width, static_cast<const char*>(b) + i * width,
                  static_cast<size_t>(width)) == 0)
    return true;
  if (!is_float(dtype)) return false;
  const double x = load_as_double(dtype, a, i), y = load_as_double(dtype, b, i);
  return (x != x && y != y) || (x == 0 && y == 0);
}

void expect_same(Tensor& found, Tensor& expected) {
  for (int64_t i = 0; i < found.count; ++i) {
    if (same_element(found.view.dtype, found.first(), expected.first(), i)) continue;
    INFO("element " << i << " of memory: found " << load_as_double(found.view.dtype, found.first(), i)
                    << ", expected " << load_as_double(found.view.dtype, expected.first(), i));
    FAIL("results differ");
  }
}

void run_and_compare(const RandomLoop& loop, Machine& machine, LoopIsa isa) {
  RandomLoop ours = loop, reference = loop;
  REQUIRE_OK(reference_loop(reference.program, reference.views()));
  auto prepared = PreparedLoop::prepare(ours.program, ours.views(), isa);
  REQUIRE_OK(prepared);
  prepared->run(machine.context);
  for (size_t i = 0; i < ours.tensors.size(); ++i) {
    INFO("operand " << i);
    REQUIRE(ours.tensors[i].guards_intact());
    expect_same(ours.tensors[i], reference.tensors[i]);
  }
}

TEST_CASE("random loops give the reference's bits on every instruction set", "[loops]") {
  Machine two(2), three(3);
  for (uint32_t seed = 0; seed < 500; ++seed) {
    const RandomLoop loop(seed, seed % 40 == 0 ? 30000 : 2000);
    INFO("seed " << seed << "\n" << to_text(loop.program));
    REQUIRE_OK(verify_loop(loop.program));
    run_and_compare(loop, two, LoopIsa::kBest);
    if (seed % 3 == 0) run_and_compare(loop, three, LoopIsa::kBase);
    if (seed % 3 == 1) run_and_compare(loop, three, LoopIsa::kV3);
  }
}

// One change that a writer of bad plans would try: another register, opcode, level, sweep or immediate.
void mutate(LoopProgram& program, std::mt19937& rng) {
  LoopInstruction& c = program.code[rng() % program.code.size()];
  const auto size = static_cast<uint32_t>(program.code.size());
  switch (rng() % 9) {
    case 0:
      c.a = static_cast<uint16_t>(rng() % size);
      break;
    case 1:
      c.b = static_cast<uint16_t>(rng() % size);
      break;
    case 2:
      c.op = static_cast<uint16_t>(1 + rng() % 90);
      break;
    case 3:
      c.element = !c.element;
      break;
    case 4:
      c.sweep = static_cast<uint8_t>(rng() % (program.sweeps + 1u));
      break;
    case 5:
      c.imm = rng() % 8;
      break;
    case 6:
      program.sweeps = static_cast<uint8_t>(1 + rng() % 6);
      break;
    case 7:
      c = program.code[rng() % size];
      break;
    default:
      std::swap(program.outer_rank, program.row_rank);
      break;
  }
}

TEST_CASE("mutated programs are refused or stay inside their operands", "[loops][fuzz]") {
  Machine machine(1);
  std::mt19937 rng(7);
  int refused = 0, ran = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    RandomLoop loop(seed, 400);
    const auto changes = 1 + rng() % 3;
    for (uint32_t i = 0; i < changes; ++i) mutate(loop.program, rng);
    auto bytes = encode_loop(loop.program);
    if (seed % 4 == 0) bytes[rng() % bytes.size()] ^= static_cast<std::byte>(1u << rng() % 8);
    auto decoded = decode_loop(bytes);
    auto prepared = decoded.ok() ? PreparedLoop::prepare(*decoded, loop.views())
                                 : Result<PreparedLoop>(fail(Code::plan_malformed));
    if (!prepared.ok()) {
      ++refused;
      continue;
    }
    prepared->run(machine.context);
    ++ran;
    for (const Tensor& t : loop.tensors) REQUIRE(t.guards_intact());
  }
  REQUIRE(refused > 300);
  REQUIRE(ran > 100);
}

TEST_CASE("a transposed view of no elements", "[loops]") {
  LoopProgram program;
  program.outer_rank = 2;
  program.operands = {{DType::float32, false, false}, {DType::float32, true, false}};
  program.code = {{.op = static_cast<uint16_t>(LoopOp::kLoad)},
                  {.op = static_cast<uint16_t>(LoopOp::kStore), .a = 0, .imm = 1}};
  REQUIRE_OK(verify_loop(program));
  Machine machine(2);
  Tensor in(DType::float32, {8, 0}, {1, 16}), out(DType::float32, {8, 0}, {5, 1});
  const std::vector<TensorView> views{in.view, out.view};
  auto loop = PreparedLoop::prepare(program, views, LoopIsa::kBest);
  REQUIRE_OK(loop);
  loop->run(machine.context);
  CHECK(out.guards_intact());
}

TEST_CASE("in place: an output may be an input of equal strides", "[loops]") {
  auto program = loop_from_text(R"(loop outer=1 row=1 sweeps=3
  operand 0 in float32
  operand 1 out float32
  constant 0 float32 0x3f800000
  %0 e0 float32 load 0
  %1 r1 float32 reduce_max %0
  %2 e1 float32 sub %0 %1
  %3 e1 float32 exp %2
  %4 r2 float32 reduce_sum %3
  %5 e2 float32 div %3 %4
  %6 e2 float32 store %5 1
)");
  REQUIRE_OK(program);
  Machine machine(2);
  for (const int64_t columns : {1, 7, 64, 1000, 1024, 1025, 5000, 200000}) {
    const std::vector<int64_t> dims{4, columns};
    Tensor x(DType::float32, dims, test::dense_strides(dims)), y = x;
    std::mt19937 rng(3);
    for (int64_t i = 0; i < x.count; ++i)
      store_from_double(DType::float32, x.first(), i, static_cast<double>(rng() % 1000) / 100 - 5);
    Tensor in_place = x;
    REQUIRE_OK(cpu::run_loop(*program, std::vector{x.view, y.view}, machine.context));
    REQUIRE_OK(cpu::run_loop(*program, std::vector{in_place.view, in_place.view}, machine.context));
    REQUIRE(std::memcmp(in_place.first(), y.first(), x.size_bytes) == 0);
    double sum = 0;
    for (int64_t i = 0; i < columns; ++i) sum += load_as_double(DType::float32, y.first(), i);
    REQUIRE(sum == Approx(1).epsilon(1e-5));
  }
}

TEST_CASE("results do not depend on the number of threads or the instruction set", "[loops]") {
  auto program = loop_from_text(R"(loop outer=1 row=1 sweeps=1
  operand 0 in float32
  operand 1 out float32 row
  operand 2 out float32
  %0 e0 float32 load 0
  %1 e0 float32 gelu %0
  %2 e0 float32 tanh %1
  %3 r1 float32 reduce_sum %2
  %4 r1 float32 store %3 1
  %5 e0 float32 store %2 2
)");
  REQUIRE_OK(program);
  for (const bool columns : {false, true}) {
    Tensor x(DType::float32, {300, 3001},
             columns ? std::vector<int64_t>{1, 300} : std::vector<int64_t>{3001, 1});
    std::mt19937 rng(3);
    test::fill_randomly(x, rng);
    for (int64_t i = 0; i < x.count; ++i)
      if (!(std::abs(load_as_double(DType::float32, x.first(), i)) < 100))
        store_from_double(DType::float32, x.first(), i, 1);
    std::vector<std::byte> first_rows, first_elements;
    for (const int threads : {1, 2, 5}) {
      for (const LoopIsa isa : {LoopIsa::kBase, LoopIsa::kV3, LoopIsa::kV4}) {
        Machine machine(threads);
        Tensor rows(DType::float32, {300, 1}, {1, 1}), elements = x;
        auto prepared = PreparedLoop::prepare(*program, std::vector{x.view, rows.view, elements.view}, isa);
        REQUIRE_OK(prepared);
        prepared->run(machine.context);
        if (first_rows.empty()) {
          first_rows = rows.memory;
          first_elements = elements.memory;
        }
        REQUIRE(rows.memory == first_rows);
        REQUIRE(elements.memory == first_elements);
      }
    }
  }
}

TEST_CASE("operands that do not fit are refused", "[loops]") {
  auto program = loop_from_text(
      "loop outer=2 row=0 sweeps=1\n  operand 0 in float32\n  operand 1 out float32\n  %0 e0 float32 load "
      "0\n  %1 e0 float32 store %0 1\n");
  REQUIRE_OK(program);
  Tensor a(DType::float32, {2, 3}, {3, 1}), wrong_dims(DType::float32, {3, 2}, {2, 1}),
      wrong_type(DType::int32, {2, 3}, {3, 1}), repeats(DType::float32, {2, 3}, {0, 1}),
      wrong_rank(DType::float32, {6}, {1});
  const auto check = [&](Tensor& x, Tensor& y) {
    return check_loop_operands(*program, std::vector{x.view, y.view});
  };
  REQUIRE_OK(check(a, a));
  REQUIRE_CODE(check(a, wrong_dims), Code::launch_refused);
  REQUIRE_CODE(check(wrong_type, a), Code::launch_refused);
  REQUIRE_CODE(check(a, wrong_rank), Code::launch_refused);
  const auto status = check(a, repeats);
  REQUIRE_CODE(status, Code::launch_refused);
  REQUIRE(status.error().first().found == "operand 1: an output that repeats along axis 0");
  REQUIRE_OK(check(repeats, a));
  REQUIRE_CODE(check_loop_operands(*program, std::vector{a.view}), Code::launch_refused);
  TensorView odd = a.view;
  odd.data = static_cast<char*>(odd.data) + 2;
  REQUIRE_CODE(PreparedLoop::prepare(*program, std::vector{odd, a.view}), Code::launch_refused);
  TensorView huge;
  huge.rank = 2;
  huge.dims[0] = huge.dims[1] = int64_t{1} << 40;
  REQUIRE_CODE(check_loop_operands(*program, std::vector{huge, huge}), Code::launch_refused);
}

int bench_threads() {
  const char* text = std::getenv("GE_BENCH_THREADS");
  return text ? std::atoi(text) : default_thread_count();
}

// The best of several runs; GE_BENCH_THREADS=1 times the processor instead of the clock, for a machine that
// is shared.
double seconds_of(int repeats, const auto& body) {
  const clockid_t clock = bench_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  const auto now = [&] {
    timespec t;
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const double start = now();
    body();
    best = std::min(best, now() - start);
  }
  return best;
}

// Not part of the suite: ./loops_test "[bench]".
TEST_CASE("speed of loops beside memcpy", "[.][bench]") {
  Machine machine(bench_threads());
  const int64_t n = 16 << 20;  // 64 MiB of float32
  ByteBuffer a = ByteBuffer::allocate(n * 4, true), b = ByteBuffer::allocate(n * 4, true),
             c = ByteBuffer::allocate(n * 4, true);
  const auto view = [&](ByteBuffer& buffer, std::vector<int64_t> dims, std::vector<int64_t> strides,
                        DType dtype = DType::float32) {
    TensorView v;
    v.data = buffer.data();
    v.rank = static_cast<int32_t>(dims.size());
    v.dtype = dtype;
    for (size_t i = 0; i < dims.size(); ++i) {
      v.dims[i] = dims[i];
      v.strides[i] = strides[i];
    }
    return v;
  };
  const double copy = seconds_of(7, [&] {
    machine.context.parallel_for(n * 4, 1 << 20, [&](int64_t begin, int64_t end) {
      std::memcpy(c.data() + begin, a.data() + begin, static_cast<size_t>(end - begin));
    });
  });
  const double copy_rate = 2.0 * n * 4 / copy;
  std::printf("memcpy          %7.2f GB/s\n", copy_rate / 1e9);
  const auto report = [&](const char* name, double bytes, const char* text, std::vector<TensorView> views) {
    auto program = loop_from_text(text);
    REQUIRE_OK(program);
    auto prepared = PreparedLoop::prepare(*program, views);
    REQUIRE_OK(prepared);
    const double s = seconds_of(7, [&] { prepared->run(machine.context); });
    std::printf("%-15s %7.2f GB/s  %5.1f%% of memcpy  scratch %zu KiB\n", name, bytes / s / 1e9,
                100 * bytes / s / copy_rate, prepared->scratch_bytes() >> 10);
  };
  const std::string chain_head =
      "loop outer=1 row=0 sweeps=1\n operand 0 in float32\n operand 1 in float32\n operand 2 out float32\n"
      " constant 0 float32 0x3f000000\n constant 1 float32 0x40000000\n constant 2 float32 0xbf800000\n %0 "
      "e0 float32 load 0\n %1 e0 float32 load 1\n %2 e0 float32 constant 0\n %3 e0 float32 constant 1\n %4 "
      "e0 float32 constant 2\n";
  report("chain 12", 3.0 * n * 4,
         (chain_head +
          " %5 e0 float32 add %0 %1\n %6 e0 float32 mul %5 %2\n %7 e0 float32 sub %6 %0\n %8 e0 float32 max "
          "%7 %4\n %9 e0 float32 mul %8 %1\n %10 e0 float32 add %9 %3\n"
          " %11 e0 float32 abs %10\n %12 e0 float32 add %11 %2\n %13 e0 float32 min %12 %3\n %14 e0 float32 "
          "mul %13 %0\n %15 e0 float32 sub %14 %1\n %16 e0 float32 relu %15\n %17 e0 float32 store %16 2\n")
             .c_str(),
         {view(a, {n}, {1}), view(b, {n}, {1}), view(c, {n}, {1})});
  report("chain exp tanh", 3.0 * n * 4,
         (chain_head +
          " %5 e0 float32 add %0 %1\n %6 e0 float32 tanh %5\n %7 e0 float32 sub %6 %0\n %8 e0 float32 exp "
          "%7\n %9 e0 float32 mul %8 %1\n %10 e0 float32 sigmoid %9\n"
          " %11 e0 float32 abs %10\n %12 e0 float32 add %11 %2\n %13 e0 float32 div %12 %3\n %14 e0 float32 "
          "mul %13 %0\n %15 e0 float32 sub %14 %1\n %16 e0 float32 relu %15\n %17 e0 float32 store %16 2\n")
             .c_str(),
         {view(a, {n}, {1}), view(b, {n}, {1}), view(c, {n}, {1})});
  report("gelu", 2.0 * n * 4,
         "loop outer=1 row=0 sweeps=1\n operand 0 in float32\n operand 1 out float32\n %0 e0 float32 load "
         "0\n %1 e0 float32 gelu %0\n %2 e0 float32 store %1 1\n",
         {view(a, {n}, {1}), view(c, {n}, {1})});
  report(
      "half add", 3.0 * n * 2,
      "loop outer=1 row=0 sweeps=1\n operand 0 in float16\n operand 1 in float16\n operand 2 out float16\n "
      "%0 e0 float32 load 0\n %1 e0 float32 load 1\n %2 e0 float32 add %0 %1\n %3 e0 float32 store %2 2\n",
      {view(a, {n}, {1}, DType::float16), view(b, {n}, {1}, DType::float16),
       view(c, {n}, {1}, DType::float16)});
  report("transpose", 2.0 * n * 4,
         "loop outer=2 row=0 sweeps=1\n operand 0 in float32\n operand 1 out float32\n %0 e0 float32 load "
         "0\n %1 e0 float32 store %0 1\n",
         {view(a, {4096, 4096}, {1, 4096}), view(c, {4096, 4096}, {4096, 1})});
  const char* softmax =
      "loop outer=1 row=1 sweeps=3\n operand 0 in float32\n operand 1 out float32\n %0 e0 float32 load 0\n "
      "%1 r1 float32 reduce_max %0\n %2 e1 float32 sub %0 %1\n %3 e1 float32 exp %2\n"
      " %4 r2 float32 reduce_sum %3\n %5 e2 float32 div %3 %4\n %6 e2 float32 store %5 1\n";
  for (const int64_t columns : {8, 64, 1024, 4096, 65536}) {
    report(("softmax " + std::to_string(columns)).c_str(), 2.0 * n * 4, softmax,
           {view(a, {n / columns, columns}, {columns, 1}), view(c, {n / columns, columns}, {columns, 1})});
  }
  report("softmax axis 0", 2.0 * n * 4, softmax,
         {view(a, {4096, 4096}, {1, 4096}), view(c, {4096, 4096}, {1, 4096})});
  const char* bias =
      "loop outer=2 row=0 sweeps=1\n operand 0 in float32\n operand 1 in float32\n operand 2 out float32\n "
      "%0 e0 float32 load 0\n %1 e0 float32 load 1\n %2 e0 float32 add %0 %1\n %3 e0 float32 relu %2\n %4 e0 "
      "float32 store %3 2\n";
  for (const int64_t columns : {4, 64, 1024, 4096}) {
    report(("bias " + std::to_string(columns)).c_str(), 2.0 * n * 4, bias,
           {view(a, {n / columns, columns}, {columns, 1}), view(b, {n / columns, columns}, {0, 1}),
            view(c, {n / columns, columns}, {columns, 1})});
  }
}

}  // namespace
}  // namespace ge

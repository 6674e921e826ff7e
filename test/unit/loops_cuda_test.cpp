// The CUDA printer: which variants a loop gets, and that NVRTC compiles each without stack or spills.
#include "catch.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

#include "compiler/codegen/cuda_text.h"
#include "compiler/codegen/loop_code.h"
#include "compiler/codegen/loop_nest.h"
#include "compiler/codegen/nvrtc.h"
#include "compiler/ir/text.h"
#include "contract/args_pack.h"
#include "loops_support.h"

namespace ge {
namespace {

using test::RandomLoop;

LoopProgram program_of(const std::string& text) {
  auto program = loop_from_text(text);
  REQUIRE_OK(program);
  REQUIRE_OK(verify_loop(*program));
  return *program;
}
const char* kSoftmax = R"(loop outer=1 row=1 sweeps=3
  operand 0 in float32
  operand 1 out float32
  %0 e0 float32 load 0
  %1 r1 float32 reduce_max %0
  %2 e1 float32 sub %0 %1
  %3 e1 float32 exp %2
  %4 r2 float32 reduce_sum %3
  %5 e2 float32 div %3 %4
  %6 e2 float32 store %5 1
)";

const char* kLayerNorm = R"(loop outer=1 row=1 sweeps=3
  operand 0 in float16
  operand 1 in float16
  operand 2 in float16
  operand 3 out float16
  constant 0 float32 0x3727c5ac
  %0 e0 float32 load 0
  %1 e0 float32 load 1
  %2 e0 float32 load 2
  %3 r1 float32 reduce_sum %0
  %4 r0 float32 row_count
  %5 r1 float32 div %3 %4
  %6 e1 float32 sub %0 %5
  %7 e1 float32 mul %6 %6
  %8 r2 float32 reduce_sum %7
  %9 r2 float32 div %8 %4
  %10 r0 float32 constant 0
  %11 r2 float32 add %9 %10
  %12 r2 float32 rsqrt %11
  %13 e2 float32 mul %6 %12
  %14 e2 float32 mul %13 %1
  %15 e2 float32 add %14 %2
  %16 e2 float32 store %15 3
)";

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TensorView view_of(DType dtype, std::vector<int64_t> dims, std::vector<int64_t> strides) {
  TensorView v;
  v.rank = static_cast<int32_t>(dims.size());
  v.dtype = dtype;
  for (size_t i = 0; i < dims.size(); ++i) {
    v.dims[i] = dims[i];
    v.strides[i] = strides[i];
  }
  return v;
}
std::vector<std::string> methods_of(const LoopProgram& program, const LoopFacts& facts) {
  auto variants = print_cuda_loop(program, facts);
  REQUIRE_OK(variants);
  std::vector<std::string> names;
  for (const auto& v : *variants) names.push_back(v.method);
  REQUIRE(variants->back().guards.empty());
  for (const auto& v : *variants) REQUIRE_OK(check_desc(v.desc));
  return names;
}

TEST_CASE("methods fit the shapes", "[loops][cuda]") {
  const LoopProgram softmax = program_of(kSoftmax);
  const auto rows = [&](int64_t n, int64_t columns) {
    const auto v = view_of(DType::float32, {n, columns}, {columns, 1});
    return methods_of(softmax, facts_of(softmax, std::vector{v, v}));
  };
  using Names = std::vector<std::string>;
  CHECK(rows(32768, 1024) == Names{"row_held_32x8x4"});
  CHECK(rows(32768, 4096) == Names{"row_held_128x8x4"});
  CHECK(rows(100, 64) == Names{"row_held_16x1x4"});
  CHECK(rows(100, 7) == Names{"row_held_8x1x1"});
  CHECK(rows(1 << 20, 64) == Names{"row_held_4x4x4"});
  CHECK(rows(32768, 257) ==
        Names{"row_across_32x5x2"});  // no multiple of a vector: vectors cross the rows' ends
  CHECK(rows(32768, 2049) == Names{"row_across_96x6x4"});
  CHECK(rows(100, 1000000) == Names{"row_reread_512x4"});
  const auto column = view_of(DType::float32, {4096, 512}, {1, 4096});
  CHECK(methods_of(softmax, facts_of(softmax, std::vector{column, column})) == Names{"columns"});

  // Symbolic rows and columns: vectors where the extent allows, then single elements, then any length.
  LoopFacts symbolic;
  symbolic.axes.resize(2);
  symbolic.operands.resize(2);
  for (auto& o : symbolic.operands) {
    o.strides = {std::nullopt, 1};
    o.merges = {true, false};
    o.align_bytes = 256;
  }
  CHECK(methods_of(softmax, symbolic) == Names{"row_held_32x8x4", "row_held_256x8x4", "row_reread_512x4",
                                               "row_held_32x32x1", "row_reread_512x1"});

  const LoopProgram add = program_of(
      "loop outer=2 row=0 sweeps=1\n operand 0 in float32\n operand 1 in float32\n operand 2 out float32\n"
      " %0 e0 float32 load 0\n %1 e0 float32 load 1\n %2 e0 float32 add %0 %1\n %3 e0 float32 store %2 2\n");
  const auto dense = view_of(DType::float32, {8192, 8192}, {8192, 1}),
             across = view_of(DType::float32, {8192, 8192}, {1, 8192}),
             bias = view_of(DType::float32, {8192, 8192}, {0, 1});
  CHECK(methods_of(add, facts_of(add, std::vector{dense, dense, dense})) == Names{"flat_vector4"});
  CHECK(methods_of(add, facts_of(add, std::vector{dense, bias, dense})) == Names{"flat_vector4"});
  CHECK(methods_of(add, facts_of(add, std::vector{across, dense, dense})) == Names{"transpose"});
}

TEST_CASE("the longer a loop's code, the fewer elements a thread takes", "[loops][cuda]") {
  const auto elements = [](int functions, const char* name, int64_t columns) {
    std::string text =
        "loop outer=2 row=0 sweeps=1\n operand 0 in float32\n operand 1 out float32\n %0 e0 float32 load 0\n";
    for (int i = 0; i < functions; ++i)
      text += " %" + std::to_string(i + 1) + " e0 float32 " + name + " %" + std::to_string(i) + "\n";
    text += " %" + std::to_string(functions + 1) + " e0 float32 store %" + std::to_string(functions) + " 1\n";
    const LoopProgram p = program_of(text);
    const auto v = view_of(DType::float32, {1 << 14, columns}, {columns, 1});
    auto variants = print_cuda_loop(p, facts_of(p, std::vector{v, v}));
    REQUIRE_OK(variants);
    const int64_t each = variants->front().grid.terms[0].per_block / variants->front().block[0];
    CHECK(each * loop_code(p) <= kMostKernelCode);
    return each;
  };
  CHECK(elements(1, "sin", 1024) == 16);
  CHECK(elements(8, "gelu", 1024) == 16);
  CHECK(elements(15, "sin", 1024) == 8);
  CHECK(elements(40, "sin", 1024) == 2);  // by itself, whatever a pass would have made of it
  CHECK(elements(80, "neg", 1024) == 16);
  CHECK(elements(15, "sin", 1023) == 8);
  CHECK(elements(100, "sin", 1023) == 1);
}

// Rows so many that a group of threads takes several of them, with a scale and a shift that are the same for
// all.
constexpr std::pair<int64_t, int64_t> kManyRows[] = {
    {261123, 257}, {32752, 2049}, {32753, 2049}, {40001, 1026}, {671088, 100}, {1001001, 67}, {300002, 257}};
LoopFacts many_rows(const LoopProgram& layer_norm, int64_t rows, int64_t columns) {
  const auto x = view_of(DType::float16, {rows, columns}, {columns, 1}),
             gamma = view_of(DType::float16, {rows, columns}, {0, 1});
  return facts_of(layer_norm, std::vector{x, gamma, gamma, x});
}

TEST_CASE("groups of threads that take several rows reach every row", "[loops][cuda]") {
  const LoopProgram layer_norm = program_of(kLayerNorm);
  const auto first_of = [&](int64_t rows, int64_t columns) {
    auto variants = print_cuda_loop(layer_norm, many_rows(layer_norm, rows, columns));
    REQUIRE_OK(variants);
    return variants->front();
  };
  for (const auto& [rows, columns] : kManyRows) {
    const CudaLoopVariant v = first_of(rows, columns);
    INFO(v.method << "\n" << v.fragment);
    REQUIRE(v.method.ends_with("_rows8"));
    REQUIRE(v.grid.terms.size() == 1);
    const int64_t per_block = v.grid.terms[0].per_block;
    // Groups in a block, rows of each, and the rows that start equally far behind a vector's start.
    const int threads = std::stoi(v.method.substr(v.method.find_first_of("0123456789")));
    const int64_t groups = v.block[0] / threads;
    CHECK(per_block == groups * 8 * v.grid.times);
    const bool across = v.method.find("across") != std::string::npos;
    const int64_t width = std::stoi(v.method.substr(v.method.rfind('x') + 1));
    CHECK(v.grid.times == (across ? width / std::gcd(width, columns) : 1));
    CHECK((rows + per_block - 1) / per_block * v.grid.times * groups * 8 >= rows);
    // Past the tensor's end nothing is read: only where rows and vectors end together no text asks.
    CHECK(has(v.fragment, "if (row + 1 < ") == (across && rows * columns % width != 0));
    // What stands in for a row past the last starts equally far behind a vector's start.
    if (across && threads < 32) CHECK(has(v.fragment, "live ? own_row : blockIdx.x % 2;"));
  }
  const auto method = [&](int64_t rows, int64_t columns) { return first_of(rows, columns).method; };
  CHECK(method(32752, 2049) == "row_across_96x3x8_rows8");
  CHECK(method(261123, 257) == "row_across_16x9x2_rows8");
  CHECK(method(86370, 777) == "row_across_32x13x2_rows8");
  CHECK(method(671088, 100) == "row_held_8x4x4_rows8");  // 25 vectors leave threads idle
  CHECK_FALSE(method(65536, 1024).ends_with("_rows8"));  // single rows leave more warps
  CHECK_FALSE(method(4096, 2049).ends_with("_rows8"));   // too few to be worth it
}

// `rows` of `columns` elements, with a scale and a shift that no launch writes.
LoopFacts constant_scale(const LoopProgram& layer_norm, int64_t rows, int64_t columns) {
  LoopFacts facts = many_rows(layer_norm, rows, columns);
  facts.operands[1].constant = facts.operands[2].constant = true;
  return facts;
}

TEST_CASE("few rows read what is constant and the same for all before they wait", "[loops][cuda]") {
  const LoopProgram layer_norm = program_of(kLayerNorm);
  const auto first_of = [&](const LoopFacts& facts) {
    auto variants = print_cuda_loop(layer_norm, facts);
    REQUIRE_OK(variants);
    REQUIRE_OK(check_desc(variants->front().desc));
    return variants->front();
  };
  // Of operand `i`: before the wait, and read once.
  const auto early = [](const CudaLoopVariant& v, int i) {
    const std::string read = "(b" + std::to_string(i) + " + ";
    const size_t at = v.fragment.find(read), wait = v.fragment.find("wait_for_inputs();");
    REQUIRE(wait != std::string::npos);
    return at < wait && v.fragment.find(read, wait) == std::string::npos;
  };
  for (const int64_t columns : {64, 100, 768, 1024, 2048, 4096, 16384}) {
    const CudaLoopVariant v = first_of(constant_scale(layer_norm, 512, columns));
    INFO(v.method << "\n" << v.fragment);
    CHECK(v.early == 6);
    REQUIRE(v.desc.attrs.size() == 1);
    CHECK((v.desc.attrs[0] == AttrDesc{"early", AttrType::kInt, 6, 6, true}));
    CHECK((early(v, 1) && early(v, 2) && !early(v, 0)));
    // Who has no row left has waited, too.
    CHECK(v.fragment.find("return;") > v.fragment.find("wait_for_inputs();"));
  }
  LoopFacts facts = constant_scale(layer_norm, 512, 768);
  facts.operands[1].constant = false;
  CHECK((first_of(facts).early == 4 && !early(first_of(facts), 1) && early(first_of(facts), 2)));
  for (const LoopFacts& none :
       {many_rows(layer_norm, 512, 768), constant_scale(layer_norm, 4097, 768),
        constant_scale(layer_norm, 512, 777), constant_scale(layer_norm, 32752, 2049)}) {
    const CudaLoopVariant v = first_of(none);
    INFO(v.method << "\n" << v.fragment);
    CHECK((v.early == 0 && v.desc.attrs.empty() && !early(v, 1) && !early(v, 2)));
  }
}

TEST_CASE("the index along an axis of one position is 0, where its neighbours are one axis too",
          "[loops][cuda]") {
  const LoopProgram p = program_of(
      "loop outer=3 row=0 sweeps=1\n operand 0 in int64\n operand 1 out int64\n"
      " %0 e0 int64 load 0\n %1 e0 int64 index 1\n %2 e0 int64 add %0 %1\n %3 e0 int64 store %2 1\n");
  const auto text = [&](int64_t middle) {
    const auto v = view_of(DType::int64, {6, middle, 5}, {5 * middle, 5, 1});
    auto variants = print_cuda_loop(p, facts_of(p, std::vector{v, v}));
    REQUIRE_OK(variants);
    return variants->front().fragment;
  };
  CHECK(text(1).find("const long long r1 = 0ll;") != std::string::npos);
  CHECK(text(2).find("const long long r1 = 0ll;") == std::string::npos);
}

// exp, a division by a row's sum and a store: the second operand's dtype decides how exact they must be.
std::string softmax_text(const char* dtype, bool exact, const char* extra = "") {
  std::string text =
      std::string("loop outer=1 row=1 sweeps=2\n  operand 0 in ") + dtype + "\n  operand 1 out " + dtype +
      "\n" + extra + "  %0 e0 float32 load 0\n  %1 e0 float32 exp %0\n  %2 r1 float32 reduce_sum %1\n" +
      "  %3 e1 float32 div %1 %2\n  %4 e1 float32 cast %3 " + dtype + "\n  %5 e1 float32 store %4 1\n";
  if (*extra != 0) text += "  %6 e1 float32 store %1 2\n";
  const LoopProgram p = program_of(text);
  const DType type = *dtype_from_name(dtype);
  std::vector<TensorView> views(2, view_of(type, {64, 1024}, {1024, 1}));
  if (*extra != 0) views.push_back(view_of(DType::float32, {64, 1024}, {1024, 1}));
  LoopFacts facts = facts_of(p, views);
  facts.exact = exact;
  auto variants = print_cuda_loop(p, facts);
  REQUIRE_OK(variants);
  return variants->front().fragment;
}

TEST_CASE("narrow arithmetic is for values that leave as 16 bits", "[loops][cuda]") {
  for (const char* dtype : {"float16", "bfloat16"}) {
    const std::string narrow = softmax_text(dtype, false);
    // Only bfloat16 holds what is below float32's normal numbers.
    CHECK(
        has(narrow, std::string(dtype) == "bfloat16" ? "ge::narrow::exp<true>(" : "ge::narrow::exp<false>("));
    CHECK(has(narrow, "ge::narrow::Divisor q2(r2);"));
    CHECK(has(narrow, "ge::narrow::div("));
    CHECK_FALSE(has(narrow, "cast_through"));  // the store rounds
    CHECK_FALSE(has(softmax_text(dtype, true), "ge::narrow::"));
  }
  CHECK_FALSE(has(softmax_text("float32", false), "ge::narrow::"));
  // exp is stored as float32 too: it and what it is made of stay exact, the quotient need not be.
  const std::string mixed = softmax_text("float16", false, "  operand 2 out float32\n");
  CHECK_FALSE(has(mixed, "ge::narrow::exp<"));
  CHECK(has(mixed, "ge::narrow::div("));
}

TEST_CASE("a value beside an axis of one is computed once", "[loops][cuda]") {
  for (const char* shape : {"2, 1, 3, 5", "1, 1, 3, 5", "2, 4, 3, 5"}) {
    const std::string type = std::string("float32[") + shape + "]";
    const auto body =
        parse_ir("graph @g (%x: " + type + ") {\n  %c = constant float32[] splat 0.5\n  %b = broadcast(%c) " +
                 "{shape = [" + shape + "]} : " + type + "\n  %s = mul(%x, %b) : " + type +
                 "\n  %y = softmax(%s) {axis = 3} : " + type + "\n  return %y as \"y\"\n}\n");
    REQUIRE_OK(body);
    const auto nest = build_loop_nest(*body, false);
    REQUIRE_OK(nest);
    std::map<uint16_t, int> count;
    for (const LoopInstruction& c : nest->program.code) ++count[c.op];
    CHECK(count[static_cast<uint16_t>(LoopOp::kLoad)] == 1);
    CHECK(count[static_cast<uint16_t>(ScalarOp::mul)] == 1);
    CHECK(count[static_cast<uint16_t>(ScalarOp::exp)] == 1);
  }
}

TEST_CASE("a product that several sweeps want is rounded in each", "[loops][cuda]") {
  const auto text = [&](const char* kind) {
    const LoopProgram p = program_of(std::string("loop outer=1 row=1 sweeps=2\n  operand 0 in float32\n") +
                                     "  operand 1 out float32\n  %0 e0 float32 load 0\n" +
                                     "  %1 e0 float32 " + kind + " %0 %0\n  %2 r1 float32 reduce_max %1\n" +
                                     "  %3 e1 float32 sub %1 %2\n  %4 e1 float32 store %3 1\n");
    const auto v = view_of(DType::float32, {64, 1024}, {1024, 1});
    auto variants = print_cuda_loop(p, facts_of(p, std::vector{v, v}));
    REQUIRE_OK(variants);
    return variants->front().fragment;
  };
  CHECK(has(text("mul"), "ge::loop::rounded_product("));
  CHECK_FALSE(has(text("add"), "ge::loop::rounded_product("));
  CHECK_FALSE(has(softmax_text("float32", false), "ge::loop::rounded_product("));
}

TEST_CASE("a cast that is read before it is stored stays", "[loops][cuda]") {
  // The rounded values are summed too and held for the last sweep: what they were made of is gone by then.
  const LoopProgram p = program_of(R"(loop outer=1 row=1 sweeps=2
  operand 0 in float16
  operand 1 out float16
  operand 2 out float32 row
  %0 e0 float32 load 0
  %1 e0 float32 exp %0
  %2 e0 float32 cast %1 float16
  %3 r1 float32 reduce_sum %2
  %4 e1 float32 store %2 1
  %5 r1 float32 store %3 2
)");
  std::vector<TensorView> views(2, view_of(DType::float16, {64, 96}, {96, 1}));
  views.push_back(view_of(DType::float32, {64, 1}, {1, 1}));
  auto variants = print_cuda_loop(p, facts_of(p, views));
  REQUIRE_OK(variants);
  CHECK(has(variants->front().fragment, "x2[t] = r2"));
  CHECK(has(variants->front().fragment, "y4[v] = x2[t]"));
}

TEST_CASE("text depends on program and facts alone", "[loops][cuda]") {
  const LoopProgram softmax = program_of(kSoftmax);
  const auto v = view_of(DType::float32, {10, 1024}, {1024, 1}),
             w = view_of(DType::float32, {10, 512}, {512, 1});
  const auto first = print_cuda_loop(softmax, facts_of(softmax, std::vector{v, v})),
             again = print_cuda_loop(softmax, facts_of(softmax, std::vector{v, v}));
  const auto other = print_cuda_loop(softmax, facts_of(softmax, std::vector{w, w}));
  REQUIRE(first->front().fragment == again->front().fragment);
  REQUIRE(first->front().symbol == again->front().symbol);
  REQUIRE(first->front().symbol != other->front().symbol);
  REQUIRE(first->front().fragment.find(first->front().symbol) != std::string::npos);
  REQUIRE(cuda_prelude().find("namespace scalar") != std::string_view::npos);
}

// Compiles for both architectures; each kernel must use no stack and spill nothing, but for those named.
void compile(const std::vector<CudaLoopVariant>& variants, const std::set<std::string>& may_use_stack = {}) {
  const auto nvrtc = Nvrtc::open();
  if (!nvrtc.ok()) GE_SKIP("NVRTC is not here");
  std::vector<const CudaLoopVariant*> list;
  for (const auto& v : variants) list.push_back(&v);
  const std::string source = cuda_source(list);
  if (const char* folder = std::getenv("GE_KEEP_CUDA"))
    std::ofstream(std::string(folder) + "/loops.cu", std::ios::app) << source.substr(cuda_prelude().size());
  for (const int arch : {80, 90}) {
    const auto result = nvrtc->compile(source, arch, {.device_debug_log = true});
    REQUIRE_OK(result);
    REQUIRE(result->cubin.size() > 1000);
    std::istringstream lines(result->log);
    std::string line, kernel;
    size_t reported = 0;
    while (std::getline(lines, line)) {
      if (const size_t at = line.find("Function properties for "); at != std::string::npos)
        kernel = line.substr(at + 24);
      if (line.find("bytes stack frame") == std::string::npos) continue;
      ++reported;
      if (may_use_stack.contains(kernel)) continue;
      INFO(kernel << " for sm_" << arch << ": " << line);
      for (const auto& v : variants)
        if (v.symbol == kernel &&
            line.find(" 0 bytes stack frame, 0 bytes spill stores") == std::string::npos)
          FAIL(v.method << "\n" << v.fragment);
    }
    REQUIRE(reported >= std::set<const CudaLoopVariant*>(list.begin(), list.end()).size() / 2);
  }
}

TEST_CASE("NVRTC compiles every scalar op of every type", "[loops][cuda]") {
  std::vector<CudaLoopVariant> variants;
  std::set<std::string> may_use_stack;
  for (const ScalarOpInfo& info : scalar_ops()) {
    for (const DType type : {DType::float32, DType::float64, DType::int32, DType::int64, DType::boolean}) {
      if (!accepts(info.domain, type)) continue;
      const bool selects = info.op == ScalarOp::select;
      const DType result = info.result == ScalarResult::boolean ? DType::boolean : type;
      LoopProgram p{.outer_rank = 1};
      LoopInstruction op{.op = static_cast<uint16_t>(info.op), .type = result};
      uint16_t* into[] = {&op.a, &op.b, &op.c};
      std::vector<TensorView> views;
      for (uint16_t i = 0; i < info.arity; ++i) {
        const DType t = selects && i == 0 ? DType::boolean : type;
        p.operands.push_back({t, false, false});
        p.code.push_back({.op = static_cast<uint16_t>(LoopOp::kLoad), .type = t, .imm = i});
        *into[i] = i;
        views.push_back(view_of(t, {1 << 22}, {1}));
      }
      p.operands.push_back({result, true, false});
      p.code.push_back(op);
      p.code.push_back(
          {.op = static_cast<uint16_t>(LoopOp::kStore), .type = result, .a = info.arity, .imm = info.arity});
      views.push_back(view_of(result, {1 << 22}, {1}));
      auto printed = print_cuda_loop(p, facts_of(p, views));
      REQUIRE_OK(printed);
      // The range reduction of large arguments keeps its table's product in local memory: the library's way.
      const bool trig = info.op == ScalarOp::sin || info.op == ScalarOp::cos || info.op == ScalarOp::tan;
      if (trig) may_use_stack.insert(printed->front().symbol);
      variants.push_back(printed->front());
    }
  }
  compile(variants, may_use_stack);
}

TEST_CASE("NVRTC compiles every method", "[loops][cuda]") {
  std::vector<CudaLoopVariant> variants;
  const auto add_all = [&](const LoopProgram& program, const LoopFacts& facts) {
    auto printed = print_cuda_loop(program, facts);
    REQUIRE_OK(printed);
    for (auto& v : *printed) variants.push_back(std::move(v));
  };
  const LoopProgram softmax = program_of(kSoftmax);
  for (const int64_t columns : {1, 7, 64, 1000, 1024, 4096, 16384, 100000}) {
    const auto v = view_of(DType::float32, {64, columns}, {columns, 1});
    add_all(softmax, facts_of(softmax, std::vector{v, v}));
  }
  const LoopProgram layer_norm = program_of(kLayerNorm);
  for (const int64_t columns : {64, 768, 1024, 4096, 8192, 65536}) {
    const auto x = view_of(DType::float16, {64, columns}, {columns, 1}),
               gamma = view_of(DType::float16, {64, columns}, {0, 1});
    add_all(layer_norm, facts_of(layer_norm, std::vector{x, gamma, gamma, x}));
    add_all(layer_norm, constant_scale(layer_norm, 64, columns));
  }
  for (const auto& [rows, columns] : kManyRows) add_all(layer_norm, many_rows(layer_norm, rows, columns));
  compile(variants);
}

TEST_CASE("NVRTC compiles random loops", "[loops][cuda]") {
  std::vector<CudaLoopVariant> variants;
  for (uint32_t seed = 0; seed < 25; ++seed) {
    RandomLoop loop(seed);
    auto printed = print_cuda_loop(loop.program, facts_of(loop.program, loop.views()));
    REQUIRE_OK(printed);
    for (auto& v : *printed) variants.push_back(std::move(v));
  }
  compile(variants);
}

TEST_CASE("errors of NVRTC are told", "[loops][cuda]") {
  const auto nvrtc = Nvrtc::open();
  if (!nvrtc.ok()) GE_SKIP("NVRTC is not here");
  const auto broken = nvrtc->compile("extern \"C\" __global__ void f() { nonsense; }", 90);
  REQUIRE_CODE(broken, Code::codegen_failed);
  REQUIRE_THAT(broken.error().first().found, test::contains("nonsense"));
  REQUIRE_CODE(nvrtc->compile("", 31), Code::codegen_unavailable);
  setenv("GE_NVRTC", "/nowhere/libnvrtc.so", 1);
  REQUIRE_CODE(Nvrtc::open(), Code::codegen_unavailable);
  unsetenv("GE_NVRTC");
}

}  // namespace
}  // namespace ge

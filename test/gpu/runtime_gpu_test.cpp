// The runtime on a GPU, through ge.h: direct run, recording and replay, rebinding, steps, faults, cuBLASLt,
// several sessions, the caller's own stream. Without a GPU the program ends with 77, which CTest shows as
// skipped.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "catch.h"
#include "contract/scalar_op.h"
#include "numeric/convert.h"
#include "runtime_sample.h"

using namespace ge;
using namespace ge::test;

namespace {

constexpr int kSkipped = 77;

// "sm_90" of the first GPU; ends the program as skipped where there is none.
std::string gpu_target() {
  const Outcome available(ge_cuda_available());
  if (!available.ok()) {
    std::printf("skipped: %s\n", available.message.c_str());
    std::exit(kSkipped);
  }
  return "sm_" + std::to_string(ge_cuda_device_arch(0));
}

// A launch with a CUDA geometry.
Step with_grid(PlanMaker& m, Step step, int64_t blocks) {
  Choice& choice = step.launch[0].choices[0];
  choice.grid = {m.number(blocks), m.number(1), m.number(1)};
  choice.block = {256, 1, 1};
  return step;
}

// y[n, 4] = relu(x[n, 3] w + b) by cuBLASLt, with w prepared by a copy.
std::vector<std::byte> affine_gpu_plan(const std::vector<float>& w_values,
                                       const std::vector<float>& b_values) {
  PlanMaker m(gpu_target());
  const ExprId n = m.symbol("n", 0, 1 << 20, 2);
  const TensorRef x = m.input("x", {n, m.number(3)}), y = m.output("y", {n, m.number(4)});
  const TensorRef w = m.weights("w", {3, 4}, w_values), b = m.weights("b", {4}, b_values),
                  packed = m.prepared("w.packed", {3, 4});
  m.program().prepare.steps = {m.copy(w, packed, "/nodes/0")};
  m.program().run.steps = {m.launch(m.library("dot_cublaslt"), {x, packed, m.broadcast_rows(b, n), y, {}},
                                    {{"activation", static_cast<int64_t>(ScalarOp::relu)}}, "/nodes/0")};
  return m.file();
}

const std::vector<float> kW = {1, 2, 3, 4, -1, -2, -3, -4, 0.5f, 0.25f, 0, 1}, kB = {0.5f, -0.5f, 1, -10};

std::vector<float> affine(const std::vector<float>& x) {
  std::vector<float> y;
  for (size_t row = 0; row < x.size() / 3; ++row) {
    for (size_t n = 0; n < 4; ++n) {
      float sum = kB[n];
      for (size_t k = 0; k < 3; ++k) sum += x[row * 3 + k] * kW[k * 4 + n];
      y.push_back(std::max(sum, 0.0f));
    }
  }
  return y;
}

std::vector<float> ramp(size_t count, float from) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = from + 0.25f * static_cast<float>(i % 64);
  return values;
}

float worst_difference(const std::vector<float>& got, const std::vector<float>& want) {
  if (got.size() != want.size()) return INFINITY;
  float worst = 0;
  for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::fabs(got[i] - want[i]));
  return worst;
}

}  // namespace

TEST_CASE("the device describes itself", "[gpu]") {
  const std::string target = gpu_target();
  Run r(affine_gpu_plan(kW, kB), 0, GE_DEVICE_CUDA);
  REQUIRE(r.opened.message == "");
  REQUIRE(ge_device_get_kind(r.device) == GE_DEVICE_CUDA);
  REQUIRE(ge_device_target(r.device) == target);
  REQUIRE(std::string(ge_device_name(r.device)).size() > 3);
  ge_plan_needs needs{};
  needs.size = sizeof needs;
  REQUIRE(Outcome(ge_plan_check(r.plan, r.device, &needs)).message == "");
  REQUIRE(needs.uses_library == 1);
  REQUIRE(needs.free_bytes > 1 << 20);
}

TEST_CASE("a GPU's ceilings are measured", "[gpu]") {
  Run r(affine_gpu_plan(kW, kB), 0, GE_DEVICE_CUDA);
  ge_ceilings most{};
  REQUIRE(r.measure_ceilings(most).message == "");
  CHECK(most.gb_per_s > 100);
  CHECK(most.launch_us > 0.2);
  CHECK(most.launch_us < 100);
  CHECK(most.tflop_per_s_f32 > 1);
  CHECK(most.tflop_per_s_f16 > 2 * most.tflop_per_s_f32);  // on tensor cores
  CHECK(most.tflop_per_s_bf16 > 2 * most.tflop_per_s_f32);
}

TEST_CASE("a GPU that is not there is refused", "[gpu]") {
  gpu_target();
  ge_device_options options{};
  options.size = sizeof options;
  options.kind = GE_DEVICE_CUDA;
  options.index = 4711;
  ge_device* device = nullptr;
  const Outcome o(ge_device_open(&options, &device));
  REQUIRE(o.code == "E0701");
  REQUIRE(o.kind == GE_ERROR_ENVIRONMENT);
  REQUIRE(device == nullptr);
}

TEST_CASE("direct, recorded and replayed runs agree, across bindings", "[gpu]") {
  ge_session_options direct{};
  direct.size = sizeof direct;
  for (const bool no_graph : {false, true}) {
    direct.no_graph = no_graph;
    Run r(affine_gpu_plan(kW, kB), 0, GE_DEVICE_CUDA, &direct);
    REQUIRE(r.opened.message == "");
    for (const int64_t n : {2, 1, 100000, 2, 7, 100000, 300000}) {
      CAPTURE(no_graph, n);
      REQUIRE(r.bind({{"n", n}}).message == "");
      for (int again = 0; again < 4; ++again) {
        const std::vector<float> x = ramp(static_cast<size_t>(n) * 3, static_cast<float>(again));
        REQUIRE(r.write(0, x).message == "");
        REQUIRE(r.run().message == "");
        REQUIRE(worst_difference(r.read<float>(0), affine(x)) < 1e-4f);
      }
    }
  }
}

TEST_CASE("an empty batch runs", "[gpu]") {
  Run r(affine_gpu_plan(kW, kB), 0, GE_DEVICE_CUDA);
  REQUIRE(r.bind({{"n", 0}}).message == "");
  for (int i = 0; i < 3; ++i) REQUIRE(r.run().message == "");
  REQUIRE(r.read<float>(0).empty());
}

TEST_CASE("more bindings than are kept", "[gpu]") {
  Run r(affine_gpu_plan(kW, kB), 0, GE_DEVICE_CUDA);
  for (int round = 0; round < 2; ++round) {
    for (int64_t n = 1; n <= 40; ++n) {
      REQUIRE(r.bind({{"n", n}}).message == "");
      const std::vector<float> x = ramp(static_cast<size_t>(n) * 3, static_cast<float>(n));
      REQUIRE(r.write(0, x).ok());
      for (int i = 0; i < 2; ++i) REQUIRE(r.run().message == "");
      REQUIRE(worst_difference(r.read<float>(0), affine(x)) < 1e-4f);
    }
  }
}

TEST_CASE("buffers keep their addresses while they grow", "[gpu]") {
  Run r(affine_gpu_plan(kW, kB), 0, GE_DEVICE_CUDA);
  const auto address = [&](int64_t n) {
    REQUIRE(r.bind({{"n", n}}).message == "");
    ge_tensor t{};
    t.size = sizeof t;
    REQUIRE(Outcome(ge_session_output(r.session, 0, &t)).ok());
    return t.data;
  };
  void* const at = address(200000);  // 3.2 MB: mapped pages
  REQUIRE(address(1000000) == at);
}

TEST_CASE("copies and fills of every width", "[gpu]") {
  PlanMaker m(gpu_target());
  const ExprId n = m.symbol("n", 0, 1 << 20, 5);
  const TensorRef x = m.input("x", {n}), y = m.output("y", {n});
  const TensorRef a = m.output("a", {m.number(5)}, DType::uint8),
                  b = m.output("b", {m.number(3)}, DType::int16), c = m.output("c", {m.number(3)}),
                  d = m.output("d", {m.number(3)}, DType::int64),
                  e = m.output("e", {m.number(2)}, DType::int64);
  m.program().run.steps = {m.copy(x, y, "/copy"),       m.fill(a, 200),
                           m.fill(b, 0xfffe),           m.fill(c, 0x3fc00000),
                           m.fill(d, ~uint64_t{0} - 4), m.fill(e, 0)};
  Run r(m.file(), 0, GE_DEVICE_CUDA);
  REQUIRE(r.opened.message == "");
  REQUIRE(r.bind({{"n", 100000}}).message == "");
  const std::vector<float> values = ramp(100000, 0);
  REQUIRE(r.write(0, values).ok());
  for (int i = 0; i < 3; ++i) {
    REQUIRE(r.run().message == "");
    REQUIRE(r.read<float>(0) == values);
    REQUIRE(r.read<uint8_t>(1) == std::vector<uint8_t>(5, 200));
    REQUIRE(r.read<int16_t>(2) == std::vector<int16_t>(3, -2));
    REQUIRE(r.read<float>(3) == std::vector<float>(3, 1.5f));
    REQUIRE(r.read<int64_t>(4) == std::vector<int64_t>(3, -5));
    REQUIRE(r.read<int64_t>(5) == std::vector<int64_t>(2, 0));
  }
}

TEST_CASE("an index out of range names its node, direct and replayed, and the next run is clean", "[gpu]") {
  PlanMaker m(gpu_target());
  const TensorRef table = m.weights("table", {3}, {10, 20, 30}),
                  index = m.input("index", {m.number(2)}, DType::int64), y = m.output("y", {m.number(2)}),
                  z = m.output("z", {m.number(3)});
  m.program().run.steps = {m.copy(table, z, "/nodes/0"),
                           with_grid(m,
                                     m.launch(m.builtin("gather_elements_sm80"), {table, index, y},
                                              {{"axis", int64_t{0}}}, "/nodes/5"),
                                     1)};
  Run r(m.file(), 0, GE_DEVICE_CUDA);
  REQUIRE(r.opened.message == "");
  REQUIRE(r.bind().message == "");
  for (int i = 0; i < 3; ++i) {
    CAPTURE(i);
    REQUIRE(r.write(0, std::vector<int64_t>{1, 77}).ok());
    const Outcome o = r.run();
    REQUIRE(o.code == "E0609");
    REQUIRE_THAT(o.message, contains("/nodes/5"));
    REQUIRE_THAT(o.message, contains("index 77"));
    REQUIRE(r.write(0, std::vector<int64_t>{2, -3}).ok());
    REQUIRE(r.run().message == "");
    REQUIRE(r.read<float>(0) == std::vector<float>{30, 10});
  }
}

TEST_CASE("If and ReadDims are decided between recorded parts", "[gpu]") {
  PlanMaker m(gpu_target());
  const ExprId count = m.symbol("count", 0, 8, 8);
  const TensorRef n = m.input("n", {m.number(1)}, DType::int64), flag = m.input("flag", {}, DType::boolean),
                  x = m.input("x", {m.number(8)});
  TensorRef y = m.output("y", {m.number(8)});
  m.program().signature.outputs[0].dims = {count};
  TensorRef x_part = x, y_part = y;
  x_part.dims = y_part.dims = {count};
  Step read{.kind = StepKind::kReadDims}, branch{.kind = StepKind::kIf};
  read.read_dims = {{n, {0}, {"/nodes/1"}}};
  branch.if_ = {{flag, 0, 1}};
  m.program().run.steps = {read, branch};
  m.program().blocks = {{{m.copy(x_part, y_part, "/then")}}, {{m.fill(y_part, 0)}}};
  Run r(m.file(), 0, GE_DEVICE_CUDA);
  REQUIRE(r.opened.message == "");
  REQUIRE(r.bind().message == "");
  REQUIRE(r.write(2, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}).ok());
  for (int round = 0; round < 3; ++round) {
    for (const int64_t value : {3, 8, 0}) {
      for (const uint8_t taken : {1, 0}) {
        REQUIRE(r.write(0, std::vector<int64_t>{value}).ok());
        REQUIRE(r.write(1, std::vector<uint8_t>{taken}).ok());
        REQUIRE(r.run().message == "");
        REQUIRE(r.output_dims(0) == std::vector<int64_t>{value});
        const std::vector<float> got = r.read<float>(0);
        for (size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == (taken ? static_cast<float>(i + 1) : 0.0f));
      }
    }
  }
}

TEST_CASE("cuBLASLt: types, transposes, batches, bias and activation", "[gpu]") {
  struct Case {
    const char* name;
    DType dtype;
    int64_t batch, m, n, k;
    bool lhs_transposed, rhs_transposed;
    int bias;
    ScalarOp activation;
  };
  const auto none = static_cast<ScalarOp>(0);
  const Case cases[] = {
      {"float32", DType::float32, 1, 33, 65, 129, false, false, 0, none},
      {"float32 both transposed", DType::float32, 1, 33, 65, 129, true, true, 1, ScalarOp::relu},
      {"float16 row bias", DType::float16, 1, 64, 128, 256, false, false, 1, none},
      {"float16 relu", DType::float16, 1, 64, 128, 256, false, true, 1, ScalarOp::relu},
      {"float16 tanh gelu", DType::float16, 1, 64, 128, 64, false, false, 1, ScalarOp::gelu_tanh},
      {"float16 residual", DType::float16, 1, 64, 128, 64, false, false, 2, none},
      {"float16 batch", DType::float16, 6, 17, 24, 40, false, true, 0, none},
      {"bfloat16 odd", DType::bfloat16, 1, 7, 9, 11, false, false, 1, ScalarOp::relu},
      {"one row", DType::float16, 1, 1, 512, 256, false, false, 1, none},
      {"one column", DType::float32, 1, 100, 1, 64, false, false, 0, none},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    PlanMaker p(gpu_target());
    const auto matrix = [&](const char* name, int64_t rows, int64_t columns, bool transposed) {
      const std::vector<ExprId> stored = {p.number(c.batch), p.number(transposed ? columns : rows),
                                          p.number(transposed ? rows : columns)};
      TensorRef ref = p.input(name, stored, c.dtype);
      if (transposed) {
        std::swap(ref.dims[1], ref.dims[2]);
        std::swap(ref.strides[1], ref.strides[2]);
      }
      return ref;
    };
    const TensorRef lhs = matrix("lhs", c.m, c.k, c.lhs_transposed),
                    rhs = matrix("rhs", c.k, c.n, c.rhs_transposed);
    TensorRef bias;
    if (c.bias == 1) {
      bias = p.input("bias", {p.number(c.n)}, c.dtype);
      bias = p.broadcast_rows(p.broadcast_rows(bias, p.number(c.m)), p.number(c.batch));
    }
    if (c.bias == 2) bias = p.input("bias", {p.number(c.batch), p.number(c.m), p.number(c.n)}, c.dtype);
    const TensorRef out = p.output("out", {p.number(c.batch), p.number(c.m), p.number(c.n)}, c.dtype);
    Attrs attrs;
    if (c.activation != none) attrs = {{"activation", static_cast<int64_t>(c.activation)}};
    p.program().run.steps = {
        p.launch(p.library("dot_cublaslt"), {lhs, rhs, bias, out, {}}, attrs, "/nodes/0")};
    Run r(p.file(), 0, GE_DEVICE_CUDA);
    REQUIRE(r.opened.message == "");
    REQUIRE(r.bind().message == "");
    // Values are small multiples of 1/8: exact in every type.
    std::vector<std::vector<double>> values;
    const auto fill = [&](int index, int64_t count, int step) {
      std::vector<std::byte> bytes(static_cast<size_t>(bytes_of(c.dtype, count)));
      auto& v = values.emplace_back();
      for (int64_t i = 0; i < count; ++i) {
        v.push_back(static_cast<double>((i * step) % 17 - 8) / 8);
        store_from_double(c.dtype, bytes.data(), i, v.back());
      }
      REQUIRE(r.write(index, bytes).message == "");
    };
    fill(0, c.batch * c.m * c.k, 5);
    fill(1, c.batch * c.k * c.n, 7);
    if (c.bias == 1) fill(2, c.n, 3);
    if (c.bias == 2) fill(2, c.batch * c.m * c.n, 3);
    for (int i = 0; i < 3; ++i) REQUIRE(r.run().message == "");
    const std::vector<std::byte> got = r.read<std::byte>(0);
    double worst = 0;
    for (int64_t b = 0; b < c.batch; ++b) {
      for (int64_t m = 0; m < c.m; ++m) {
        for (int64_t n = 0; n < c.n; ++n) {
          const int64_t at = (b * c.m + m) * c.n + n;
          double sum = c.bias == 1   ? values[2][static_cast<size_t>(n)]
                       : c.bias == 2 ? values[2][static_cast<size_t>(at)]
                                     : 0;
          for (int64_t k = 0; k < c.k; ++k) {
            const int64_t l = b * c.m * c.k + (c.lhs_transposed ? k * c.m + m : m * c.k + k);
            const int64_t w = b * c.k * c.n + (c.rhs_transposed ? n * c.k + k : k * c.n + n);
            sum += values[0][static_cast<size_t>(l)] * values[1][static_cast<size_t>(w)];
          }
          if (c.activation == ScalarOp::relu) sum = std::max(sum, 0.0);
          if (c.activation == ScalarOp::gelu_tanh)
            sum = 0.5 * sum * (1 + std::tanh(std::sqrt(2 / M_PI) * (sum + 0.044715 * sum * sum * sum)));
          worst = std::max(worst, std::fabs(load_as_double(c.dtype, got.data(), at) - sum) /
                                      std::max(1.0, std::fabs(sum)));
        }
      }
    }
    CHECK(worst < (c.dtype == DType::float32 ? 1e-5 : c.dtype == DType::float16 ? 2e-3 : 1e-2));
  }
}

TEST_CASE("sessions on four threads share one model on the GPU", "[gpu]") {
  Run r(affine_gpu_plan(kW, kB), 0, GE_DEVICE_CUDA);
  REQUIRE(r.opened.message == "");
  std::vector<std::string> faults(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < faults.size(); ++t) {
    threads.emplace_back([&, t] {
      ge_session* session = nullptr;
      const auto failed = [&](ge_error* error) {
        const Outcome o(error);
        if (!o.ok()) faults[t] += o.message + "\n";
        return !o.ok();
      };
      if (failed(ge_session_create(r.model, nullptr, &session))) return;
      for (int64_t round = 0; round < 12; ++round) {
        const int64_t n = 1 + (round % 3) * 1000 + static_cast<int64_t>(t);
        const char* name = "n";
        const std::vector<float> x = ramp(static_cast<size_t>(n) * 3, static_cast<float>(t));
        std::vector<float> y(static_cast<size_t>(n) * 4);
        if (failed(ge_session_bind(session, &name, &n, 1)) ||
            failed(ge_session_write_input(session, 0, x.data(), x.size() * 4)) ||
            failed(ge_session_run(session)) ||
            failed(ge_session_read_output(session, 0, y.data(), y.size() * 4)))
          break;
        if (worst_difference(y, affine(x)) >= 1e-4f) faults[t] += "wrong values\n";
      }
      ge_session_free(session);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& fault : faults) CHECK(fault == "");
}

TEST_CASE("runs can be enqueued and waited for; time and profile measure on the device", "[gpu]") {
  Run r(affine_gpu_plan(kW, kB), 0, GE_DEVICE_CUDA);
  REQUIRE(r.bind({{"n", 100000}}).message == "");
  const std::vector<float> x = ramp(300000, 1);
  REQUIRE(r.write(0, x).ok());
  for (int i = 0; i < 10; ++i) REQUIRE(Outcome(ge_session_run_async(r.session)).message == "");
  REQUIRE(Outcome(ge_session_wait(r.session)).message == "");
  REQUIRE(worst_difference(r.read<float>(0), affine(x)) < 1e-4f);
  double device_us[5] = {}, host_us[5] = {};
  const ge_timing_options timing{sizeof timing, 2, 5, 1};
  REQUIRE(Outcome(ge_session_time(r.session, &timing, device_us, host_us)).message == "");
  for (int i = 0; i < 5; ++i) {
    CHECK(device_us[i] > 0);
    CHECK(host_us[i] > device_us[i] * 0.5);
    CHECK(device_us[i] < 1e6);
  }
  int32_t count = 0;
  REQUIRE(Outcome(ge_session_profile(r.session, 5, &count)).message == "");
  REQUIRE(count == 1);
  ge_launch_profile entry{};
  entry.size = sizeof entry;
  REQUIRE(Outcome(ge_session_profile_entry(r.session, 0, &entry)).ok());
  CHECK(std::string(entry.kernel) == "dot_cublaslt");
  CHECK(entry.time_us > 0.5);
  CHECK(entry.time_us < 1e6);
  REQUIRE(r.read<float>(0).size() == 400000);
}

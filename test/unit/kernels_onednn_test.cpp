// The oneDNN module beside the rows it stands for. Skipped where it is not built.
#include <cmath>
#include <cstdio>

#include "contract/scalar_op.h"
#include "kernels_harness.h"
#include "platform/dynamic_library.h"
#include "runtime/cpu/onednn/module.h"

namespace ge::test {
namespace {

const cpu::onednn::Module* module() {
  static const cpu::onednn::Module* const found = []() -> const cpu::onednn::Module* {
    auto library = DynamicLibrary::open({GE_BINARY_DIR "/bin/libge_onednn.so"});
    if (!library.ok()) return nullptr;
    decltype(&ge_onednn_module) entry = nullptr;
    const Status bound = library->bind("ge_onednn_module", entry);
    return bound.ok() ? entry() : nullptr;
  }();
  if (found == nullptr) std::puts("skipped: there is no oneDNN module here");
  return found;
}

struct Taken {
  bool by_module = false, good = true;
};

// Runs the row's function and the module on the same operands; `out` and `own` get their answers.
Taken run_both(const char* row, std::vector<TensorView> in, const TestTensor& out, const TestTensor& own,
               const Attrs& attrs, int threads) {
  Taken taken;
  std::vector<TensorView> operands = in;
  operands.push_back(own.view());
  REQUIRE_OK(run_kernel(row, operands, attrs, {.threads = threads}));
  operands.back() = out.view();
  const auto run = [&](const void* args, const LaunchContext& context) {
    void* step = module()->make(row, args, threads);
    taken.by_module = step != nullptr;
    if (step == nullptr) return;
    taken.good = module()->run(step, context) && module()->run(step, context);  // a step runs again
    module()->free(step);
  };
  REQUIRE_OK(run_kernel(row, operands, attrs, {.threads = threads, .instead = run}));
  return taken;
}

void require_same(const TestTensor& out, const TestTensor& own) {
  for (int64_t i = 0; i < out.count(); ++i) {
    INFO("element " << i);
    REQUIRE(near(DType::float32, out.at(i), own.at(i), 16, 1.0));
  }
  REQUIRE(out.guards_stand());
}

}  // namespace

TEST_CASE("oneDNN module: products as the row makes them, NaN and infinities too") {
  if (module() == nullptr) return;
  REQUIRE(module()->abi == cpu::onednn::kAbi);
  std::mt19937 rng(31);
  int taken = 0;
  struct Size {
    std::vector<int64_t> batch;
    int64_t m, n, k;
  };
  for (const Size& c :
       {Size{{}, 128, 100, 96}, Size{{}, 17, 1300, 64}, Size{{2, 3}, 96, 130, 96}, Size{{}, 1030, 33, 40}}) {
    for (const Layout left : kLayouts) {
      for (const Layout right : kLayouts) {
        const auto dims = [&](int64_t a, int64_t b) {
          auto all = c.batch;
          all.push_back(a), all.push_back(b);
          return all;
        };
        TestTensor lhs(DType::float32, dims(c.m, c.k), left, 1),
            rhs(DType::float32, dims(c.k, c.n), right, 1);
        TestTensor bias(DType::float32, dims(c.m, c.n), Layout::kBroadcast, 1 << c.batch.size());
        lhs.random(rng, 3), rhs.random(rng, 3), bias.random(rng);
        lhs.set(lhs.count() / 2, NAN);
        rhs.set(3, INFINITY);
        TestTensor out(DType::float32, dims(c.m, c.n)), own(DType::float32, dims(c.m, c.n));
        const Attrs relu{{"activation", int64_t{static_cast<uint16_t>(ScalarOp::relu)}}};
        for (const int threads : {1, 3}) {
          const Taken with = run_both("dot_blocked_f32", {lhs.view(), rhs.view(), bias.view()}, out, own,
                                      threads == 1 ? relu : Attrs{}, threads);
          REQUIRE(with.good);
          taken += with.by_module;
          if (with.by_module) require_same(out, own);
        }
      }
    }
  }
  CHECK(taken >= 4 * 2 * 4);  // dense and transposed sides at least
}

TEST_CASE("oneDNN module: convolutions of one element a window, others are left to the row") {
  if (module() == nullptr) return;
  std::mt19937 rng(32);
  for (const int64_t groups : {1, 2}) {
    for (const int64_t kernel : {1, 3}) {
      TestTensor x(DType::float32, {2, 256, 13, 15}), w(DType::float32, {96, 256 / groups, kernel, kernel});
      TestTensor bias(DType::float32, {96});
      const int64_t cut = kernel - 1;
      TestTensor out(DType::float32, {2, 96, 13 - cut, 15 - cut}),
          own(DType::float32, {2, 96, 13 - cut, 15 - cut});
      x.random(rng, 3), w.random(rng, 3), bias.random(rng);
      x.set(7, NAN);
      const std::vector<int64_t> one{1, 1}, none{0, 0};
      const Attrs attrs{{"activation", int64_t{static_cast<uint16_t>(ScalarOp::relu)}},
                        {"dilations", one},
                        {"groups", groups},
                        {"pads_begin", none},
                        {"strides", one}};
      const Taken with = run_both("conv_gemm_f32", {x.view(), w.view(), bias.view()}, out, own, attrs, 2);
      REQUIRE(with.good);
      CHECK(with.by_module == (kernel == 1));
      if (with.by_module) require_same(out, own);
    }
  }
}

TEST_CASE("oneDNN module: small work and other rows are refused") {
  if (module() == nullptr) return;
  TestTensor small(DType::float32, {4, 4}), out(DType::float32, {4, 4}), own(DType::float32, {4, 4});
  small.fill(1);
  CHECK_FALSE(run_both("dot_blocked_f32", {small.view(), small.view(), absent()}, out, own, {}, 1).by_module);
  CHECK(module()->make("no_such_row", nullptr, 1) == nullptr);
}

}  // namespace ge::test

// kernels/scalar.h and the SIMD versions of its functions against formulas in long double, over all of
// float's range.
#include "catch.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "contract/scalar_op.h"
#include "kernels/scalar.h"
#include "kernels/scalar_reference.h"
#include "runtime/cpu/loop_kernels.h"

namespace ge {
namespace {

using Wide = long double;
using Formula = std::function<Wide(Wide, Wide, Wide)>;

Wide wide_sigmoid(Wide a) {
  return a < 0 ? std::exp(a) / (1 + std::exp(a)) : 1 / (1 + std::exp(-a));
}
Wide wide_max(Wide a, Wide b) {
  return a != a || b != b ? NAN : std::max(a, b);
}
Wide wide_min(Wide a, Wide b) {
  return a != a || b != b ? NAN : std::min(a, b);
}
Wide wide_clamp(Wide a, Wide low, Wide high) {
  return a != a ? a : std::min(std::max(a, low), high);
}
Wide wide_softplus(Wide a) {
  return a > 0 ? a + std::log1p(std::exp(-a)) : std::log1p(std::exp(a));
}
Wide wide_mod(Wide a, Wide b) {
  const Wide r = std::fmod(a, b);
  return r == 0 ? std::copysign(Wide(0), b) : (r < 0) != (b < 0) ? r + b : r;
}

// The formulas as scalar_ops.def tells them, written apart from scalar.h.
const std::map<std::string, Formula>& formulas() {
  static const std::map<std::string, Formula> map = {
#define GE_F(name, text) \
  {#name, [](Wide a, [[maybe_unused]] Wide b, [[maybe_unused]] Wide c) -> Wide { return text; }},
      GE_F(add, a + b) GE_F(sub, a - b) GE_F(mul, a * b) GE_F(div, a / b) GE_F(mod, wide_mod(a, b)) GE_F(
          fmod, std::fmod(a, b)) GE_F(pow, std::pow(a, b)) GE_F(max, wide_max(a, b)) GE_F(min, wide_min(a, b))
          GE_F(neg, -a) GE_F(abs, std::fabs(a)) GE_F(sign, a != a  ? a
                                                           : a > 0 ? 1
                                                           : a < 0 ? -1
                                                                   : 0) GE_F(reciprocal, 1 / a)
              GE_F(sqrt, std::sqrt(a)) GE_F(rsqrt, 1 / std::sqrt(a)) GE_F(exp, std::exp(a))
                  GE_F(log, std::log(a)) GE_F(expm1, std::expm1(a)) GE_F(log1p, std::log1p(a)) GE_F(
                      sin, std::sin(a)) GE_F(cos, std::cos(a)) GE_F(tan, std::tan(a)) GE_F(asin, std::asin(a))
                      GE_F(acos, std::acos(a)) GE_F(atan, std::atan(a)) GE_F(sinh, std::sinh(a)) GE_F(
                          cosh, std::cosh(a)) GE_F(tanh, std::tanh(a)) GE_F(asinh, std::asinh(a))
                          GE_F(acosh, std::acosh(a)) GE_F(atanh, std::atanh(a)) GE_F(erf, std::erf(a)) GE_F(
                              floor, std::floor(a)) GE_F(ceil, std::ceil(a)) GE_F(round, std::nearbyint(a))
                              GE_F(trunc, std::trunc(a)) GE_F(equal, a == b) GE_F(not_equal, a != b) GE_F(
                                  less, a < b) GE_F(less_equal, a <= b)
                                  GE_F(greater, a > b) GE_F(greater_equal, a >= b) GE_F(is_nan, a != a) GE_F(
                                      is_inf, std::isinf(a)) GE_F(relu, a != a ? a : std::max(a, Wide(0)))
                                      GE_F(leaky_relu, a < 0 ? b * a : a) GE_F(
                                          elu, a < 0 ? b * std::expm1(a)
                                                     : a) GE_F(selu, c * (a > 0 ? a : b * std::expm1(a)))
                                          GE_F(celu, wide_max(0, a) + wide_min(0, b * std::expm1(a / b)))
                                              GE_F(sigmoid, wide_sigmoid(a)) GE_F(hard_sigmoid,
                                                                                  wide_clamp(b * a + c, 0, 1))
                                                  GE_F(hard_swish, a * wide_clamp(a / 6 + 0.5L, 0, 1)) GE_F(
                                                      gelu, 0.5L * a * std::erfc(-a / std::sqrt(2.0L)))
                                                      GE_F(gelu_tanh,
                                                           a * wide_sigmoid(2 *
                                                                            std::sqrt(2 / std::acos(-1.0L)) *
                                                                            (a + 0.044715L * a * a * a)))
                                                          GE_F(silu, a * wide_sigmoid(a)) GE_F(
                                                              mish, a * std::tanh(wide_softplus(a)))
                                                              GE_F(softplus, wide_softplus(a))
                                                                  GE_F(softsign, a / (1 + std::fabs(a))) GE_F(
                                                                      thresholded_relu,
                                                                      a > b || a != a ? a : 0)
                                                                      GE_F(clamp, wide_clamp(a, b, c)) GE_F(
                                                                          shrink, a < -b   ? a + c
                                                                                  : a > b  ? a - c
                                                                                  : a == a ? 0
                                                                                           : a)
                                                                          GE_F(swish, a * wide_sigmoid(b * a))
#undef GE_F
  };
  return map;
}

// Second and third operands where they are parameters rather than data.
void choose_parameters(const std::string& name, std::mt19937& rng, double& b, double& c) {
  const auto pick = [&](std::initializer_list<double> list) { return list.begin()[rng() % list.size()]; };
  if (name == "elu" || name == "celu" || name == "swish" || name == "leaky_relu")
    b = pick({1, 0.01, 0.5, 2, 1.702});
  if (name == "selu") {
    b = 1.67326319217681884765625;
    c = 1.05070102214813232421875;
  }
  if (name == "hard_sigmoid") {
    b = 0.2f;
    c = 0.5;
  }
  if (name == "shrink") {
    b = 0.5;
    c = pick({0, 0.25});
  }
  if (name == "thresholded_relu") b = 1;
  if (name == "clamp") {
    b = pick({-1, 0, -3});
    c = pick({1, 6, 0.5});
  }
}

float random_float(std::mt19937& rng) {
  static const float special[] = {0.0f,
                                  -0.0f,
                                  1,
                                  -1,
                                  INFINITY,
                                  -INFINITY,
                                  NAN,
                                  1e-45f,
                                  -1e-45f,
                                  1.17549435e-38f,
                                  1e-40f,
                                  3.4028235e38f,
                                  -3.4028235e38f,
                                  0.5f,
                                  -0.5f,
                                  88.72f,
                                  88.73f,
                                  -87.3f,
                                  -103.9f,
                                  -104.1f,
                                  9.0f,
                                  -9.0f,
                                  12.5f,
                                  -13.2f,
                                  0.34657f,
                                  -0.34657f,
                                  0.99999994f,
                                  1.0000001f,
                                  1.5f,
                                  2.5f};
  switch (rng() % 6) {
    case 0:
      return special[rng() % std::size(special)];
    case 1:
      return std::bit_cast<float>(static_cast<uint32_t>(rng()));  // any bits
    case 2:
      return static_cast<float>(static_cast<int>(rng() % 401) - 200) / 4;
    default:
      return static_cast<float>(static_cast<double>(rng()) / 4294967295.0 * 24 - 12);
  }
}

// Distance in units of the last place of `expected` as T, subnormals counting as their smallest.
template <class T>
double units_apart(T found, Wide expected) {
  if (expected != expected) return found != found ? 0 : 1e30;
  if (found != found) return 1e30;
  const T rounded = static_cast<T>(expected);
  if (found == rounded) return 0;
  if (std::isinf(rounded) || std::isinf(found)) {  // the last finite value and infinity are neighbours
    const T last = std::copysign(std::numeric_limits<T>::max(), rounded);
    if (std::isinf(rounded) && found == last) return 1;
    if (std::isinf(found) && std::fabs(rounded) >= last * T(0.9999999)) return 1;
    return 1e30;
  }
  const T step = std::nextafter(std::fabs(rounded), std::numeric_limits<T>::infinity()) - std::fabs(rounded);
  return static_cast<double>(std::fabs(static_cast<Wide>(found) - expected) / step);
}

struct Worst {
  double units = 0;
  double a = 0, b = 0, c = 0, found = 0, expected = 0;
  void take(double u, double x, double y, double z, double f, Wide e) {
    if (u > units) *this = {u, x, y, z, f, static_cast<double>(e)};
  }
};
#define GE_INFO_WORST(what, op, w)                                                                       \
  INFO(what << " " << op << ": " << (w).units << " units at " << (w).a << ", " << (w).b << ", " << (w).c \
            << ": " << (w).found << ", expected " << (w).expected)

TEST_CASE("scalar.h in double follows the formulas", "[loops][scalar]") {
  std::mt19937 rng(1);
  for (const ScalarOpInfo& info : scalar_ops()) {
    if (!accepts(info.domain, DType::float64) || info.op == ScalarOp::select) continue;
    const std::string name(info.name);
    REQUIRE(formulas().contains(name));
    const Formula& formula = formulas().at(name);
    Worst worst;
    for (int i = 0; i < 4000; ++i) {
      double a = random_float(rng), b = random_float(rng), c = random_float(rng);
      choose_parameters(name, rng, b, c);
      const Wide expected = formula(a, b, c);
      const double found = scalar::apply_real(static_cast<uint16_t>(info.op), a, b, c);
      if (std::fabs(expected) < 1e-290L && expected != 0) continue;  // double's own subnormals
      worst.take(units_apart<double>(found, expected), a, b, c, found, expected);
    }
    GE_INFO_WORST("double", name, worst);
    // Rounding the argument of a sharp function costs more than the function: exp's and erfc's tails.
    const bool tail = name == "gelu" || name == "gelu_tanh" || name == "swish" || name == "celu" ||
                      name == "mish" || name == "hard_swish" || name == "hard_sigmoid";
    CHECK(worst.units <= (tail ? 1500 : 4));
  }
}

// Tables of the interpreter: float, operand arrays.
double most_units(const std::string& name) {
  if (name == "gelu" || name == "gelu_tanh" || name == "swish")
    return 400;  // far tails: values under 1e-30, argument rounded
  if (name == "hard_swish" || name == "hard_sigmoid") return 400;  // near their zero the formula cancels
  if (name == "mish" || name == "silu") return 100;                // a times a subnormal
  if (name == "celu" || name == "selu" || name == "elu" || name == "tanh" || name == "softplus" ||
      name == "expm1")
    return 5;
  return 3;
}

TEST_CASE("the interpreter's float functions are accurate on every instruction set", "[loops][scalar]") {
  for (const cpu::LoopIsa isa : {cpu::LoopIsa::kBase, cpu::LoopIsa::kV3, cpu::LoopIsa::kV4}) {
    const cpu::LoopKernels& kernels = cpu::loop_kernels(isa);
    std::mt19937 rng(2);
    for (const ScalarOpInfo& info : scalar_ops()) {
      const std::string name(info.name);
      if (!accepts(info.domain, DType::float32) || info.op == ScalarOp::select) continue;
      constexpr int kCount = 3001;
      std::vector<float> a(kCount), b(kCount), c(kCount), out(kCount);
      std::vector<uint8_t> flags(kCount);
      for (int i = 0; i < kCount; ++i) {
        double y = random_float(rng), z = random_float(rng);
        choose_parameters(name, rng, y, z);
        a[i] = random_float(rng);
        b[i] = static_cast<float>(y);
        c[i] = static_cast<float>(z);
      }
      const bool compares = info.result == ScalarResult::boolean;
      kernels.map[static_cast<int>(info.op)][0][0](compares ? static_cast<void*>(flags.data()) : out.data(),
                                                   a.data(), b.data(), c.data(), kCount);
      Worst worst;
      for (int i = 0; i < kCount; ++i) {
        const Wide expected = formulas().at(name)(a[i], b[i], c[i]);
        const float found = compares ? flags[i] : out[i];
        worst.take(units_apart<float>(found, expected), a[i], b[i], c[i], found, expected);
      }
      GE_INFO_WORST(kernels.name, name, worst);
      CHECK(worst.units <= most_units(name));
    }
  }
}

TEST_CASE("scalar operands and integers give what arrays give", "[loops][scalar]") {
  const cpu::LoopKernels& kernels = cpu::loop_kernels(cpu::LoopIsa::kBest);
  std::mt19937 rng(4);
  int variants = 0;
  for (const ScalarOpInfo& info : scalar_ops()) {
    for (const DType type : {DType::float32, DType::int64}) {
      if (!accepts(info.domain, type)) continue;
      const auto& table = kernels.map[static_cast<int>(info.op)][cpu::type_index(type)];
      constexpr int kCount = 77;
      const bool selects = info.op == ScalarOp::select;
      std::vector<uint64_t> data[3], all(kCount), some(kCount);
      for (auto& d : data) {
        d.resize(kCount);
        for (auto& x : d) x = (uint64_t{rng()} << 32) ^ rng();
        if (selects && &d == &data[0])
          for (auto& x : d) x &= 0x0101010101010101u;
      }
      for (int mask = 1; mask < 8; ++mask) {
        if (table[mask] == nullptr) continue;
        ++variants;
        auto filled = std::vector<std::vector<uint64_t>>{data[0], data[1], data[2]};
        const size_t width = type == DType::float32 ? 4 : 8;
        for (int k = 0; k < 3; ++k) {
          if (!(mask & (1 << k))) continue;
          auto* bytes = reinterpret_cast<char*>(filled[k].data());
          for (int i = 1; i < kCount; ++i) std::copy_n(bytes, width, bytes + static_cast<size_t>(i) * width);
        }
        std::fill(all.begin(), all.end(), 0);
        std::fill(some.begin(), some.end(), 0);
        table[0](all.data(), filled[0].data(), filled[1].data(), filled[2].data(), kCount);
        table[mask](some.data(), data[0].data(), data[1].data(), data[2].data(), kCount);
        INFO(info.name << " mask " << mask);
        bool same = all == some;
        if (!same && type == DType::float32 &&
            info.result == ScalarResult::same) {  // NaN payloads may differ
          same = true;
          for (int i = 0; i < kCount; ++i) {
            const float x = reinterpret_cast<float*>(all.data())[i],
                        y = reinterpret_cast<float*>(some.data())[i];
            same &= x == y || (x != x && y != y);
          }
        }
        CHECK(same);
      }
    }
  }
  REQUIRE(variants > 60);
}

TEST_CASE("integer rules", "[loops][scalar]") {
  const auto apply = [](ScalarOp op, DType type, int64_t a, int64_t b = 0, int64_t c = 0) {
    return scalar::apply_integer(static_cast<uint16_t>(op), type, a, b, c);
  };
  CHECK(apply(ScalarOp::div, DType::int32, 7, 0) == 0);
  CHECK(apply(ScalarOp::div, DType::int32, -7, 2) == -3);
  CHECK(apply(ScalarOp::div, DType::int32, INT32_MIN, -1) == INT32_MIN);
  CHECK(apply(ScalarOp::div, DType::int64, INT64_MIN, -1) == INT64_MIN);
  CHECK(apply(ScalarOp::div, DType::uint64, -1, 2) == INT64_MAX);
  CHECK(apply(ScalarOp::mod, DType::int32, -7, 3) == 2);
  CHECK(apply(ScalarOp::mod, DType::int32, 7, -3) == -2);
  CHECK(apply(ScalarOp::fmod, DType::int32, -7, 3) == -1);
  CHECK(apply(ScalarOp::mod, DType::int32, 5, 0) == 0);
  CHECK(apply(ScalarOp::fmod, DType::int64, INT64_MIN, -1) == 0);
  CHECK(apply(ScalarOp::add, DType::int8, 127, 1) == -128);
  CHECK(apply(ScalarOp::add, DType::uint8, 255, 1) == 0);
  CHECK(apply(ScalarOp::mul, DType::uint16, 65535, 65535) == 1);
  CHECK(apply(ScalarOp::neg, DType::int32, INT32_MIN) == INT32_MIN);
  CHECK(apply(ScalarOp::abs, DType::int64, INT64_MIN) == INT64_MIN);
  CHECK(apply(ScalarOp::pow, DType::int32, 3, 5) == 243);
  CHECK(apply(ScalarOp::pow, DType::int32, 2, 33) == 0);
  CHECK(apply(ScalarOp::pow, DType::int32, 0, 0) == 1);
  CHECK(apply(ScalarOp::pow, DType::int32, 2, -1) == 0);
  CHECK(apply(ScalarOp::pow, DType::int32, 0, -1) == 0);
  CHECK(apply(ScalarOp::pow, DType::int32, 1, -5) == 1);
  CHECK(apply(ScalarOp::pow, DType::int32, -1, -5) == -1);
  CHECK(apply(ScalarOp::pow, DType::int32, -1, -4) == 1);
  CHECK(apply(ScalarOp::shift_left, DType::int32, 1, 31) == INT32_MIN);
  CHECK(apply(ScalarOp::shift_left, DType::int32, 1, 32) == 0);
  CHECK(apply(ScalarOp::shift_left, DType::int32, 1, -1) == 0);
  CHECK(apply(ScalarOp::shift_right, DType::int32, -8, 1) == -4);
  CHECK(apply(ScalarOp::shift_right, DType::int32, -8, 32) == 0);
  CHECK(apply(ScalarOp::shift_right, DType::uint32, 0x80000000, 31) == 1);
  CHECK(apply(ScalarOp::shift_right, DType::uint64, -1, 63) == 1);
  CHECK(apply(ScalarOp::shift_right, DType::int8, -1, 8) == 0);
  CHECK(apply(ScalarOp::less, DType::uint64, 1, -1) == 1);
  CHECK(apply(ScalarOp::less, DType::int64, 1, -1) == 0);
  CHECK(apply(ScalarOp::max, DType::uint32, 5, 4000000000) == 4000000000);
  CHECK(apply(ScalarOp::relu, DType::int8, -3) == 0);
  CHECK(apply(ScalarOp::clamp, DType::int32, 9, 0, 6) == 6);
  CHECK(apply(ScalarOp::sign, DType::int64, INT64_MIN) == -1);
  CHECK(apply(ScalarOp::logical_not, DType::boolean, 1) == 0);
  CHECK(apply(ScalarOp::logical_xor, DType::boolean, 1, 1) == 0);
  CHECK(apply(ScalarOp::bit_not, DType::uint8, 1) == 254);
  CHECK(apply(ScalarOp::add, DType::int4, 7, 1) == -8);
  CHECK(apply(ScalarOp::sub, DType::uint4, 0, 1) == 15);
  CHECK(apply(ScalarOp::shift_right, DType::int4, -1, 4) == 0);
  CHECK(apply(ScalarOp::select, DType::int8, 1, -5, 7) == -5);
}

TEST_CASE("NaN passes where the rules say", "[loops][scalar]") {
  const auto real = [](ScalarOp op, double a, double b = 0, double c = 0) {
    return scalar::apply_real(static_cast<uint16_t>(op), a, b, c);
  };
  for (const double other : {0.0, 1.0, -std::numeric_limits<double>::infinity()}) {
    CHECK(std::isnan(real(ScalarOp::max, NAN, other)));
    CHECK(std::isnan(real(ScalarOp::max, other, NAN)));
    CHECK(std::isnan(real(ScalarOp::min, NAN, other)));
    CHECK(std::isnan(real(ScalarOp::min, other, NAN)));
  }
  CHECK(std::isnan(real(ScalarOp::relu, NAN)));
  CHECK(std::isnan(real(ScalarOp::clamp, NAN, 0, 1)));
  CHECK(std::isnan(real(ScalarOp::sign, NAN)));
  CHECK(std::isnan(real(ScalarOp::hard_sigmoid, NAN, 0.2, 0.5)));
  CHECK(std::isnan(real(ScalarOp::thresholded_relu, NAN, 1)));
  CHECK(std::isnan(real(ScalarOp::shrink, NAN, 0.5, 0)));
  CHECK(real(ScalarOp::round, 2.5) == 2);
  CHECK(real(ScalarOp::round, -1.5) == -2);
  CHECK(real(ScalarOp::sigmoid, -1e5) == 0);
  CHECK(real(ScalarOp::sigmoid, 1e5) == 1);
  CHECK(real(ScalarOp::softplus, 1e5) == 1e5);
  CHECK(real(ScalarOp::mish, 1e5) == 1e5);
  CHECK(real(ScalarOp::silu, 1e5) == 1e5);
}

}  // namespace
}  // namespace ge

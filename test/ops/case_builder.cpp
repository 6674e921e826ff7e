#include "ops/case_builder.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "numeric/convert.h"

namespace ge::test {

void CaseBuilder::tolerance(double rtol, double atol) {
  out_.shown_rtol = rtol;
  out_.shown_atol = atol;
  const auto set = [&](double r, double a) {
    out_.rtol = r;
    out_.atol = a;
  };
  switch (out_.dtype) {
    case DType::float64:
      return set(rtol * 1e-7, atol * 1e-7);
    case DType::float32:
      return set(rtol, atol);
    case DType::float16:
      return set(std::max(rtol, 2e-3), std::max(atol, 2e-3));
    case DType::bfloat16:
      return set(std::max(rtol, 1.6e-2), std::max(atol, 2e-3));
    case DType::float8e4m3fn:
      return set(0.126, 0x1p-9);
    case DType::float8e5m2:
      return set(0.251, 0x1p-16);
    default:
      return set(0, 0);
  }
}

void CaseBuilder::of_terms(double rtol, double share, bool weights_rounded) {
  tolerance(rtol, share);
  out_.of_terms = true;
  out_.atol = share * (out_.dtype == DType::float64 ? 1e-7 : 1);
  if (weights_rounded && out_.dtype == DType::float16) out_.atol = 0x1p-11;
  if (weights_rounded && out_.dtype == DType::bfloat16) out_.atol = 0x1p-8;
}

ValueId CaseBuilder::input_of(DType dtype, const std::vector<int64_t>& dims, Data data) {
  auto made = make_host_tensor(dtype, dims, true);
  HostTensor tensor = std::move(made).value();
  for (int64_t i = 0; i < tensor.count(); ++i) put(tensor, i, data);
  return add(std::move(tensor));
}

ValueId CaseBuilder::indices(const std::vector<int64_t>& dims, int64_t low, int64_t high, DType dtype) {
  auto made = make_host_tensor(dtype, dims, true);
  HostTensor tensor = std::move(made).value();
  for (int64_t i = 0; i < tensor.count(); ++i)
    store_from_int64(dtype, tensor.bytes.data(), i,
                     std::uniform_int_distribution<int64_t>(low, high - 1)(random_));
  return add(std::move(tensor));
}

ValueId CaseBuilder::view(const std::vector<int64_t>& dims, Data data, int kind, DType dtype) {
  const auto rank = static_cast<int64_t>(dims.size());
  if (bits_of(dtype) < 8) kind = 0;  // packed elements have no addresses
  if (kind == 1 && rank >= 2) {
    std::vector<int64_t> reversed(dims.rbegin(), dims.rend()), perm;
    for (int64_t a = rank; a-- > 0;) perm.push_back(a);
    return b_.transpose(input_of(dtype, reversed, data), perm);
  }
  if (kind == 2 && rank >= 1) {
    std::vector<int64_t> narrow = dims;
    narrow[0] = 1;
    return b_.broadcast(input_of(dtype, narrow, data), Dims(dims.begin(), dims.end()));
  }
  if (kind == 3 && rank >= 1 && dims.back() > 0) {
    std::vector<int64_t> wide = dims;
    wide.back() = 2 * dims.back() + 1;
    Dims starts(dims.size()), shape(dims.begin(), dims.end());
    std::vector<int64_t> steps(dims.size(), 1);
    starts.back() = wide.back() - 1;
    steps.back() = -2;
    return b_.op(Op::slice, {input_of(dtype, wide, data)},
                 {{"starts", starts}, {"steps", steps}, {"shape", shape}});
  }
  return input_of(dtype, dims, data);
}

OpGraph CaseBuilder::finish() {
  const Status status = b_.take();
  if (!status.ok()) throw std::runtime_error(out_.op + ": " + status.error().to_string());
  return std::move(out_);
}

ValueId CaseBuilder::add(HostTensor tensor) {
  const ValueId v = out_.graph.add_input("x" + std::to_string(out_.inputs.size()),
                                         {tensor.dtype, Dims(tensor.dims.begin(), tensor.dims.end())});
  out_.inputs.push_back(std::move(tensor));
  return v;
}

void CaseBuilder::put(HostTensor& t, int64_t i, Data data) {
  if (is_float(t.dtype)) return store_from_double(t.dtype, t.bytes.data(), i, real(data));
  store_from_int64(t.dtype, t.bytes.data(), i, integer(t.dtype, data));
}

double CaseBuilder::real(Data data) {
  const double normal = std::normal_distribution<double>(0, 1)(random_);
  if (data == Data::kPositive) return std::abs(normal) + 0.1;
  if (data == Data::kSmallInteger) return std::uniform_int_distribution<int>(-4, 4)(random_);
  if (data == Data::kPlain || random_() % 4 != 0) return normal;
  static constexpr double kSpecial[] = {0.0,
                                        -0.0,
                                        1.0,
                                        -1.0,
                                        0.5,
                                        -2.5,
                                        1e-7,
                                        -3e4,
                                        6e4,
                                        30,
                                        -90,
                                        std::numeric_limits<double>::infinity(),
                                        -std::numeric_limits<double>::infinity(),
                                        std::numeric_limits<double>::quiet_NaN()};
  return kSpecial[random_() % std::size(kSpecial)];
}

int64_t CaseBuilder::integer(DType dtype, Data data) {
  if (is_bool(dtype)) return static_cast<int64_t>(random_() & 1);
  const int64_t small = std::uniform_int_distribution<int>(-9, 9)(random_);
  if (data == Data::kPositive) return std::abs(small) + 1;
  if (data != Data::kSpecial || random_() % 4 != 0) return small;
  const int64_t low = bits_of(dtype) == 64 ? INT64_MIN : -(int64_t{1} << (bits_of(dtype) - 1));
  const int64_t special[] = {0, -1, 1, low, -(low + 1), 31, 32, 63, 64, 1000003};
  return special[random_() % std::size(special)];
}

}  // namespace ge::test

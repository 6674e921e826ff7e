// The loop of activate_row, one case a row of scalar_ops.def that maps a real type to itself.
#include "kernels/common/activate_row.h"

#include "kernels/scalar.h"

namespace ge::kernels {
namespace {

template <class F>
void each(float* values, int64_t count, F f) {
  for (int64_t i = 0; i < count; ++i) values[i] = f(values[i]);
}

}  // namespace

void activate_row(const Activation& activation, float* values, int64_t count) {
  [[maybe_unused]] const float b = static_cast<float>(activation.alpha),
                               c = static_cast<float>(activation.beta);
#define GE_CALL_1(name) each(values, count, [](float a) { return scalar::name<float>(a); })
#define GE_CALL_2(name) each(values, count, [b](float a) { return scalar::name<float>(a, b); })
#define GE_CALL_3(name) each(values, count, [b, c](float a) { return scalar::name<float>(a, b, c); })
#define GE_CASE_number_same(name, code, arity) \
  case code:                                   \
    return GE_CALL_##arity(name);
#define GE_CASE_real_same(name, code, arity) \
  case code:                                 \
    return GE_CALL_##arity(name);
#define GE_CASE_number_boolean(name, code, arity)
#define GE_CASE_real_boolean(name, code, arity)
#define GE_CASE_any_boolean(name, code, arity)
#define GE_CASE_any_same(name, code, arity)
#define GE_CASE_integer_same(name, code, arity)
#define GE_CASE_boolean_same(name, code, arity)
#define GE_SCALAR_OP(name, code, arity, domain, result, formula) \
  GE_CASE_##domain##_##result(name, code, arity)
  switch (activation.op) {
#include "contract/scalar_ops.def"
    default:
      return;
  }
}

}  // namespace ge::kernels

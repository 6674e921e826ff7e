// The activation that dot and conv rows apply to each result: attrs activation (a ScalarOp code, 0: none),
// activation_alpha and activation_beta (the op's second and third operand). Entry: Activation, activate,
// check_activation.
#pragma once
#include "contract/scalar_op.h"
#include "kernels/common/activation_args.h"
#include "kernels/common/check.h"
#include "kernels/scalar_reference.h"

namespace ge::kernels {

inline constexpr AttrRow kActivationAttr{.name = "activation", .min = 0, .max = 0xff, .required = false};
inline constexpr AttrRow kActivationAlphaAttr{
    .name = "activation_alpha", .type = AttrType::kFloat, .required = false};
inline constexpr AttrRow kActivationBetaAttr{
    .name = "activation_beta", .type = AttrType::kFloat, .required = false};

inline Status check_activation(const Attrs& attrs, DType dtype) {
  const int64_t code = attr_int(attrs, "activation", 0);
  if (code == 0) return {};
  const ScalarOpInfo* info = scalar_op_info(static_cast<uint16_t>(code));
  if (info == nullptr) return refuse("activation " + std::to_string(code) + " is no scalar op");
  if (info->result != ScalarResult::same || info->op == ScalarOp::select || !accepts(info->domain, dtype)) {
    return refuse("activation " + std::string(info->name) + " does not map " + std::string(name_of(dtype)) +
                  " to itself");
  }
  return {};
}

inline double activate(const Activation& a, DType, double value) {
  return a.op == 0 ? value : scalar::apply_real(static_cast<uint16_t>(a.op), value, a.alpha, a.beta);
}
inline int64_t activate(const Activation& a, DType dtype, int64_t value) {
  if (a.op == 0) return value;
  return scalar::apply_integer(static_cast<uint16_t>(a.op), dtype, value, static_cast<int64_t>(a.alpha),
                               static_cast<int64_t>(a.beta));
}

}  // namespace ge::kernels

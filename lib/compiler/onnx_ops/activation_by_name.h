// An activation that a fused operator names in an attribute. Entry: activation_by_name.
#pragma once
#include "compiler/onnx_ops/op_context.h"

namespace ge {

// Parameters of the named activation, in the order of com.microsoft's activation_params.
struct ActivationParameters {
  std::optional<double> first, second;  // absent: the activation's own default
};

// The activation that the string attribute `attribute` names, of x: Relu, Sigmoid, Tanh, LeakyRelu(alpha =
// 0.01), Elu(alpha = 1), Clip(min, max), HardSigmoid(alpha = 0.2, beta = 0.5); x itself where it is "".
// bad_attribute for another name.
ValueId activation_by_name(OpContext& c, ValueId x, std::string_view attribute,
                           const ActivationParameters& parameters);

}  // namespace ge

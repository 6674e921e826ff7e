// The activations of FusedConv and FusedGemm (com.microsoft).
#include "compiler/onnx_ops/activation_by_name.h"

#include <limits>

namespace ge {

ValueId activation_by_name(OpContext& c, ValueId x, std::string_view attribute,
                           const ActivationParameters& parameters) {
  if (c.failed()) return kNone;
  Builder& b = c.build();
  const std::string name = c.string_attr(attribute);
  const auto first = [&](double otherwise) { return c.scalar_like(x, parameters.first.value_or(otherwise)); };
  const auto second = [&](double otherwise) {
    return c.scalar_like(x, parameters.second.value_or(otherwise));
  };
  constexpr double kLargest = std::numeric_limits<double>::infinity();
  if (name.empty()) return x;
  if (name == "Relu") return b.map(Op::relu, {x});
  if (name == "Sigmoid") return b.map(Op::sigmoid, {x});
  if (name == "Tanh") return b.map(Op::tanh, {x});
  if (name == "LeakyRelu") return b.map(Op::leaky_relu, {x, first(0.01F)});
  if (name == "Elu") return b.map(Op::elu, {x, first(1)});
  if (name == "Clip") return b.map(Op::clamp, {x, first(-kLargest), second(kLargest)});
  if (name == "HardSigmoid") return b.map(Op::hard_sigmoid, {x, first(0.2F), second(0.5F)});
  return c.fail(c.about_attr(attribute, Code::bad_attribute, std::string(attribute) + " is unknown")
                    .because("found \"" + name +
                             "\"; allowed: Relu, Sigmoid, Tanh, LeakyRelu, Elu, Clip, HardSigmoid"));
}

}  // namespace ge

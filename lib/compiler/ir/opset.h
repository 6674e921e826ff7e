// The versions of the ai.onnx operator set that ge reads. Entry: kOldestOpset, kNewestOpset. From which
// version on ge has an operator, its row in onnx_ops/ops.def says.
#pragma once
#include <string>
#include <string_view>

namespace ge {

inline constexpr int kOldestOpset = 1;
inline constexpr int kNewestOpset = 28;

// The default domain has two names: "ai.onnx" becomes "".
inline std::string canonical_domain(std::string_view domain) {
  return std::string(domain == "ai.onnx" ? std::string_view() : domain);
}

}  // namespace ge

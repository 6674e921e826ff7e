// The versions of the ai.onnx operator set that ge reads. Entry: kOldestOpset, kNewestOpset.
#pragma once

namespace ge {

inline constexpr int kOldestOpset = 13;
inline constexpr int kNewestOpset = 24;

}  // namespace ge

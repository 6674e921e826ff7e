// What a small file may unfold to: functions are inlined at every call, and what a subgraph uses of the
// graphs around it passes through all of them. Readers pay for such bytes before they make them. Entry: the
// prices below, of what one part takes in a Graph and in the tables beside it; texts are paid for by their
// length.
#pragma once
#include <cstdint>

namespace ge {

inline constexpr int64_t kMaxUnfoldedBytes = int64_t{1} << 29;

namespace unfolded {
inline constexpr uint64_t kNode = 1000;      // with its operator's name, its source, and its place in a walk
inline constexpr uint64_t kResult = 450;     // a value with its name's places in two tables
inline constexpr uint64_t kOperand = 150;    // with its use, and where it was looked up
inline constexpr uint64_t kAttribute = 250;  // without a list's contents
inline constexpr uint64_t kBody = 1500;      // a subgraph, or a call
inline constexpr uint64_t kCapture = 900;    // an input of a subgraph, and its operand
inline constexpr uint64_t kField = 8;        // time rather than bytes: parts are walked more than once
}  // namespace unfolded

}  // namespace ge

// Walks the elements of one set of dims in row-major order, keeping an element offset for each of N operands.
// Entry: StridedWalk<N>. Any rank up to 8, any strides (0 and negative too).
#pragma once
#include <array>

#include "contract/tensor_view.h"

namespace ge::kernels {

template <int N>
class StridedWalk {
 public:
  // Starts at the linear position `start` of `dims`; strides[k] are operand k's.
  StridedWalk(const int64_t* dims, int rank, std::array<const int64_t*, N> strides, int64_t start)
      : dims_(dims), rank_(rank), strides_(strides) {
    for (int axis = rank - 1; axis >= 0; --axis) {
      if (dims[axis] == 0) return;
      index_[axis] = start % dims[axis];
      start /= dims[axis];
      for (int k = 0; k < N; ++k) offset_[k] += index_[axis] * strides_[k][axis];
    }
  }
  int64_t offset(int operand) const { return offset_[operand]; }
  int64_t index(int axis) const { return index_[axis]; }
  void next() {
    for (int axis = rank_ - 1; axis >= 0; --axis) {
      if (++index_[axis] < dims_[axis]) {
        for (int k = 0; k < N; ++k) offset_[k] += strides_[k][axis];
        return;
      }
      index_[axis] = 0;
      for (int k = 0; k < N; ++k) offset_[k] -= (dims_[axis] - 1) * strides_[k][axis];
    }
  }

 private:
  const int64_t* dims_;
  int rank_;
  std::array<const int64_t*, N> strides_;
  int64_t index_[kMaxRank] = {};
  int64_t offset_[N] = {};
};

// Pieces of about this many elementary steps are worth a thread's while.
inline constexpr int64_t kReferenceGrain = 4096;
inline int64_t grain_for(int64_t steps_per_item) {
  const int64_t grain = kReferenceGrain / (steps_per_item < 1 ? 1 : steps_per_item);
  return grain < 1 ? 1 : grain;
}

}  // namespace ge::kernels

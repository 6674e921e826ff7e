// The inner product of the reference dot and conv: acc[m][n] += a[m][k] * b[k][n], k ascending. Entry:
// AccumulateTile<T>. T is double or int64 (which wraps). Every output's sum runs in one fixed order, whatever
// the tile it lies in.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace ge::kernels {

template <class T>
struct AccumulateTile {
  static constexpr int kRows = 16, kColumns = 32, kDepth = 128;
  T acc[kRows][kColumns];
  T a[kRows][kDepth];
  T b[kDepth][kColumns];

  void clear() { std::fill(&acc[0][0], &acc[0][0] + kRows * kColumns, T{}); }
  // Adds `depth` steps; a and b hold them. Unused columns of b may hold anything that does not trap.
  void accumulate(int64_t rows, int64_t depth) {
    for (int64_t m = 0; m < rows; ++m) {
      for (int64_t k = 0; k < depth; ++k) {
        const T x = a[m][k];
        for (int n = 0; n < kColumns; ++n) acc[m][n] = multiply_add(x, b[k][n], acc[m][n]);
      }
    }
  }

 private:
  static T multiply_add(T x, T y, T sum) {
    if constexpr (std::is_same_v<T, double>) {
      return sum + x * y;
    } else {
      return static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
    }
  }
};

}  // namespace ge::kernels

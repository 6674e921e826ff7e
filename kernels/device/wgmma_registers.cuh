// wgmma whose left side is in registers, and one that begins new sums. Entry: WgmmaOf. A thread's left side
// for 16 of the depth are four pairs: of row 16 (t / 32) + t % 32 / 4 columns 2 (t % 4) and the next, the
// same of the row 8 below, then both 8 columns further: what wgmma's sums of 16 columns are, rounded and
// packed.
#pragma once
#include "kernels/device/wgmma.cuh"

#ifdef GE_SM90A

namespace ge::kernels {

#define GE_R(a, b, c, d, e, f, g, h) "%" #a ",%" #b ",%" #c ",%" #d ",%" #e ",%" #f ",%" #g ",%" #h
#define GE_R32                                                                                             \
  GE_R(0, 1, 2, 3, 4, 5, 6, 7)                                                                             \
  "," GE_R(8, 9, 10, 11, 12, 13, 14, 15) "," GE_R(16, 17, 18, 19, 20, 21, 22, 23) "," GE_R(24, 25, 26, 27, \
                                                                                           28, 29, 30, 31)
#define GE_R64                                                                                \
  GE_R32                                                                                      \
  "," GE_R(32, 33, 34, 35, 36, 37, 38, 39) "," GE_R(40, 41, 42, 43, 44, 45, 46, 47) "," GE_R( \
      48, 49, 50, 51, 52, 53, 54, 55) "," GE_R(56, 57, 58, 59, 60, 61, 62, 63)
#define GE_F8(i)                                                                              \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define GE_F32 GE_F8(0), GE_F8(8), GE_F8(16), GE_F8(24)

// fresh: d = a b, rows along the depth on both sides. add: d += a b, the right side dense along its columns.
template <class T, int kColumns>
struct WgmmaOf;
#define GE_WGMMA(type, name, columns, registers, n0, n1, n2, n3, n4, ...)                               \
  template <>                                                                                           \
  struct WgmmaOf<type, columns> {                                                                       \
    static __device__ __forceinline__ void fresh(float (&d)[columns / 2], unsigned long long a,         \
                                                 unsigned long long b) {                                \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." name "." name " {" registers \
                   "}, " n0 ", " n1 ", 0, 1, 1, 0, 0;"                                                  \
                   : __VA_ARGS__                                                                        \
                   : "l"(a), "l"(b));                                                                   \
    }                                                                                                   \
    static __device__ __forceinline__ void add(float (&d)[columns / 2], const unsigned (&a)[4],         \
                                               unsigned long long b) {                                  \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." name "." name " {" registers \
                   "}, {" n0 ", " n1 ", " n2 ", " n3 "}, " n4 ", 1, 1, 1, 1;"                           \
                   : __VA_ARGS__                                                                        \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                               \
    }                                                                                                   \
  };
#define GE_WGMMA_TYPES(columns, registers, n0, n1, n2, n3, n4, ...)          \
  GE_WGMMA(Half, "f16", columns, registers, n0, n1, n2, n3, n4, __VA_ARGS__) \
  GE_WGMMA(BHalf, "bf16", columns, registers, n0, n1, n2, n3, n4, __VA_ARGS__)

GE_WGMMA_TYPES(64, GE_R32, "%32", "%33", "%34", "%35", "%36", GE_F32)
GE_WGMMA_TYPES(128, GE_R64, "%64", "%65", "%66", "%67", "%68", GE_F32, GE_F8(32), GE_F8(40), GE_F8(48),
               GE_F8(56))
#undef GE_R
#undef GE_R32
#undef GE_R64
#undef GE_F8
#undef GE_F32
#undef GE_WGMMA
#undef GE_WGMMA_TYPES

}  // namespace ge::kernels
#endif  // GE_SM90A

// wgmma: a warpgroup's product of 64 rows and kColumns columns over 16 of the depth, both sides in shared
// memory. Entry: wgmma_begin, wgmma_multiply, wgmma_commit, wgmma_wait, side_of_depth, side_of_columns.
// Thread t of the group holds of each 8 columns: row 16 (t / 32) + t % 32 / 4 and the one 8 below, columns
// 2 (t % 4) and the next. sm_90a alone.
#pragma once
#include "kernels/device/hopper.cuh"

#ifdef GE_SM90A

namespace ge::kernels {

__device__ __forceinline__ void wgmma_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
// After wgmma_wait: no use of the sums may move before it.
template <int kSums>
__device__ __forceinline__ void wgmma_results(float (&sums)[kSums]) {
#pragma unroll
  for (int i = 0; i < kSums; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

// How a side lies in shared memory, as a wgmma descriptor without its address.
// Rows of 64 along the depth (128 bytes, swizzled so), groups of 8 rows one after the other.
inline constexpr unsigned long long kSideOfDepth = (1ull << 62) | (64ull << 32) | (1ull << 16);
// Boxes of kWidth columns by 64 of the depth: rows of 2 kWidth bytes, swizzled by as many.
template <int kWidth>
inline constexpr unsigned long long kSideOfColumns = (static_cast<unsigned long long>(kWidth == 64   ? 1
                                                                                      : kWidth == 32 ? 2
                                                                                                     : 3)
                                                      << 62) |
                                                     (static_cast<unsigned long long>(kWidth * 16 / 16)
                                                      << 32) |
                                                     (static_cast<unsigned long long>(kWidth * 128 / 16)
                                                      << 16);
__device__ __forceinline__ unsigned long long side_at(unsigned long long layout, unsigned address) {
  return layout | ((address & 0x3ffff) >> 4);
}

#define GE_R0 "%0,%1,%2,%3,%4,%5,%6,%7"
#define GE_R8 "%8,%9,%10,%11,%12,%13,%14,%15"
#define GE_R16 "%16,%17,%18,%19,%20,%21,%22,%23"
#define GE_R24 "%24,%25,%26,%27,%28,%29,%30,%31"
#define GE_R32 "%32,%33,%34,%35,%36,%37,%38,%39"
#define GE_R40 "%40,%41,%42,%43,%44,%45,%46,%47"
#define GE_R48 "%48,%49,%50,%51,%52,%53,%54,%55"
#define GE_R56 "%56,%57,%58,%59,%60,%61,%62,%63"
#define GE_R64 "%64,%65,%66,%67,%68,%69,%70,%71"
#define GE_R72 "%72,%73,%74,%75,%76,%77,%78,%79"
#define GE_R80 "%80,%81,%82,%83,%84,%85,%86,%87"
#define GE_R88 "%88,%89,%90,%91,%92,%93,%94,%95"
#define GE_R96 "%96,%97,%98,%99,%100,%101,%102,%103"
#define GE_R104 "%104,%105,%106,%107,%108,%109,%110,%111"
#define GE_R112 "%112,%113,%114,%115,%116,%117,%118,%119"
#define GE_R120 "%120,%121,%122,%123,%124,%125,%126,%127"
#define GE_F8(i)                                                                              \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])

// d += a b; kByColumns: the right side's dense axis is its columns.
template <class T, int kColumns, bool kByColumns>
struct Wgmma;
#define GE_WGMMA(type, name, columns, registers, n0, n1, n2, n3, ...)                                   \
  template <bool kByColumns>                                                                            \
  struct Wgmma<type, columns, kByColumns> {                                                             \
    static __device__ __forceinline__ void multiply(float (&d)[columns / 2], unsigned long long a,      \
                                                    unsigned long long b) {                             \
      asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." name "." name " {" registers \
                   "}, " n0 ", " n1 ", 1, 1, 1, 0, " n2 ";"                                             \
                   : __VA_ARGS__                                                                        \
                   : "l"(a), "l"(b), "n"(static_cast<int>(kByColumns)));                                \
    }                                                                                                   \
  };
#define GE_WGMMA_TYPES(columns, registers, n0, n1, n2, n3, ...)          \
  GE_WGMMA(Half, "f16", columns, registers, n0, n1, n2, n3, __VA_ARGS__) \
  GE_WGMMA(BHalf, "bf16", columns, registers, n0, n1, n2, n3, __VA_ARGS__)

GE_WGMMA_TYPES(16, GE_R0, "%8", "%9", "%10", "%11", GE_F8(0))
GE_WGMMA_TYPES(32, GE_R0 "," GE_R8, "%16", "%17", "%18", "%19", GE_F8(0), GE_F8(8))
GE_WGMMA_TYPES(48, GE_R0 "," GE_R8 "," GE_R16, "%24", "%25", "%26", "%27", GE_F8(0), GE_F8(8), GE_F8(16))
GE_WGMMA_TYPES(64, GE_R0 "," GE_R8 "," GE_R16 "," GE_R24, "%32", "%33", "%34", "%35", GE_F8(0), GE_F8(8),
               GE_F8(16), GE_F8(24))
GE_WGMMA_TYPES(96, GE_R0 "," GE_R8 "," GE_R16 "," GE_R24 "," GE_R32 "," GE_R40, "%48", "%49", "%50", "%51",
               GE_F8(0), GE_F8(8), GE_F8(16), GE_F8(24), GE_F8(32), GE_F8(40))
GE_WGMMA_TYPES(128, GE_R0 "," GE_R8 "," GE_R16 "," GE_R24 "," GE_R32 "," GE_R40 "," GE_R48 "," GE_R56, "%64",
               "%65", "%66", "%67", GE_F8(0), GE_F8(8), GE_F8(16), GE_F8(24), GE_F8(32), GE_F8(40), GE_F8(48),
               GE_F8(56))
GE_WGMMA_TYPES(144,
               GE_R0 "," GE_R8 "," GE_R16 "," GE_R24 "," GE_R32 "," GE_R40 "," GE_R48 "," GE_R56 "," GE_R64,
               "%72", "%73", "%74", "%75", GE_F8(0), GE_F8(8), GE_F8(16), GE_F8(24), GE_F8(32), GE_F8(40),
               GE_F8(48), GE_F8(56), GE_F8(64))
GE_WGMMA_TYPES(160,
               GE_R0 "," GE_R8 "," GE_R16 "," GE_R24 "," GE_R32 "," GE_R40 "," GE_R48 "," GE_R56 "," GE_R64
                     "," GE_R72,
               "%80", "%81", "%82", "%83", GE_F8(0), GE_F8(8), GE_F8(16), GE_F8(24), GE_F8(32), GE_F8(40),
               GE_F8(48), GE_F8(56), GE_F8(64), GE_F8(72))
GE_WGMMA_TYPES(192,
               GE_R0 "," GE_R8 "," GE_R16 "," GE_R24 "," GE_R32 "," GE_R40 "," GE_R48 "," GE_R56 "," GE_R64
                     "," GE_R72 "," GE_R80 "," GE_R88,
               "%96", "%97", "%98", "%99", GE_F8(0), GE_F8(8), GE_F8(16), GE_F8(24), GE_F8(32), GE_F8(40),
               GE_F8(48), GE_F8(56), GE_F8(64), GE_F8(72), GE_F8(80), GE_F8(88))
GE_WGMMA_TYPES(256,
               GE_R0 "," GE_R8 "," GE_R16 "," GE_R24 "," GE_R32 "," GE_R40 "," GE_R48 "," GE_R56 "," GE_R64
                     "," GE_R72 "," GE_R80 "," GE_R88 "," GE_R96 "," GE_R104 "," GE_R112 "," GE_R120,
               "%128", "%129", "%130", "%131", GE_F8(0), GE_F8(8), GE_F8(16), GE_F8(24), GE_F8(32), GE_F8(40),
               GE_F8(48), GE_F8(56), GE_F8(64), GE_F8(72), GE_F8(80), GE_F8(88), GE_F8(96), GE_F8(104),
               GE_F8(112), GE_F8(120))
#undef GE_R0
#undef GE_R8
#undef GE_R16
#undef GE_R24
#undef GE_R32
#undef GE_R40
#undef GE_R48
#undef GE_R56
#undef GE_R64
#undef GE_R72
#undef GE_R80
#undef GE_R88
#undef GE_R96
#undef GE_R104
#undef GE_R112
#undef GE_R120
#undef GE_F8
#undef GE_WGMMA
#undef GE_WGMMA_TYPES

}  // namespace ge::kernels
#endif  // GE_SM90A

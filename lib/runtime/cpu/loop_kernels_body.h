// The body of one LoopKernels table. Included once by each loop_kernels_<isa>.cpp, which is compiled for that
// instruction set and defines GE_LOOP_ISA (the suffix of the function that gives the table). Invariant:
// nothing here has external linkage but that function, and no header with inline functions of external
// linkage is used, so no wider instruction leaks into another file.
#include <stddef.h>
#include <stdint.h>

#include "kernels/common/vector_math.h"
#include "kernels/scalar.h"
#include "runtime/cpu/loop_kernels.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace ge::cpu {
namespace {

// Iterations do not depend on one another: arrays are the same or apart.
#if defined(__clang__)
#define GE_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define GE_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

using Boolean = uint8_t;  // how a boolean register is stored

// ---- op<code>: the function of each row, float rows through vector_math.h where it has them ----
template <int kCode>
struct Op;
#define GE_PARAMETERS_1 T a
#define GE_PARAMETERS_2 T a, T b
#define GE_PARAMETERS_3 T a, T b, T c
#define GE_ARGUMENTS_1 a
#define GE_ARGUMENTS_2 a, b
#define GE_ARGUMENTS_3 a, b, c
#define GE_TAKES_number (scalar::Facts<T>::kFloat || scalar::Facts<T>::kInteger)
#define GE_TAKES_real scalar::Facts<T>::kFloat
#define GE_TAKES_integer scalar::Facts<T>::kInteger
#define GE_TAKES_boolean (!scalar::Facts<T>::kFloat && !scalar::Facts<T>::kInteger)
#define GE_TAKES_any true
#define GE_RESULT_IS_BOOLEAN_same false
#define GE_RESULT_IS_BOOLEAN_boolean true
#define GE_SCALAR_OP(name, code, arity, domain, result, ...)         \
  template <>                                                        \
  struct Op<code> {                                                  \
    static constexpr int kArity = arity;                             \
    static constexpr bool kCompares = GE_RESULT_IS_BOOLEAN_##result; \
    template <class T>                                               \
    static constexpr bool kTakes = GE_TAKES_##domain;                \
    template <class T>                                               \
    GE_FN auto apply(GE_PARAMETERS_##arity) {                        \
      return scalar::name<T>(GE_ARGUMENTS_##arity);                  \
    }                                                                \
  };
#include "contract/scalar_ops.def"
#undef GE_SCALAR_OP

template <int kCode>
struct FastFloat {
  static constexpr bool kHas = false;
};
#define GE_FAST_1(name, code)                                        \
  template <>                                                        \
  struct FastFloat<code> {                                           \
    static constexpr bool kHas = true;                               \
    GE_FN float apply(float a, float, float) { return vm::name(a); } \
  };
#define GE_FAST_2(name, code)                                             \
  template <>                                                             \
  struct FastFloat<code> {                                                \
    static constexpr bool kHas = true;                                    \
    GE_FN float apply(float a, float b, float) { return vm::name(a, b); } \
  };
#define GE_FAST_3(name, code)                                                  \
  template <>                                                                  \
  struct FastFloat<code> {                                                     \
    static constexpr bool kHas = true;                                         \
    GE_FN float apply(float a, float b, float c) { return vm::name(a, b, c); } \
  };
GE_VECTOR_FUNCTIONS(GE_FAST_1, GE_FAST_2, GE_FAST_3)

// The codes above are those of the rows of the same names.
#define GE_SCALAR_OP(name, code, ...) constexpr int kCode_##name = code;
#include "contract/scalar_ops.def"
#undef GE_SCALAR_OP
#define GE_CHECK(name, code) static_assert(kCode_##name == code);
GE_VECTOR_FUNCTIONS(GE_CHECK, GE_CHECK, GE_CHECK)
#undef GE_CHECK

template <int kCode, class T>
GE_FN auto apply(T a, [[maybe_unused]] T b, [[maybe_unused]] T c) {
  if constexpr (FastFloat<kCode>::kHas && sizeof(T) == 4 && scalar::Facts<T>::kFloat)
    return FastFloat<kCode>::apply(a, b, c);
  else if constexpr (Op<kCode>::kArity == 1)
    return Op<kCode>::template apply<T>(a);
  else if constexpr (Op<kCode>::kArity == 2)
    return Op<kCode>::template apply<T>(a, b);
  else
    return Op<kCode>::template apply<T>(a, b, c);
}

// ---- map ----
template <class T>
struct Stored {
  using Type = T;
};
template <>
struct Stored<bool> {
  using Type = Boolean;
};

template <int kCode, class T, int kMask>
void map_loop(void* dst, const void* pa, const void* pb, const void* pc, int64_t count) {
  using S = typename Stored<T>::Type;
  using R = typename Stored<decltype(apply<kCode, T>(T{}, T{}, T{}))>::Type;
  const S* a = static_cast<const S*>(pa);
  [[maybe_unused]] const S* b = static_cast<const S*>(pb);
  [[maybe_unused]] const S* c = static_cast<const S*>(pc);
  R* out = static_cast<R*>(dst);
  // Scalars are read before the loop; `out` is never inside an operand unless it is that operand (same index,
  // read first).
  const S a0 = kMask & 1 ? a[0] : S{};
  const S b0 = kMask & 2 ? b[0] : S{};
  const S c0 = kMask & 4 ? c[0] : S{};
  GE_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < count; ++i) {
    const T x = static_cast<T>(kMask & 1 ? a0 : a[i]);
    T y{}, z{};
    if constexpr (Op<kCode>::kArity > 1) y = static_cast<T>(kMask & 2 ? b0 : b[i]);
    if constexpr (Op<kCode>::kArity > 2) z = static_cast<T>(kMask & 4 ? c0 : c[i]);
    out[i] = static_cast<R>(apply<kCode, T>(x, y, z));
  }
}

constexpr int kSelectCode = 81;
template <class T, int kMask>
void select_loop(void* dst, const void* pa, const void* pb, const void* pc, int64_t count) {
  using S = typename Stored<T>::Type;
  const Boolean* a = static_cast<const Boolean*>(pa);
  const S* b = static_cast<const S*>(pb);
  const S* c = static_cast<const S*>(pc);
  S* out = static_cast<S*>(dst);
  const S b0 = kMask & 2 ? b[0] : S{};
  const S c0 = kMask & 4 ? c[0] : S{};
  GE_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < count; ++i) {
    const S y = kMask & 2 ? b0 : b[i];
    const S z = kMask & 4 ? c0 : c[i];
    out[i] = a[i] != 0 ? y : z;
  }
}

// Which scalar masks a row has: all-vector always; with scalars where they are common.
template <int kCode, class T, int kMask>
constexpr bool has_variant() {
  if (kMask == 0) return true;
  constexpr int kArity = Op<kCode>::kArity;
  if (kCode == kSelectCode) return !(kMask & 1);
  if (kMask >= (1 << kArity)) return false;
  constexpr bool kPlain = scalar::Facts<T>::kFloat
                              ? sizeof(T) == 4
                              : sizeof(T) == 8 && scalar::Facts<T>::kSigned;  // float32 and int64
  if (kArity == 2) return kPlain && (kMask == 2 || kMask == 1);
  if (kArity == 3) return kPlain && kMask == 6;
  return false;
}

template <int kCode, class T, int kMask>
constexpr MapFunction map_function() {
  if constexpr (!Op<kCode>::template kTakes<T> || !has_variant<kCode, T, kMask>())
    return nullptr;
  else if constexpr (kCode == kSelectCode)
    return &select_loop<T, kMask>;
  else
    return &map_loop<kCode, T, kMask>;
}

template <int kCode, class T>
constexpr void fill_masks(MapFunction (&into)[8]) {
  into[0] = map_function<kCode, T, 0>();
  into[1] = map_function<kCode, T, 1>();
  into[2] = map_function<kCode, T, 2>();
  into[4] = map_function<kCode, T, 4>();
  into[6] = map_function<kCode, T, 6>();
}

constexpr void fill_map(LoopKernels& k) {
#define GE_SCALAR_OP(name, code, ...)        \
  fill_masks<code, float>(k.map[code][0]);   \
  fill_masks<code, double>(k.map[code][1]);  \
  fill_masks<code, int32_t>(k.map[code][2]); \
  fill_masks<code, int64_t>(k.map[code][3]); \
  fill_masks<code, bool>(k.map[code][4]);    \
  fill_masks<code, uint64_t>(k.map[code][5]);
#include "contract/scalar_ops.def"
#undef GE_SCALAR_OP
}

// ---- reductions: 128-byte blocks of lanes, joined lane by lane in order; the same for every vector width
// ----
struct Sum {
  template <class T>
  GE_FN T start() {
    return T(0);
  }
  template <class T>
  GE_FN T join(T a, T b) {
    return scalar::add<T>(a, b);
  }
};
struct Product {
  template <class T>
  GE_FN T start() {
    return T(1);
  }
  template <class T>
  GE_FN T join(T a, T b) {
    return scalar::mul<T>(a, b);
  }
};
template <class T>
GE_FN T lowest() {
  if constexpr (scalar::Facts<T>::kFloat)
    return -static_cast<T>(__builtin_inf());
  else if constexpr (!scalar::Facts<T>::kSigned)
    return 0;
  else
    return static_cast<T>(static_cast<typename scalar::Facts<T>::Wide>(1) << (sizeof(T) * 8 - 1));
}
template <class T>
GE_FN T highest() {
  if constexpr (scalar::Facts<T>::kFloat)
    return static_cast<T>(__builtin_inf());
  else if constexpr (sizeof(T) == 1)
    return 1;
  else
    return static_cast<T>(~lowest<T>());
}
// max(b, a): a NaN in either is the result, and the select has one compare chain.
struct Max {
  template <class T>
  GE_FN T start() {
    return lowest<T>();
  }
  template <class T>
  GE_FN T join(T a, T b) {
    return ((b > a) | (b != b)) ? b : a;
  }
};
struct Min {
  template <class T>
  GE_FN T start() {
    return highest<T>();
  }
  template <class T>
  GE_FN T join(T a, T b) {
    return ((b < a) | (b != b)) ? b : a;
  }
};

template <class Join, class T>
T fold(const T* x, int64_t count) {
  constexpr int kLanes = 128 / sizeof(T);
  T total = Join::template start<T>();
  int64_t i = 0;
  if (count >= kLanes) {
    T lanes[kLanes];
    for (int l = 0; l < kLanes; ++l) lanes[l] = x[l];
    for (i = kLanes; i + kLanes <= count; i += kLanes) {
      for (int l = 0; l < kLanes; ++l) lanes[l] = Join::template join<T>(lanes[l], x[i + l]);
    }
    for (int width = kLanes / 2; width > 0; width /= 2) {
      for (int l = 0; l < width; ++l) lanes[l] = Join::template join<T>(lanes[l], lanes[l + width]);
    }
    total = Join::template join<T>(total, lanes[0]);
  }
  for (; i < count; ++i) total = Join::template join<T>(total, x[i]);
  return total;
}

// A: the accumulator's type: double for float sums and products, else T.
template <class Join, class T, class A>
struct PlainReduce {
  static void start(void* accumulators, int64_t count) {
    A* acc = static_cast<A*>(accumulators);
    for (int64_t i = 0; i < count; ++i) acc[i] = Join::template start<A>();
  }
  static void along_rows(const void* block, int64_t slow, int64_t fast, int64_t, void* accumulators) {
    const T* x = static_cast<const T*>(block);
    A* acc = static_cast<A*>(accumulators);
    for (int64_t s = 0; s < slow; ++s, x += fast)
      acc[s] = Join::template join<A>(acc[s], static_cast<A>(fold<Join, T>(x, fast)));
  }
  static void along_columns(const void* block, int64_t slow, int64_t fast, int64_t, void* accumulators) {
    const T* x = static_cast<const T*>(block);
    A* acc = static_cast<A*>(accumulators);
    for (int64_t s = 0; s < slow; ++s, x += fast) {
      GE_INDEPENDENT_ITERATIONS
      for (int64_t f = 0; f < fast; ++f) acc[f] = Join::template join<A>(acc[f], static_cast<A>(x[f]));
    }
  }
  static void finish(const void* accumulators, int64_t count, void* dst) {
    const A* acc = static_cast<const A*>(accumulators);
    T* out = static_cast<T*>(dst);
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(acc[i]);
  }
  static constexpr ReduceKernels kernels() {
    return {sizeof(A), &start, &along_rows, &along_columns, &finish};
  }
};

// Position of the first (kLast: the last) best element; the first NaN is the best of all, a first element
// beats nothing.
template <class Join, class T, bool kLast>
struct ArgReduce {
  struct Best {
    T value;
    int64_t position;  // -1: none yet
  };
  GE_FN bool is_nan(T x) { return x != x; }
  GE_FN bool equals(T x, T y) { return (x == y) | (is_nan(x) && is_nan(y)); }
  static void take(Best& best, T value, int64_t position) {
    const bool better =
        !equals(value, best.value) && equals(Join::template join<T>(best.value, value), value);
    if (best.position < 0 || better || (kLast && value == best.value)) best = {value, position};
  }
  static int64_t find(const T* x, int64_t count, T value) {
    if (kLast && !is_nan(value)) {
      for (int64_t i = count - 1; i > 0; --i)
        if (equals(x[i], value)) return i;
      return 0;
    }
    int64_t i = 0;
    while (i < count - 1 && !equals(x[i], value)) ++i;
    return i;
  }
  static void start(void* accumulators, int64_t count) {
    Best* acc = static_cast<Best*>(accumulators);
    for (int64_t i = 0; i < count; ++i) acc[i] = {Join::template start<T>(), -1};
  }
  static void along_rows(const void* block, int64_t slow, int64_t fast, int64_t base, void* accumulators) {
    const T* x = static_cast<const T*>(block);
    Best* acc = static_cast<Best*>(accumulators);
    if (fast == 0) return;
    for (int64_t s = 0; s < slow; ++s, x += fast) {
      const T value = fold<Join, T>(x, fast);
      take(acc[s], value, base + find(x, fast, value));
    }
  }
  static void along_columns(const void* block, int64_t slow, int64_t fast, int64_t base, void* accumulators) {
    const T* x = static_cast<const T*>(block);
    Best* acc = static_cast<Best*>(accumulators);
    for (int64_t s = 0; s < slow; ++s, x += fast) {
      for (int64_t f = 0; f < fast; ++f) take(acc[f], x[f], base + s);
    }
  }
  static void finish(const void* accumulators, int64_t count, void* dst) {
    const Best* acc = static_cast<const Best*>(accumulators);
    int64_t* out = static_cast<int64_t*>(dst);
    for (int64_t i = 0; i < count; ++i) out[i] = acc[i].position < 0 ? 0 : acc[i].position;
  }
  static constexpr ReduceKernels kernels() {
    return {sizeof(Best), &start, &along_rows, &along_columns, &finish};
  }
};

template <class T, class A>
constexpr void fill_reduce(LoopKernels& k, int type) {
  for (int last = 0; last < 2; ++last) {
    if constexpr (sizeof(T) > 1) {
      k.reduce[0][type][last] = PlainReduce<Sum, T, A>::kernels();
      k.reduce[1][type][last] = PlainReduce<Product, T, A>::kernels();
    }
    k.reduce[2][type][last] = PlainReduce<Max, T, T>::kernels();
    k.reduce[3][type][last] = PlainReduce<Min, T, T>::kernels();
  }
  k.reduce[4][type][0] = ArgReduce<Max, T, false>::kernels();
  k.reduce[4][type][1] = ArgReduce<Max, T, true>::kernels();
  k.reduce[5][type][0] = ArgReduce<Min, T, false>::kernels();
  k.reduce[5][type][1] = ArgReduce<Min, T, true>::kernels();
}

// ---- stores past the caches ----
void stream_copy(void* dst, const void* src, int64_t size_bytes) {
#if defined(__SSE2__)
#if defined(__AVX__)
  using Vector = __m256i;
  const auto copy = [](char* to, const char* from) {
    _mm256_stream_si256(reinterpret_cast<Vector*>(to),
                        _mm256_loadu_si256(reinterpret_cast<const Vector*>(from)));
  };
#else
  using Vector = __m128i;
  const auto copy = [](char* to, const char* from) {
    _mm_stream_si128(reinterpret_cast<Vector*>(to), _mm_loadu_si128(reinterpret_cast<const Vector*>(from)));
  };
#endif
  constexpr int64_t kStep = sizeof(Vector);
  char* to = static_cast<char*>(dst);
  const char* from = static_cast<const char*>(src);
  int64_t head = (64 - static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % 64)) % 64;
  if (head > size_bytes) head = size_bytes;
  __builtin_memcpy(to, from, static_cast<size_t>(head));
  int64_t i = head;
  for (; i + kStep <= size_bytes; i += kStep) copy(to + i, from + i);
  __builtin_memcpy(to + i, from + i, static_cast<size_t>(size_bytes - i));
#else
  __builtin_memcpy(dst, src, static_cast<size_t>(size_bytes));
#endif
}
void stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

constexpr LoopKernels make_kernels(const char* name) {
  LoopKernels k{};
  fill_map(k);
  fill_reduce<float, double>(k, 0);
  fill_reduce<double, double>(k, 1);
  fill_reduce<int32_t, int32_t>(k, 2);
  fill_reduce<int64_t, int64_t>(k, 3);
  fill_reduce<Boolean, Boolean>(k, 4);
  fill_reduce<uint64_t, uint64_t>(k, 5);
  k.stream_copy = &stream_copy;
  k.stream_fence = &stream_fence;
  k.name = name;
  return k;
}

#define GE_TEXT_(x) #x
#define GE_TEXT(x) GE_TEXT_(x)
#define GE_JOIN_(a, b) a##b
#define GE_JOIN(a, b) GE_JOIN_(a, b)
constexpr LoopKernels kKernels = make_kernels(GE_TEXT(GE_LOOP_ISA));

}  // namespace

const LoopKernels& GE_JOIN(loop_kernels_, GE_LOOP_ISA)() {
  return kKernels;
}

}  // namespace ge::cpu

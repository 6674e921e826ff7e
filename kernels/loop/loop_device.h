// Device code that every generated loop kernel uses: element types in memory and vector accesses. Text for
// NVRTC, after kernels/scalar.h; the two compile by themselves under nvcc too.
// Entry: namespace ge::loop. Invariant: no headers, no stack, and conversions follow lib/numeric/convert.h to
// the bit.
#ifndef GE_KERNELS_LOOP_DEVICE_H
#define GE_KERNELS_LOOP_DEVICE_H

namespace ge {
namespace loop {

// ---- element types as they lie in memory ----
struct Half {
  unsigned short bits;
};
struct Bfloat {
  unsigned short bits;
};
struct Float8e4m3 {
  unsigned char bits;
};
struct Float8e5m2 {
  unsigned char bits;
};
struct Boolean {
  unsigned char bits;
};

// The value type of each: what it decodes to exactly.
template <class M>
struct ValueOf {
  using Type = M;
};
template <>
struct ValueOf<Half> {
  using Type = float;
};
template <>
struct ValueOf<Bfloat> {
  using Type = float;
};
template <>
struct ValueOf<Float8e4m3> {
  using Type = float;
};
template <>
struct ValueOf<Float8e5m2> {
  using Type = float;
};
template <>
struct ValueOf<Boolean> {
  using Type = bool;
};

template <class T>
struct Limits;
#define GE_LIMITS(type, low, high)                  \
  template <>                                       \
  struct Limits<type> {                             \
    static constexpr type kLow = low, kHigh = high; \
  };
GE_LIMITS(signed char, -128, 127)
GE_LIMITS(unsigned char, 0, 255)
GE_LIMITS(short, -32768, 32767)
GE_LIMITS(unsigned short, 0, 65535)
GE_LIMITS(int, -2147483647 - 1, 2147483647)
GE_LIMITS(unsigned int, 0, 4294967295u)
GE_LIMITS(long long, -9223372036854775807ll - 1, 9223372036854775807ll)
GE_LIMITS(unsigned long long, 0, 18446744073709551615ull)
#undef GE_LIMITS

template <class T>
struct IsFloat {
  static constexpr bool kValue = false;
};
template <>
struct IsFloat<float> {
  static constexpr bool kValue = true;
};
template <>
struct IsFloat<double> {
  static constexpr bool kValue = true;
};
template <class T>
struct IsBool {
  static constexpr bool kValue = false;
};
template <>
struct IsBool<bool> {
  static constexpr bool kValue = true;
};

// Between value types: floats to integers truncate, saturate and turn NaN into 0; integers wrap; to bool:
// value != 0.
template <class To, class From>
GE_FN To value_cast(From x) {
  if constexpr (IsBool<To>::kValue)
    return x != From(0);
  else if constexpr (IsFloat<From>::kValue && !IsFloat<To>::kValue) {
    // The first power of two past the type's range is exact in either float type; its low end is too.
    constexpr From kPast = static_cast<From>(Limits<To>::kHigh / 2 + 1) * From(2);
    if (x != x) return 0;
    return x >= kPast                                 ? Limits<To>::kHigh
           : x <= static_cast<From>(Limits<To>::kLow) ? Limits<To>::kLow
                                                      : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

// A float that keeps, as a set last bit, that `x` was not exact: rounding it to a narrower type rounds once.
GE_FN float round_to_odd(float x) {
  return x;
}
GE_FN float round_to_odd(double x) {
  float f = __double2float_rz(x);
  if (x == x && static_cast<double>(f) != x) f = __int_as_float(__float_as_int(f) | 1);
  return f;
}
GE_FN float round_to_odd(long long x) {
  const float f = __ll2float_rz(x);
  return value_cast<long long>(f) == x ? f : __int_as_float(__float_as_int(f) | 1);
}
GE_FN float round_to_odd(unsigned long long x) {
  const float f = __ull2float_rz(x);
  return value_cast<unsigned long long>(f) == x ? f : __int_as_float(__float_as_int(f) | 1);
}
GE_FN float round_to_odd(int x) {
  return round_to_odd(static_cast<double>(x));
}
GE_FN float round_to_odd(bool x) {
  return x ? 1.0f : 0.0f;
}

// The rounding of lib/numeric/small_float.h: nearest even, once. Float8 saturates, infinities too.
template <int kExponentBits, int kMantissaBits, bool kHasInfinity>
struct SmallFloat {
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr unsigned kTop = (1u << (kExponentBits + kMantissaBits)) - 1;
  static constexpr unsigned kSign = kTop + 1;
  static constexpr unsigned kMantissa = (1u << kMantissaBits) - 1;
  static constexpr unsigned kInfinity = kTop & ~kMantissa;
  static constexpr unsigned kNan = kHasInfinity ? kInfinity | (1u << (kMantissaBits - 1)) : kTop;
  static constexpr unsigned kMax = kHasInfinity ? kInfinity - 1 : kTop - 1;
  static GE_FN unsigned encode(float x) {
    const unsigned raw = __float_as_uint(x), magnitude = raw & 0x7fffffffu;
    const unsigned sign = raw >> 31 ? kSign : 0;
    if (magnitude > 0x7f800000u) return sign | kNan;
    const int exponent = static_cast<int>(magnitude >> 23) - 127 + kBias;
    if (exponent < -kMantissaBits) return sign;
    unsigned mantissa = magnitude & 0x7fffffu, base = 0;
    int shift = 23 - kMantissaBits;
    if (exponent <= 0) {
      mantissa |= 0x800000u;
      shift += 1 - exponent;
    } else {
      base = static_cast<unsigned>(exponent) << kMantissaBits;
    }
    const unsigned kept = mantissa >> shift, dropped = mantissa & ((1u << shift) - 1),
                   half = 1u << (shift - 1);
    const unsigned rounded = base + kept + (dropped > half || (dropped == half && (kept & 1)) ? 1 : 0);
    return sign | (rounded > kMax ? kMax : rounded);
  }
  static GE_FN float decode(unsigned bits) {
    const unsigned sign = bits & kSign ? 0x80000000u : 0, magnitude = bits & kTop,
                   exponent = magnitude >> kMantissaBits, mantissa = magnitude & kMantissa;
    if (kHasInfinity ? magnitude > kInfinity : magnitude == kTop) return __uint_as_float(sign | 0x7fc00000u);
    if (kHasInfinity && magnitude == kInfinity) return __uint_as_float(sign | 0x7f800000u);
    if (exponent == 0) {
      const float value = static_cast<float>(mantissa) *
                          __uint_as_float(static_cast<unsigned>(127 + 1 - kBias - kMantissaBits) << 23);
      return __uint_as_float(__float_as_uint(value) | sign);
    }
    return __uint_as_float(sign | ((exponent + 127 - kBias) << 23) | (mantissa << (23 - kMantissaBits)));
  }
};

template <class M>
GE_FN M decode(M m) {
  return m;
}
GE_FN float decode(Half m) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(m.bits));
  return f;
}
GE_FN float decode(Bfloat m) {
  return __uint_as_float(static_cast<unsigned>(m.bits) << 16);
}
GE_FN float decode(Float8e4m3 m) {
  return SmallFloat<4, 3, false>::decode(m.bits);
}
GE_FN float decode(Float8e5m2 m) {
  return SmallFloat<5, 2, true>::decode(m.bits);
}
GE_FN bool decode(Boolean m) {
  return m.bits != 0;
}

template <class M>
struct Encode {
  template <class R>
  static GE_FN M from(R x) {
    return value_cast<M>(x);
  }
};
template <>
struct Encode<Half> {
  template <class R>
  static GE_FN Half from(R x) {
    Half m;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(m.bits) : "f"(round_to_odd(x)));
    return m;
  }
};
template <>
struct Encode<Bfloat> {
  template <class R>
  static GE_FN Bfloat from(R x) {
    Bfloat m;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(m.bits) : "f"(round_to_odd(x)));
    return m;
  }
};
template <>
struct Encode<Float8e4m3> {
  template <class R>
  static GE_FN Float8e4m3 from(R x) {
    return {static_cast<unsigned char>(SmallFloat<4, 3, false>::encode(round_to_odd(x)))};
  }
};
template <>
struct Encode<Float8e5m2> {
  template <class R>
  static GE_FN Float8e5m2 from(R x) {
    return {static_cast<unsigned char>(SmallFloat<5, 2, true>::encode(round_to_odd(x)))};
  }
};
template <>
struct Encode<Boolean> {
  template <class R>
  static GE_FN Boolean from(R x) {
    return {static_cast<unsigned char>(value_cast<bool>(x))};
  }
};

template <class R, class M>
GE_FN R from_memory(M m) {
  return value_cast<R>(decode(m));
}
template <class M, class R>
GE_FN M to_memory(R x) {
  return Encode<M>::from(x);
}
// LoopOp::kCast: rounds through the element type M.
template <class M, class R, class From>
GE_FN R cast_through(From x) {
  return from_memory<R>(to_memory<M>(x));
}

// A product that no sum behind it takes in unrounded: the same number wherever it is computed again.
GE_FN float rounded_product(float a, float b) {
  return __fmul_rn(a, b);
}
GE_FN double rounded_product(double a, double b) {
  return __dmul_rn(a, b);
}

// ---- vector accesses: kCount elements, one load or store of up to 16 bytes each ----
template <int kBytes>
struct Word;
template <>
struct Word<1> {
  using Type = unsigned char;
};
template <>
struct Word<2> {
  using Type = unsigned short;
};
template <>
struct Word<4> {
  using Type = unsigned int;
};
template <>
struct Word<8> {
  using Type = uint2;
};
template <>
struct Word<16> {
  using Type = uint4;
};

GE_FN unsigned part(unsigned char w, int) {
  return w;
}
GE_FN unsigned part(unsigned short w, int) {
  return w;
}
GE_FN unsigned part(unsigned int w, int) {
  return w;
}
GE_FN unsigned part(const uint2& w, int i) {
  return i == 0 ? w.x : w.y;
}
GE_FN unsigned part(const uint4& w, int i) {
  return i == 0 ? w.x : i == 1 ? w.y : i == 2 ? w.z : w.w;
}

template <class M>
GE_FN M from_word(unsigned w) {
  if constexpr (sizeof(M) == 4)
    return __builtin_bit_cast(M, w);
  else if constexpr (sizeof(M) == 2)
    return __builtin_bit_cast(M, static_cast<unsigned short>(w));
  else
    return __builtin_bit_cast(M, static_cast<unsigned char>(w));
}
template <class M>
GE_FN unsigned to_word(M m) {
  if constexpr (sizeof(M) == 4)
    return __builtin_bit_cast(unsigned, m);
  else if constexpr (sizeof(M) == 2)
    return __builtin_bit_cast(unsigned short, m);
  else
    return __builtin_bit_cast(unsigned char, m);
}

template <bool kStream, class W>
GE_FN W load_word(const W* p) {
  if constexpr (kStream)
    return __ldcs(p);
  else
    return *p;
}
template <bool kStream, class W>
GE_FN void store_word(W* p, W w) {
  if constexpr (kStream)
    __stcs(p, w);
  else
    *p = w;
}

// Two neighbours of 16 bits at once: one instruction each way for floats.
template <class M, class R>
GE_FN void unpack(unsigned w, R& low, R& high) {
  low = from_memory<R>(from_word<M>(w));
  high = from_memory<R>(from_word<M>(w >> 16));
}
template <>
GE_FN void unpack<Half, float>(unsigned w, float& low, float& high) {
  asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
      : "=f"(low), "=f"(high)
      : "r"(w));
}
template <>
GE_FN void unpack<Bfloat, float>(unsigned w, float& low, float& high) {
  low = __uint_as_float(w << 16);
  high = __uint_as_float(w & 0xffff0000u);
}
template <class M, class R>
GE_FN unsigned pack(R low, R high) {
  return to_word<M>(to_memory<M>(low)) | to_word<M>(to_memory<M>(high)) << 16;
}
template <>
GE_FN unsigned pack<Half, float>(float low, float high) {
  unsigned w;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(high), "f"(low));
  return w;
}
template <>
GE_FN unsigned pack<Bfloat, float>(float low, float high) {
  unsigned w;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(high), "f"(low));
  return w;
}

GE_FN void make_word(const unsigned* parts, unsigned char& w) {
  w = static_cast<unsigned char>(parts[0]);
}
GE_FN void make_word(const unsigned* parts, unsigned short& w) {
  w = static_cast<unsigned short>(parts[0]);
}
GE_FN void make_word(const unsigned* parts, unsigned int& w) {
  w = parts[0];
}
GE_FN void make_word(const unsigned* parts, uint2& w) {
  w = make_uint2(parts[0], parts[1]);
}
GE_FN void make_word(const unsigned* parts, uint4& w) {
  w = make_uint4(parts[0], parts[1], parts[2], parts[3]);
}

// kCount neighbours as they lie in memory: held so until they are computed with, they take few registers and
// the loads of a pass all stand before the first use.
template <class M, int kCount>
struct Raw {
  static constexpr int kSize = static_cast<int>(sizeof(M)), kBytes = kCount * kSize;
  static constexpr int kStep = kBytes > 16 ? 16 : kBytes,
                       kEach = kStep / kSize;  // of a word: bytes, elements
  typename Word<kStep>::Type words[kBytes / kStep];
};

// Element `i` of a word in 32-bit parts.
template <class M, class W>
GE_FN M element_of(const W& w, int i) {
  if constexpr (sizeof(M) == 8)
    return __builtin_bit_cast(M, static_cast<unsigned long long>(part(w, 2 * i)) |
                                     static_cast<unsigned long long>(part(w, 2 * i + 1)) << 32);
  else
    return from_word<M>(part(w, i * static_cast<int>(sizeof(M)) / 4) >>
                        (i * static_cast<int>(sizeof(M)) % 4 * 8));
}
template <class M>
GE_FN void put_element(unsigned* parts, int i, M m) {
  if constexpr (sizeof(M) == 8) {
    const unsigned long long bits = __builtin_bit_cast(unsigned long long, m);
    parts[2 * i] = static_cast<unsigned>(bits);
    parts[2 * i + 1] = static_cast<unsigned>(bits >> 32);
  } else {
    parts[i * static_cast<int>(sizeof(M)) / 4] |= to_word<M>(m) << (i * static_cast<int>(sizeof(M)) % 4 * 8);
  }
}

template <bool kStream, class M, int kCount>
GE_FN void fetch(const M* p, Raw<M, kCount>& into) {
  using W = typename Word<Raw<M, kCount>::kStep>::Type;
#pragma unroll
  for (int b = 0; b < kCount; b += Raw<M, kCount>::kEach)
    into.words[b / Raw<M, kCount>::kEach] = load_word<kStream>(reinterpret_cast<const W*>(p + b));
}
// One by one, `stride` apart; of those outside [from, to) nothing is read.
template <class M, int kCount>
GE_FN void gather(const M* p, long long stride, int from, int to, Raw<M, kCount>& into) {
  using Kept = Raw<M, kCount>;
#pragma unroll
  for (int b = 0; b < kCount; b += Kept::kEach) {
    unsigned parts[4] = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < Kept::kEach; ++i)
      put_element(parts, i, b + i >= from && b + i < to ? p[(b + i) * stride] : M{});
    make_word(parts, into.words[b / Kept::kEach]);
  }
}
template <class M, int kCount, class R>
GE_FN void decode(const Raw<M, kCount>& raw, R* into) {
  using Kept = Raw<M, kCount>;
#pragma unroll
  for (int b = 0; b < kCount; b += Kept::kEach) {
    const auto& w = raw.words[b / Kept::kEach];
    if constexpr (sizeof(M) == 2 && Kept::kStep > 2) {
#pragma unroll
      for (int i = 0; i < Kept::kEach; i += 2) unpack<M>(part(w, i / 2), into[b + i], into[b + i + 1]);
    } else {
#pragma unroll
      for (int i = 0; i < Kept::kEach; ++i) into[b + i] = from_memory<R>(element_of<M>(w, i));
    }
  }
}
template <int kCount, bool kStream, class M, class R>
GE_FN void load(const M* p, R* into) {
  Raw<M, kCount> raw;
  fetch<kStream>(p, raw);
  decode(raw, into);
}

template <int kCount, bool kStream, class M, class R>
GE_FN void store(M* p, const R* from) {
  using Kept = Raw<M, kCount>;
  using W = typename Word<Kept::kStep>::Type;
#pragma unroll
  for (int b = 0; b < kCount; b += Kept::kEach) {
    unsigned parts[4] = {0, 0, 0, 0};
    if constexpr (sizeof(M) == 2 && Kept::kStep > 2) {
#pragma unroll
      for (int i = 0; i < Kept::kEach; i += 2) parts[i / 2] = pack<M>(from[b + i], from[b + i + 1]);
    } else {
#pragma unroll
      for (int i = 0; i < Kept::kEach; ++i) put_element(parts, i, to_memory<M>(from[b + i]));
    }
    W w;
    make_word(parts, w);
    store_word<kStream>(reinterpret_cast<W*>(p + b), w);
  }
}

// kCount elements `stride` apart; a stride of 0 reads once.
template <int kCount, class M, class R>
GE_FN void load_strided(const M* p, long long stride, R* into) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) into[i] = from_memory<R>(p[i * stride]);
}
template <int kCount, class M, class R>
GE_FN void load_repeated(const M* p, R* into) {
  const R x = from_memory<R>(*p);
#pragma unroll
  for (int i = 0; i < kCount; ++i) into[i] = x;
}
template <int kCount, class M, class R>
GE_FN void store_strided(M* p, long long stride, const R* from) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) p[i * stride] = to_memory<M>(from[i]);
}

// Of a vector's kCount elements, a bit for each of [from, to): those that lie in the row.
template <int kCount>
GE_FN unsigned bits_between(int from, int to) {
  const unsigned all = (1u << kCount) - 1;
  const unsigned below = from <= 0 ? 0u : from >= kCount ? all : (1u << from) - 1;
  const unsigned up_to = to <= 0 ? 0u : to >= kCount ? all : (1u << to) - 1;
  return up_to & ~below;
}
template <int kCount, class M, class R>
GE_FN void store_some(M* p, long long stride, unsigned which, const R* values) {
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    if (which >> i & 1) p[i * stride] = to_memory<M>(values[i]);
}

// The compiler sees a pointer of unknown origin: it neither computes it anew at each use nor takes sums with
// it apart, so addresses that differ by constants stay one register.
template <class M>
GE_FN M* settled(M* p) {
  unsigned long long address = __cvta_generic_to_global(p);
  asm("" : "+l"(address));
  return static_cast<M*>(__cvta_global_to_generic(address));  // still known to be global memory
}

// position = position / extent, and the remainder; in 32 bits where both fit.
GE_FN long long split(long long& position, long long extent) {
  if (((static_cast<unsigned long long>(position) | static_cast<unsigned long long>(extent)) >> 32) == 0) {
    const unsigned p = static_cast<unsigned>(position), e = static_cast<unsigned>(extent), q = p / e;
    position = q;
    return p - q * e;
  }
  const long long q = position / extent, r = position - q * extent;
  position = q;
  return r;
}

// Where launches may start before their predecessors are done (programmatic dependent launch): a kernel first
// lets the next one start, and waits for its own predecessor's results before it reads what launches write.
// Both do nothing elsewhere.
GE_FN void let_next_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
GE_FN void wait_for_inputs() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace loop
}  // namespace ge
#endif

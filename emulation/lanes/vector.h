#pragma once
#include <hwy/highway.h>

#include <array>
#include <cmath>
#include <concepts>

#include "emulation/philox.h"
#include "formats/lane.h"

// The number types of one instruction set: vectors with operators, on which the texts of formats/ and the rules run as
// they are. A file that includes this is compiled once for each instruction set, with its flags (meson.build); every
// name here, and every instantiation of a text on these types, has the instruction set in its symbol, so that no two
// of them can meet in the linker.
namespace halfulp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using WordTag = hn::ScalableTag<std::uint32_t>;
using IntegerTag = hn::ScalableTag<std::int32_t>;

inline constexpr std::size_t lane_count = hn::MaxLanes(FloatTag());

/// MulAdd rounds once only here; SSE4 has no such instruction.
inline constexpr bool is_fused = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2;

struct Mask {
  hn::Mask<FloatTag> m;

  friend HWY_INLINE Mask operator&(Mask a, Mask b) noexcept { return {hn::And(a.m, b.m)}; }
  friend HWY_INLINE Mask operator|(Mask a, Mask b) noexcept { return {hn::Or(a.m, b.m)}; }
  friend HWY_INLINE Mask operator!(Mask a) noexcept { return {hn::Not(a.m)}; }
};
HWY_INLINE bool all_of(Mask mask) noexcept { return hn::AllTrue(FloatTag(), mask.m); }

/// 32-bit words. Ordered comparisons are between words below 2^31, as magnitudes and codes are: one instruction then.
struct Words {
  using V = hn::Vec<WordTag>;
  V v;

  Words() noexcept : v(hn::Zero(WordTag())) {}
  Words(V vector) noexcept : v(vector) {}
  template <std::integral Integer>
  Words(Integer n) noexcept : v(hn::Set(WordTag(), static_cast<std::uint32_t>(n))) {}

  friend HWY_INLINE Words operator+(Words a, Words b) noexcept { return hn::Add(a.v, b.v); }
  friend HWY_INLINE Words operator-(Words a, Words b) noexcept { return hn::Sub(a.v, b.v); }
  friend HWY_INLINE Words operator&(Words a, Words b) noexcept { return hn::And(a.v, b.v); }
  friend HWY_INLINE Words operator|(Words a, Words b) noexcept { return hn::Or(a.v, b.v); }
  friend HWY_INLINE Words operator^(Words a, Words b) noexcept { return hn::Xor(a.v, b.v); }
  friend HWY_INLINE Words operator~(Words a) noexcept { return hn::Not(a.v); }
  friend HWY_INLINE Words operator<<(Words a, int by) noexcept { return hn::ShiftLeftSame(a.v, by); }
  friend HWY_INLINE Words operator>>(Words a, int by) noexcept { return hn::ShiftRightSame(a.v, by); }
  friend HWY_INLINE Words operator<<(Words a, Words by) noexcept { return hn::Shl(a.v, by.v); }
  friend HWY_INLINE Mask operator==(Words a, Words b) noexcept { return mask_of(hn::Eq(a.v, b.v)); }
  friend HWY_INLINE Mask operator<(Words a, Words b) noexcept { return less(a, b); }
  friend HWY_INLINE Mask operator>(Words a, Words b) noexcept { return less(b, a); }
  friend HWY_INLINE Mask operator<=(Words a, Words b) noexcept { return !less(b, a); }

  static HWY_INLINE Mask mask_of(hn::Mask<WordTag> m) noexcept { return {hn::RebindMask(FloatTag(), m)}; }

 private:
  static HWY_INLINE Mask less(Words a, Words b) noexcept {
    const IntegerTag d;
    return {hn::RebindMask(FloatTag(), hn::Lt(hn::BitCast(d, a.v), hn::BitCast(d, b.v)))};
  }
};

struct Floats {
  using V = hn::Vec<FloatTag>;
  V v;

  Floats() noexcept : v(hn::Zero(FloatTag())) {}
  Floats(V vector) noexcept : v(vector) {}
  template <class Number>
  requires std::is_arithmetic_v<Number>
  explicit Floats(Number x) noexcept : v(hn::Set(FloatTag(), static_cast<float>(x))) {}

  friend HWY_INLINE Floats operator+(Floats a, Floats b) noexcept { return hn::Add(a.v, b.v); }
  friend HWY_INLINE Floats operator-(Floats a, Floats b) noexcept { return hn::Sub(a.v, b.v); }
  friend HWY_INLINE Floats operator*(Floats a, Floats b) noexcept { return hn::Mul(a.v, b.v); }
  friend HWY_INLINE Floats operator/(Floats a, Floats b) noexcept { return hn::Div(a.v, b.v); }
  friend HWY_INLINE Floats operator-(Floats a) noexcept { return hn::Neg(a.v); }
  friend HWY_INLINE Mask operator<(Floats a, Floats b) noexcept { return {hn::Lt(a.v, b.v)}; }
  friend HWY_INLINE Mask operator<=(Floats a, Floats b) noexcept { return {hn::Le(a.v, b.v)}; }
  friend HWY_INLINE Mask operator>(Floats a, Floats b) noexcept { return {hn::Gt(a.v, b.v)}; }
  friend HWY_INLINE Mask operator>=(Floats a, Floats b) noexcept { return {hn::Ge(a.v, b.v)}; }
  friend HWY_INLINE Mask operator==(Floats a, Floats b) noexcept { return {hn::Eq(a.v, b.v)}; }
  // Highway's Ne is false for NaN on x86.
  friend HWY_INLINE Mask operator!=(Floats a, Floats b) noexcept { return {hn::Not(hn::Eq(a.v, b.v))}; }
};

HWY_INLINE Words bits_of(Floats x) noexcept { return hn::BitCast(WordTag(), x.v); }
HWY_INLINE Floats real_of(Words x) noexcept { return hn::BitCast(FloatTag(), x.v); }

HWY_INLINE Floats select(Mask mask, Floats yes, Floats no) noexcept {
  return hn::IfThenElse(mask.m, yes.v, no.v);
}
HWY_INLINE Words select(Mask mask, Words yes, Words no) noexcept {
  return hn::IfThenElse(hn::RebindMask(WordTag(), mask.m), yes.v, no.v);
}

HWY_INLINE Words lane_min(Words a, Words b) noexcept {
  const IntegerTag d;
  return hn::BitCast(WordTag(), hn::Min(hn::BitCast(d, a.v), hn::BitCast(d, b.v)));
}
HWY_INLINE Words lane_max(Words a, Words b) noexcept {
  const IntegerTag d;
  return hn::BitCast(WordTag(), hn::Max(hn::BitCast(d, a.v), hn::BitCast(d, b.v)));
}
/// As the scalar one, a NaN gives b: what x86's instruction does, and what others are told to do.
HWY_INLINE Floats lane_min(Floats a, Floats b) noexcept {
  return HWY_ARCH_X86 ? Floats(hn::Min(a.v, b.v)) : select(a < b, a, b);
}
HWY_INLINE Floats lane_max(Floats a, Floats b) noexcept {
  return HWY_ARCH_X86 ? Floats(hn::Max(a.v, b.v)) : select(a > b, a, b);
}

HWY_INLINE Floats sqrt(Floats x) noexcept { return hn::Sqrt(x.v); }
HWY_INLINE Floats square_root(Floats x) noexcept { return sqrt(x); }

/// a b + c, rounded once, in every instruction set.
HWY_INLINE Floats fma(Floats a, Floats b, Floats c) noexcept {
  if constexpr (is_fused) return hn::MulAdd(a.v, b.v, c.v);
  alignas(64) std::array<float, lane_count> x, y, z;
  hn::Store(a.v, FloatTag(), x.data());
  hn::Store(b.v, FloatTag(), y.data());
  hn::Store(c.v, FloatTag(), z.data());
  for (std::size_t i = 0; i < lane_count; ++i) z[i] = std::fma(x[i], y[i], z[i]);
  return hn::Load(FloatTag(), z.data());
}

/// Products of the even and of the odd words; the halves are put together by a shuffle and a blend.
HWY_INLINE WideProduct<Words> wide_product(Words a, Words b) noexcept {
  const WordTag d;
  const hn::RepartitionToWide<WordTag> wide;
  const auto even = hn::BitCast(d, hn::MulEven(a.v, b.v));
  const auto odd = hn::BitCast(d, hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a.v))),
                                              hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, b.v)))));
  return {hn::OddEven(odd, hn::Shuffle2301(even)), hn::OddEven(hn::Shuffle2301(odd), even)};
}

HWY_INLINE Floats load(const float* from) noexcept { return hn::LoadU(FloatTag(), from); }
HWY_INLINE Words load(const std::uint32_t* from) noexcept { return hn::LoadU(WordTag(), from); }
HWY_INLINE void store(Floats x, float* to) noexcept { hn::StoreU(x.v, FloatTag(), to); }
HWY_INLINE void store(Words x, std::uint32_t* to) noexcept { hn::StoreU(x.v, WordTag(), to); }

/// 0, 1, 2, ... from `first` on.
HWY_INLINE Words counting_from(std::uint32_t first) noexcept { return hn::Iota(WordTag(), first); }

}  // namespace halfulp::HWY_NAMESPACE

namespace halfulp {

template <>
struct Lane<HWY_NAMESPACE::Floats> {
  using Bits = HWY_NAMESPACE::Words;
  using Mask = HWY_NAMESPACE::Mask;
  static constexpr int fraction_bits = 23, exponent_bias = 127, bits = 32;
};

}  // namespace halfulp

/// A name that ends in the instruction set, for what is not inside its namespace.
#define HALFULP_JOIN_EXPANDED(a, b) a##b
#define HALFULP_JOIN(a, b) HALFULP_JOIN_EXPANDED(a, b)
#if HWY_ARCH_X86
#  define HALFULP_OF_TARGET(name) HALFULP_JOIN(name, HWY_NAMESPACE)
#else
#  define HALFULP_OF_TARGET(name) HALFULP_JOIN(name, baseline)
#endif

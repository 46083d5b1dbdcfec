#pragma once
#include <span>

#include "formats/conformance/block_conversion.h"
#include "formats/conformance/oracle.h"

namespace halfulp::oracle {

/// The second answer for blocks: scales from the sentences of ScaleRule in multiprecision, elements from the
/// exact quotient, fp32 arithmetic as exact operations rounded once. It reads the plain fields of
/// BlockFormat, ScaleConventions and TensorMultiplier.
class BlockOracle {
 public:
  explicit BlockOracle(const BlockFormat& f);

  const BlockFormat& format() const { return f_; }
  const Oracle& element() const { return element_; }
  const Oracle& scale() const { return scale_; }

  /// in: amax finite, NaN or infinite
  TensorMultiplier tensor_scale(double amax) const;
  /// Scale code of a block.
  std::uint32_t scale_code(std::span<const double> block, const TensorMultiplier& t,
                           std::uint32_t random) const;
  /// Whether the conventions make zeros of all elements of a block.
  bool is_flushed(std::span<const double> block) const;
  /// Where x stands between two elements under a scale.
  Bracket bracket(double x, bool flushed, std::uint32_t scale_code, const TensorMultiplier& t) const;
  /// Number of an element code under a scale.
  double decode(std::uint32_t code, std::uint32_t scale_code, const TensorMultiplier& t) const;

  /// Largest element, and the exponent of its binade: M and em of ScaleRule.
  double largest_element() const { return largest_; }
  int largest_exponent() const { return largest_exponent_; }

 private:
  float rounded(double x) const;  ///< x rounded once to fp32
  double largest_by_conventions(std::span<const double> block) const;
  double target() const;  ///< the element that the largest number of a block becomes
  std::uint32_t power_code(int exponent) const;
  std::uint32_t nan_scale() const;
  std::uint32_t largest_scale() const;
  std::uint32_t rounded_code(double amax, double largest, const TensorMultiplier& t) const;
  std::uint32_t code_for(double amax, double largest, const TensorMultiplier& t, std::uint32_t random) const;
  double error(std::span<const double> block, std::uint32_t scale_code, const TensorMultiplier& t) const;

  BlockFormat f_;
  Oracle element_, scale_, fp32_;
  double largest_;
  int largest_exponent_;
};

}  // namespace halfulp::oracle

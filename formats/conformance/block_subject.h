#pragma once
#include "formats/conformance/block_oracle.h"
#include "formats/conformance/subject.h"

namespace halfulp::conformance {

/// A block format, the conversion that is tested on it, and the settings to try.
struct BlockSubject {
  const oracle::BlockOracle& oracle;
  const BlockConversion& conversion;
  const Subject& element;  ///< settings, and the element format

  const BlockFormat& format() const { return oracle.format(); }
  /// Elements of a block, where the shape leaves it open 64.
  std::size_t capacity() const;
  /// Second scales to try; {1, 1} where there is none.
  std::vector<TensorMultiplier> tensor_scales() const;
};

/// Counts the cases of one property of blocks.
class BlockTally {
 public:
  BlockTally(const BlockSubject& subject, const std::string& name, Coverage coverage,
             const std::string& scope)
      : subject_(subject), report_{name, coverage, scope} {}

  /// A conversion of a block: the scale, and where that is no NaN and `elements` are asked for, those.
  void compare(std::span<const double> block, const TensorMultiplier& t, Rounding rounding,
               const SpecialValues& special, std::uint32_t random, std::uint32_t scale_random, bool elements);
  /// A case about one element code under a scale.
  void expect_decoded(std::uint32_t code, std::uint32_t scale, const TensorMultiplier& t, double got,
                      double expected);
  void expect(bool holds, const std::string& input, const std::string& got, const std::string& expected);
  void expect_tensor_scale(double amax, const TensorMultiplier& got, const TensorMultiplier& expected);

  PropertyReport result() const;

 private:
  bool wants_text() const;
  void scale_differs(std::span<const double> block, const TensorMultiplier& t, std::uint32_t scale_random,
                     std::uint32_t got, std::uint32_t expected);

  const BlockSubject& subject_;
  PropertyReport report_;
};

PropertyReport check_block_scale(const BlockSubject& subject);
PropertyReport check_block_conventions(const BlockSubject& subject);
PropertyReport check_block_elements(const BlockSubject& subject);
PropertyReport check_block_decode(const BlockSubject& subject);
PropertyReport check_block_round_trip(const BlockSubject& subject);
PropertyReport check_short_block(const BlockSubject& subject);
PropertyReport check_tensor_scale(const BlockSubject& subject);

/// "scale 0x7f = 0x1p+0 (1)"
std::string scale_text(const BlockFormat& f, std::uint32_t code);
/// ", tensor scale ..." where there is one.
std::string second_scale_text(const BlockFormat& f, const TensorMultiplier& t);

}  // namespace halfulp::conformance

#include "emulation/block_scales.h"

namespace halfulp {
namespace {

/// Whether float lanes find what scale_exponent() does from the amax alone.
bool is_power_of_two_rule(ScaleRule rule) noexcept {
  switch (rule) {
    case ScaleRule::ocp_floor:
    case ScaleRule::even:
    case ScaleRule::even_tie_down:
    case ScaleRule::ceil:
    case ScaleRule::rceil:
    case ScaleRule::rfloor:
    case ScaleRule::log2_nearest:
    case ScaleRule::log2_nearest_binade:
      return true;
    case ScaleRule::none:
    case ScaleRule::stochastic_exponent:
    case ScaleRule::amax:
    case ScaleRule::p3109_maxabs:
      return false;
  }
  return false;
}

}  // namespace

BlockScales::BlockScales(const BlockFormat& format, const LaneKernels& kernels)
    : format_(format),
      kernels_(&kernels),
      to_scale_(format.scale, scale_rounding(format.conventions), scale_special_values(format.conventions),
                kernels),
      way_(way_for(format)) {
  if (way_ != Way::table) return;
  // A rule raises the exponent from some fraction of every binade on: found by bisection, of 2^23 fractions.
  const auto exponent = [&](std::uint32_t fraction) {
    return scale_exponent(format_, real_of(bits_of(1.0f) + fraction), {1.0f, 1.0f}, 0);
  };
  constexpr std::uint32_t one = 1u << 23;
  const int base = exponent(0);
  std::uint32_t below = 0, from = one;  // exponent(below) is base, exponent(from) the next one
  while (from - below > 1) {
    const std::uint32_t middle = below + (from - below) / 2;
    (exponent(middle) == base ? below : from) = middle;
  }
  carry_ = one - from;
  for (int binade = 0; binade < 256; ++binade)
    of_binade_.push_back(scale_of(power_of_two_code(format, binade - 127 + base), {1.0f, 1.0f}));
  // Of normal numbers, and as long as each binade's scale is the next code and twice the one before.
  const auto follows = [&](std::size_t binade) {
    const Scale &a = of_binade_[binade], &b = of_binade_[binade + 1];
    return a.serves && b.serves && b.code == a.code + 1 && b.numbers.high == 2 * a.numbers.high;
  };
  first_regular_ = 1;
  while (first_regular_ < 254 && !follows(first_regular_)) ++first_regular_;
  std::uint32_t last = first_regular_;
  while (last < 254 && follows(last)) ++last;
  regular_count_ = last > first_regular_ ? last - first_regular_ + 1 : 0;
}

BlockScales::Way BlockScales::way_for(const BlockFormat& f) const noexcept {
  const ScaleConventions& c = f.conventions;
  if (c.arithmetic != ScaleArithmetic::exact || c.underflow == ScaleUnderflow::zero_elements ||
      c.subnormal_block == SubnormalBlock::flush || c.nan == NanInBlock::ignore ||
      c.infinity == InfinityInBlock::ignore)
    return Way::single;
  if (is_power_of_two_rule(f.rule)) return f.has_tensor_scale() ? Way::single : Way::table;
  const bool plain = f.rule == ScaleRule::amax && c.floor == 0 &&
                     (c.four_over_six == FourOverSix::none || c.four_over_six == FourOverSix::always_four);
  return plain && to_scale_.scales_on_lanes() && f.scale.bits() <= 8 && !f.scale.has_infinity() ? Way::lanes
                                                                                                : Way::single;
}

BlockScales::Scale BlockScales::scale_of(std::uint32_t code, TensorMultiplier t) const noexcept {
  const std::optional<LaneScaleNumbers> numbers = lane_scale(scale_value(format_, code, t));
  return {code, numbers.value_or(LaneScaleNumbers{0, 0, 0}), numbers.has_value(),
          !numbers || numbers->is_exact()};
}

void BlockScales::resize(std::size_t blocks) {
  for (auto* numbers : {&amax_, &high_, &low_, &inverse_}) numbers->resize(blocks);
  bytes_.resize(blocks);
  codes_.resize(blocks);
  singles_.clear();
  are_exact_ = true;
}

/// Fills of_code_, where the codes are few.
void BlockScales::know_codes(TensorMultiplier t) {
  if (known_ == t) return;
  known_ = t;
  of_code_.clear();
  if (format_.scale.bits() <= 8)
    for (std::uint32_t code = 0; code < format_.scale.code_count(); ++code)
      of_code_.push_back(scale_of(code, t));
  // Zeros come out as zeros under any scale.
  zero_ = {zero_block_code(format_, t), {1, 0, 1}, true, true};
}

void BlockScales::choose(std::span<const float> x, std::size_t block_length, TensorMultiplier t) {
  const std::size_t blocks = (x.size() + block_length - 1) / block_length;
  resize(blocks);
  if (way_ == Way::single || !lane_scale(t.decode)) {
    for (std::size_t block = 0; block < blocks; ++block) singles_.push_back(block);
    return;
  }
  know_codes(t);
  kernels_->amax(x.data(), x.size(), block_length, amax_.data());
  way_ == Way::table ? choose_from_table() : choose_on_lanes(t);
}

/// The scales of the blocks, if all of their amax lie where exponents alone say them: nearly always, and on the compiler's
/// vectors.
bool BlockScales::choose_from_exponents() {
  const std::size_t blocks = codes_.size();
  const auto binade = [&](std::size_t block) { return (bits_of(amax_[block]) + carry_) >> 23; };
  std::uint32_t outside = 0;
  for (std::size_t block = 0; block < blocks; ++block)
    outside |= binade(block) - first_regular_ >= regular_count_ ? 1u : 0u;
  if (outside != 0) return false;
  const Scale& first = of_binade_[first_regular_];
  const std::uint32_t to_code = first.code - first_regular_,
                      to_exponent = (bits_of(first.numbers.high) >> 23) - first_regular_;
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::uint32_t b = binade(block), exponent = b + to_exponent;
    codes_[block] = b + to_code;
    high_[block] = real_of(exponent << 23);
    inverse_[block] = real_of((254 - exponent) << 23);
  }
  return true;
}

void BlockScales::choose_from_table() {
  if (choose_from_exponents()) return;
  constexpr std::uint32_t smallest_normal = 0x0080'0000, infinity = 0x7f80'0000;
  for (std::size_t block = 0; block < codes_.size(); ++block) {
    const std::uint32_t amax = bits_of(amax_[block]);
    if (amax - smallest_normal < infinity - smallest_normal)
      set(block, of_binade_[(amax + carry_) >> 23]);
    else if (amax == 0)
      set(block, zero_);
    else
      singles_.push_back(block);  // subnormal, infinite, NaN
  }
}

void BlockScales::choose_on_lanes(TensorMultiplier t) {
  const std::size_t blocks = codes_.size();
  RunScaleList divisor;
  if (!divisor.add(largest_target(format_) * static_cast<double>(t.decode))) {
    for (std::size_t block = 0; block < blocks; ++block) singles_.push_back(block);
    return;
  }
  to_scale_.convert(std::span<const float>(amax_), nullptr, divisor.scales(blocks), nullptr, bytes_.data(), 0,
                    nullptr);
  for (std::size_t block = 0; block < blocks; ++block) {
    if (amax_[block] == 0)
      set(block, zero_);
    else if (amax_[block] <= std::numeric_limits<float>::max())
      set(block, of_code_[bytes_[block]]);
    else
      singles_.push_back(block);  // infinite, NaN
  }
}

void BlockScales::read(std::span<const std::uint32_t> codes, TensorMultiplier t) {
  resize(codes.size());
  know_codes(t);
  if (of_code_.empty()) {
    for (std::size_t block = 0; block < codes.size(); ++block) set(block, scale_of(codes[block], t));
    return;
  }
  // What is only multiplied with needs no inverse, and the codes are the caller's.
  for (std::size_t block = 0; block < codes.size(); ++block) {
    const Scale& scale = of_code_[codes[block]];
    high_[block] = scale.numbers.high;
    low_[block] = scale.numbers.low;
    are_exact_ &= scale.is_exact;
    if (!scale.serves) singles_.push_back(block);
  }
}

}  // namespace halfulp

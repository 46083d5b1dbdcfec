#include "emulation/block_scales.h"

namespace halfulp {
namespace {

Rounding scale_rounding(const BlockFormat& f) noexcept {
  return {f.conventions.rounds_up ? RoundingMode::up : RoundingMode::nearest_even, 0};
}
SpecialValues scale_special(const BlockFormat& f) noexcept {
  return special_values(f.conventions.overflow == ScaleOverflow::nan ? OverflowPolicy::ocp
                                                                     : OverflowPolicy::saturate);
}

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
      to_scale_(format.scale, scale_rounding(format), scale_special(format), kernels),
      way_(way_for(format)) {
  if (way_ != Way::table) return;
  for (int n = -highest_exponent; n <= highest_exponent; ++n) {
    const std::uint32_t code = power_of_two_code(format, n);
    const double scale = halfulp::decode(format.scale, code);
    const auto lane = lane_scale(scale);
    table_.push_back({code, lane ? lane->high : 0, lane ? lane->inverse : 0});
  }
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

void BlockScales::resize(std::size_t blocks) {
  for (auto* numbers : {&amax_, &values_, &high_, &low_, &inverse_}) numbers->resize(blocks);
  bytes_.resize(blocks);
  codes_.resize(blocks);
  singles_.clear();
}

void BlockScales::choose(std::span<const float> x, std::size_t block_length, TensorMultiplier t) {
  const std::size_t blocks = (x.size() + block_length - 1) / block_length;
  resize(blocks);
  if (way_ == Way::single || !lane_scale(t.decode)) {
    for (std::size_t block = 0; block < blocks; ++block) singles_.push_back(block);
    return;
  }
  kernels_->amax(x.data(), x.size(), block_length, amax_.data());
  zero_code_ = zero_block_code(format_, t);
  way_ == Way::table ? choose_from_table() : choose_on_lanes(t);
}

void BlockScales::choose_from_table() {
  are_exact_ = true;
  for (std::size_t block = 0; block < codes_.size(); ++block) {
    const float amax = amax_[block];
    if (amax == 0) {  // zeros come out as zeros under any scale
      codes_[block] = zero_code_;
      high_[block] = inverse_[block] = 1;
      continue;
    }
    // Subnormal floats are normal doubles, and NaN and infinity fail both comparisons.
    const bool is_finite = amax <= std::numeric_limits<float>::max();
    const OfExponent of = is_finite ? table_[static_cast<std::size_t>(
                                          scale_exponent(format_, amax, {1.0f, 1.0f}, 0) + highest_exponent)]
                                    : OfExponent{0, 0, 0};
    codes_[block] = of.code;
    high_[block] = of.scale;
    inverse_[block] = of.inverse;
    if (of.scale == 0) singles_.push_back(block);
  }
}

void BlockScales::choose_on_lanes(TensorMultiplier t) {
  are_exact_ = false;
  const std::size_t blocks = codes_.size();
  RunScaleList divisor;
  if (!divisor.add(largest_target(format_) * static_cast<double>(t.decode))) {
    for (std::size_t block = 0; block < blocks; ++block) singles_.push_back(block);
    return;
  }
  const RunScales one = divisor.scales(blocks);
  to_scale_.convert(std::span<const float>(amax_), nullptr, one, nullptr, bytes_.data(), 0, nullptr);
  to_scale_.decode(bytes_.data(), 0, {}, std::span<float>(values_));
  kernels_->divisors(values_.data(), blocks, t.decode, high_.data(), low_.data(), inverse_.data());
  for (std::size_t block = 0; block < blocks; ++block) {
    codes_[block] = bytes_[block];
    if (amax_[block] == 0) {
      codes_[block] = zero_code_;
      high_[block] = inverse_[block] = 1;
      low_[block] = 0;
    } else if (!(amax_[block] <= std::numeric_limits<float>::max()) ||
               !(high_[block] >= 0x1p-60f && high_[block] <= 0x1p60f)) {
      singles_.push_back(block);
    }
  }
}

void BlockScales::read(std::span<const std::uint32_t> codes, TensorMultiplier t) {
  resize(codes.size());
  are_exact_ = true;
  for (std::size_t block = 0; block < codes.size(); ++block) {
    codes_[block] = codes[block];
    const auto lane = lane_scale(scale_value(format_, codes[block], t));
    if (!lane) {
      high_[block] = low_[block] = inverse_[block] = 0;
      singles_.push_back(block);
      continue;
    }
    high_[block] = lane->high;
    low_[block] = lane->low;
    inverse_[block] = lane->inverse;
    are_exact_ = are_exact_ && lane->is_exact();
  }
}

}  // namespace halfulp

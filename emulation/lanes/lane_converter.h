#pragma once
#include <array>

#include "emulation/lanes/kernels.h"
#include "formats/converter.h"
#include "formats/lane_scale.h"
#include "formats/packing.h"

namespace halfulp {

/// Scales of up to `capacity` runs of one length, as RunScales reads them.
class RunScaleList {
 public:
  static constexpr std::size_t capacity = 128;

  bool is_full() const noexcept { return size_ == capacity; }
  std::size_t size() const noexcept { return size_; }
  /// False, and nothing added, if lanes cannot divide by it.
  /// in: !is_full()
  bool add(double multiplier) noexcept;
  RunScales scales(std::size_t run_length) const noexcept {
    return {high_.data(), are_exact_ ? nullptr : low_.data(), inverse_.data(), run_length};
  }

 private:
  std::array<float, capacity> high_, low_, inverse_;
  std::size_t size_ = 0;
  bool are_exact_ = true;  // powers of two
};

/// One scalar format under one rounding and one set of conventions on float lanes: the same numbers and codes as Converter
/// and Decoder, which serve what lanes do not.
class LaneConverter {
 public:
  /// in: format.has_double_view()
  LaneConverter(const ScalarFormat& format, Rounding rounding, const SpecialValues& special,
                const LaneKernels& kernels = lane_kernels());

  /// Whether lanes serve the format.
  bool on_lanes() const noexcept { return on_lanes_; }
  /// Whether they serve it under scales, too.
  bool scales_on_lanes() const noexcept {
    return on_lanes_ && scaled_lanes_fit(format_, guard_bits(rounding_.mode, rounding_.random_bits));
  }

  /// Converts x, element 0 of which is element `first` of a packed tensor. values, codes: null where not wanted; values may
  /// be x. codes: the tensor's first byte. kept: as in ConvertJob, null for nothing.
  /// in: on_lanes(), with scales scales_on_lanes(); random of x.size() integers if the rounding is stochastic.
  void convert(std::span<const float> x, const std::uint32_t* random, const RunScales& scales, float* values,
               std::uint8_t* codes, std::size_t first, const float* kept) const noexcept;

  /// The numbers that codes stand for. streams: as in DecodeJob.
  /// in: on_lanes()
  void decode(const std::uint8_t* codes, std::size_t first, const RunScales& scales, std::span<float> out,
              bool streams = false) const noexcept;

  const Rounding& rounding() const noexcept { return rounding_; }
  const LaneKernels& kernels() const noexcept { return *kernels_; }

 private:
  /// Codes as bytes, and as the tensor packs them.
  void pack(const std::uint8_t* bytes, std::size_t count, std::uint8_t* codes,
            std::size_t first) const noexcept;
  void unpack(const std::uint8_t* codes, std::size_t first, std::size_t count,
              std::uint8_t* bytes) const noexcept;

  ScalarFormat format_;
  Rounding rounding_;
  const LaneKernels* kernels_;
  bool on_lanes_;
  ElementLanes<float> lanes_{};
};

}  // namespace halfulp

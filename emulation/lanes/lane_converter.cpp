#include "emulation/lanes/lane_converter.h"

#include <algorithm>
#include <array>

namespace halfulp {
namespace {

// Codes on their way into packed bytes, in the first-level cache; runs of up to 256 elements divide it.
constexpr std::size_t chunk = 2048;

RunScales from_run(const RunScales& scales, std::size_t run) noexcept {
  if (!scales.high) return scales;
  return {scales.high + run, scales.low ? scales.low + run : nullptr, scales.inverse + run,
          scales.run_length};
}

/// Elements that can be handled at once through a buffer: whole runs.
std::size_t piece_of(const RunScales& scales) noexcept {
  if (!scales.high || scales.run_length >= chunk) return chunk;
  return chunk / scales.run_length * scales.run_length;
}

}  // namespace

bool RunScaleList::add(double multiplier) noexcept {
  const std::optional<LaneScaleNumbers> scale = lane_scale(multiplier);
  if (!scale) return false;
  high_[size_] = scale->high;
  low_[size_] = scale->low;
  inverse_[size_] = scale->inverse;
  ++size_;
  are_exact_ = are_exact_ && scale->is_exact();
  return true;
}

LaneConverter::LaneConverter(const ScalarFormat& format, Rounding rounding, const SpecialValues& special,
                             const LaneKernels& kernels)
    : format_(format),
      rounding_(rounding),
      kernels_(&kernels),
      on_lanes_(storage_bits(format) <= 16 && element_lanes_fit<float>(format, rounding, special)) {
  if (on_lanes_) lanes_ = make_element_lanes<float>(format, rounding, special);
}

void LaneConverter::convert(std::span<const float> x, const std::uint32_t* random, const RunScales& scales,
                            float* values, std::uint8_t* codes, std::size_t first,
                            const float* kept) const noexcept {
  const auto run = [&](std::size_t at, std::size_t count, const RunScales& of, std::uint8_t* bytes,
                       std::uint16_t* words) {
    kernels_->convert({lanes_, rounding_.mode, x.data() + at, count, random ? random + at : nullptr, of,
                       values ? values + at : nullptr, bytes, words, kept ? kept + at : nullptr});
  };
  const int width = storage_bits(format_);
  if (!codes) return run(0, x.size(), scales, nullptr, nullptr);
  if (width == 8) return run(0, x.size(), scales, codes + first, nullptr);
  if (width == 16) return run(0, x.size(), scales, nullptr, reinterpret_cast<std::uint16_t*>(codes) + first);
  // Where a run is longer than the buffer its scale is read again for each piece.
  const std::size_t piece = piece_of(scales);
  std::array<std::uint8_t, chunk> bytes;
  for (std::size_t done = 0; done < x.size(); done += piece) {
    const std::size_t count = std::min(piece, x.size() - done);
    const std::size_t which = scales.high ? done / scales.run_length : 0;
    if (kept) unpack(codes, first + done, count, bytes.data());
    run(done, count, from_run(scales, which), bytes.data(), nullptr);
    pack(bytes.data(), count, codes, first + done);
  }
}

void LaneConverter::decode(const std::uint8_t* codes, std::size_t first, const RunScales& scales,
                           std::span<float> out, bool streams) const noexcept {
  const int width = storage_bits(format_);
  if (width == 8)
    return kernels_->decode({lanes_, codes + first, nullptr, out.size(), scales, out.data(), streams});
  if (width == 16)
    return kernels_->decode({lanes_, nullptr, reinterpret_cast<const std::uint16_t*>(codes) + first,
                             out.size(), scales, out.data(), streams});
  const std::size_t piece = piece_of(scales);
  std::array<std::uint8_t, chunk> bytes;
  for (std::size_t done = 0; done < out.size(); done += piece) {
    const std::size_t count = std::min(piece, out.size() - done);
    const std::size_t which = scales.high ? done / scales.run_length : 0;
    unpack(codes, first + done, count, bytes.data());
    kernels_->decode(
        {lanes_, bytes.data(), nullptr, count, from_run(scales, which), out.data() + done, streams});
  }
}

// Two codes share a byte, so nibbles are packed in pairs from an even element on; the others go one by one.
void LaneConverter::pack(const std::uint8_t* bytes, std::size_t count, std::uint8_t* codes,
                         std::size_t first) const noexcept {
  std::size_t done = 0;
  if (storage_bits(format_) == 4) {
    if (first % 2 == 1 && count > 0) store_code(format_, codes, first, bytes[done++]);
    const std::size_t pairs = (count - done) / 2 * 2;
    kernels_->pack_nibbles(bytes + done, pairs, codes + (first + done) / 2);
    done += pairs;
  }
  for (; done < count; ++done) store_code(format_, codes, first + done, bytes[done]);
}

void LaneConverter::unpack(const std::uint8_t* codes, std::size_t first, std::size_t count,
                           std::uint8_t* bytes) const noexcept {
  std::size_t done = 0;
  if (storage_bits(format_) == 4) {
    if (first % 2 == 1 && count > 0)
      bytes[done++] = static_cast<std::uint8_t>(load_code(format_, codes, first));
    const std::size_t pairs = (count - done) / 2 * 2;
    kernels_->unpack_nibbles(codes + (first + done) / 2, pairs, bytes + done);
    done += pairs;
  }
  for (; done < count; ++done)
    bytes[done] = static_cast<std::uint8_t>(load_code(format_, codes, first + done));
}

}  // namespace halfulp

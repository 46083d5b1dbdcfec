#include "emulation/array_converter.h"

#include <algorithm>

#include "emulation/fp_environment.h"
#include "emulation/reduce.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {
namespace {

// Elements whose random words, scales and codes lie in the first-level cache together; larger where nothing but the
// elements themselves is touched, so that a call is nothing beside it.
constexpr std::size_t small_chunk = 2048, large_chunk = 65536;

// Decoded arrays from 16 MiB on are written past the caches, which would not hold them: a line need not be read first.
constexpr std::size_t longest_in_cache = std::size_t{1} << 22;

std::size_t block_of(const BlockFormat& f) {
  require_double_view(f, "array");
  if (!f.has_scale()) return 1;
  const bool in_a_row =
      f.shape.axis == BlockAxis::flattened || (f.shape.axis == BlockAxis::tile && f.shape.rows == 1);
  if (!in_a_row || f.shape.columns == 0 || f.tensor_scale == TensorScale::row ||
      f.rule == ScaleRule::stochastic_exponent)
    throw Error(
        "array", "no format for arrays", to_spec(f),
        "scalar formats, and blocks of a fixed number of consecutive elements whose scales are not drawn");
  return f.shape.columns;
}

/// Whole blocks, and groups of the random-bit map, together near `about` elements.
std::size_t chunk_of(const BlockFormat& f, Rounding rounding, std::size_t block) {
  const std::size_t about = f.has_scale() || is_stochastic(rounding.mode) ? small_chunk : large_chunk;
  return block >= about ? block : about / block * block;
}

}  // namespace

ArrayConverter::ArrayConverter(const BlockFormat& format, Rounding rounding, const SpecialValues& special,
                               const LaneKernels& kernels)
    : format_(format),
      elements_(format.element, rounding, special, kernels),
      converter_(format.element, rounding, special),
      block_(block_of(format)),
      chunk_(chunk_of(format, rounding, block_)),
      scales_(format, kernels) {}

void ArrayConverter::values(std::span<const float> x, std::span<float> out, TensorMultiplier t,
                            const RandomStream* random, std::uint64_t first) {
  if (out.size() != x.size())
    throw Error("array", "sizes differ", std::to_string(out.size()), std::to_string(x.size()));
  convert(x, out.data(), nullptr, nullptr, t, random, first);
}

void ArrayConverter::encode(std::span<const float> x, std::uint8_t* codes, std::uint8_t* scales,
                            TensorMultiplier t, const RandomStream* random, std::uint64_t first) {
  convert(x, nullptr, codes, scales, t, random, first);
}

void ArrayConverter::convert(std::span<const float> x, float* out, std::uint8_t* codes, std::uint8_t* scales,
                             TensorMultiplier t, const RandomStream* random, std::uint64_t first) {
  const Rounding rounding = converter_.rounding();
  const bool draws = is_stochastic(rounding.mode);
  if (draws && !random)
    throw Error("array", "no random bits", "none", "a stream, for " + to_string(rounding));
  const FpEnvironment environment;
  random_.resize(draws ? std::min(chunk_, x.size()) : 0);
  for (std::size_t done = 0; done < x.size(); done += chunk_) {
    const std::size_t count = std::min(chunk_, x.size() - done);
    if (draws) elements_.kernels().random(*random, first + done, rounding.random_bits, random_.data(), count);
    const Piece piece{x.subspan(done, count), done, out ? out + done : nullptr, codes, scales};
    const bool scaled = format_.has_scale();
    if (on_lanes())
      scaled ? convert_blocks(piece, t) : convert_on_lanes(piece, {});
    else
      for (std::size_t at = 0; at < count; at += scaled ? block_ : count)
        convert_single(piece, at, piece.x.subspan(at, std::min(scaled ? block_ : count, count - at)), t);
  }
}

void ArrayConverter::convert_on_lanes(const Piece& piece, const RunScales& scales) const noexcept {
  elements_.convert(piece.x, random_.empty() ? nullptr : random_.data(), scales, piece.out, piece.codes,
                    piece.begin, nullptr);
}

void ArrayConverter::convert_blocks(const Piece& piece, TensorMultiplier t) {
  scales_.choose(piece.x, block_, t);
  // Lanes make something of the blocks that they do not serve, which is overwritten below; their numbers are kept for
  // that, since out may be x.
  kept_.clear();
  for (const std::size_t block : scales_.singles()) {
    const auto numbers = piece.x.subspan(block * block_, std::min(block_, piece.x.size() - block * block_));
    kept_.insert(kept_.end(), numbers.begin(), numbers.end());
  }
  if (piece.scales) store_codes(format_.scale, piece.scales, piece.begin / block_, scales_.codes());
  convert_on_lanes(piece, scales_.scales(block_));
  const float* kept = kept_.data();
  for (const std::size_t block : scales_.singles()) {
    const std::size_t at = block * block_, length = std::min(block_, piece.x.size() - at);
    convert_single(piece, at, {kept, length}, t);
    kept += length;
  }
}

/// One block, or numbers without a scale, by definition: x at element `at` of the piece.
void ArrayConverter::convert_single(const Piece& piece, std::size_t at, std::span<const float> x,
                                    TensorMultiplier t) {
  const std::size_t begin = piece.begin + at;
  BlockChoice block{0, exact_divisor(1)};
  double multiplier = 1;
  if (format_.has_scale()) {
    block = choose_block(format_, x, amax(x), t, 0);
    multiplier = scale_value(format_, block.scale, t);
    if (piece.scales) store_code(format_.scale, piece.scales, begin / block_, block.scale);
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double source = format_.has_scale() ? quotient_in_block(x[i], block.divisor) : double{x[i]};
    const std::uint32_t code = converter_.code(source, random_.empty() ? 0 : random_[at + i]);
    if (piece.codes) store_code(format_.element, piece.codes, begin + i, code);
    const double element = halfulp::decode(format_.element, code);
    if (piece.out)
      piece.out[at + i] =
          format_.has_scale() ? value_in_block(element, multiplier) : static_cast<float>(element);
  }
}

void ArrayConverter::decode(const std::uint8_t* codes, const std::uint8_t* scales, TensorMultiplier t,
                            std::span<float> out) {
  const FpEnvironment environment;
  const bool streams = out.size() >= longest_in_cache;
  for (std::size_t done = 0; done < out.size(); done += chunk_) {
    const std::size_t count = std::min(chunk_, out.size() - done);
    const auto to = out.subspan(done, count);
    const auto single = [&](std::size_t begin, std::size_t length, std::uint32_t scale) {
      for (std::size_t i = begin; i < begin + length; ++i)
        to[i] = static_cast<float>(
            decode_in_block(format_, load_code(format_.element, codes, done + i), scale, t));
    };
    if (!format_.has_scale()) {
      on_lanes() ? elements_.decode(codes, done, {}, to, streams) : single(0, count, 0);
      continue;
    }
    const std::size_t blocks = (count + block_ - 1) / block_;
    codes_.resize(blocks);
    load_codes(format_.scale, scales, done / block_, codes_);
    const auto single_block = [&](std::size_t block) {
      single(block * block_, std::min(block_, count - block * block_), codes_[block]);
    };
    if (on_lanes()) {
      scales_.read(codes_, t);
      elements_.decode(codes, done, scales_.scales(block_), to, streams);
      for (const std::size_t block : scales_.singles()) single_block(block);
    } else {
      for (std::size_t block = 0; block < blocks; ++block) single_block(block);
    }
  }
}

}  // namespace halfulp

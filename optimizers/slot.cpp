#include "optimizers/slot.h"

// Loading and storing of a slot's numbers: on lanes where they serve, else one by one with Converter, Decoder and exact
// quotients in double. Both give the same bits.
namespace halfulp {
namespace {

// Elements that are converted together, on the stack.
constexpr std::size_t chunk = 256;

/// A span's part, or nothing of nothing.
template <class Span>
Span part_of(Span span, std::size_t first, std::size_t count) noexcept {
  return span.empty() ? span : span.subspan(first, count);
}

}  // namespace

/// Goes through the runs of `count` elements from `begin`: calls lanes(first, count, scales, block) for stretches of runs
/// of one length whose scales (scale_of(block)) lanes can divide by, and that alike(block, block) says belong together;
/// single(first, count, block) for the other runs. `first` counts from `begin`.
template <class R>
template <class ScaleOf, class Alike, class Lanes, class Single>
void Slot<R>::for_each_stretch(std::size_t begin, std::size_t count, bool lanes_serve, ScaleOf scale_of,
                               Alike alike, Lanes lanes, Single single) const {
  const bool scaled = tensor_.format().has_scale();
  lanes_serve =
      lanes_serve && std::is_same_v<R, float> && (scaled ? lanes_.scales_on_lanes() : lanes_.on_lanes());
  if (!scaled) {
    lanes_serve ? lanes(0, count, RunScales{}, 0) : single(0, count, 0);
    return;
  }
  const auto run_end = [&](std::size_t from) {
    return std::min(tensor_.run_end(begin + from) - begin, count);
  };
  const bool in_order = tensor_.has_blocks_in_order();
  std::size_t next_block = tensor_.block_of(begin);
  for (std::size_t done = 0; done < count;) {
    const std::size_t start = done, length = run_end(done) - done;
    const std::size_t first_block = in_order ? next_block : tensor_.block_of(begin + done);
    RunScaleList scales;
    while (lanes_serve && done < count && !scales.is_full()) {
      const std::size_t block = in_order ? next_block : tensor_.block_of(begin + done),
                        run = run_end(done) - done;
      if (run > length || !alike(first_block, block) || !scales.add(scale_of(block))) break;
      ++next_block;
      done += run;
      if (run < length) break;  // only the last run of a stretch may be short
    }
    if (done > start) {
      lanes(start, done - start, scales.scales(length), first_block);
    } else {
      single(start, length, first_block);
      done += length;
      ++next_block;
    }
  }
}

template <class R>
void Slot<R>::load(std::size_t begin, std::span<R> out) const noexcept {
  if (native_) {
    std::copy_n(numbers_.begin() + static_cast<std::ptrdiff_t>(begin), out.size(), out.begin());
    return;
  }
  const bool scaled = tensor_.format().has_scale();
  for_each_stretch(
      begin, out.size(), true, [&](std::size_t block) { return multiplier_of_block(block); },
      [](std::size_t, std::size_t) { return true; },
      [&](std::size_t first, std::size_t count, const RunScales& scales, std::size_t) {
        if constexpr (std::is_same_v<R, float>)
          lanes_.decode(tensor_.code_bytes().data(), begin + first, scales, out.subspan(first, count));
      },
      [&](std::size_t first, std::size_t length, std::size_t block) {
        std::array<std::uint32_t, chunk> codes;
        const double multiplier = tensor_.multiplier(block);
        for (std::size_t done = 0; done < length; done += chunk) {
          const std::size_t count = std::min(chunk, length - done);
          tensor_.load_codes(begin + first + done, std::span(codes.data(), count));
          for (std::size_t i = 0; i < count; ++i) {
            const double element = decoder_(codes[i]);
            out[first + done + i] = static_cast<R>(scaled ? value_in_block(element, multiplier) : element);
          }
        }
      });
}

template <class R>
void Slot<R>::store(std::size_t begin, std::span<const R> before, std::span<const R> wanted,
                    std::span<const std::uint32_t> random, std::span<const std::uint32_t> scale_random,
                    const StoredTile<R>& out) {
  if (native_) {
    std::copy(wanted.begin(), wanted.end(), numbers_.begin() + static_cast<std::ptrdiff_t>(begin));
    if (out.after.empty()) return;
    std::copy(wanted.begin(), wanted.end(), out.after.begin());
    std::copy(before.begin(), before.end(), out.unmoved.begin());
    std::fill(out.multiplier.begin(), out.multiplier.end(), 1.0);
    std::fill(out.multiplier_before.begin(), out.multiplier_before.end(), 1.0);
    return;
  }
  const bool scaled = tensor_.format().has_scale();
  if (tensor_.format().tensor_scale == TensorScale::row) choose_row_scales(begin, before, wanted);
  std::vector<BlockState> blocks{unscaled_block};
  if (scaled) blocks = choose_block_scales(begin, before, wanted, scale_random);
  const std::size_t first_block = scaled ? tensor_.block_of(begin) : 0;
  const auto state = [&](std::size_t block) -> const BlockState& { return blocks[block - first_block]; };
  const auto part = [&](std::size_t first, std::size_t count) -> StoredTile<R> {
    return {part_of(out.after, first, count), part_of(out.unmoved, first, count),
            part_of(out.multiplier, first, count), part_of(out.multiplier_before, first, count)};
  };
  const bool divides = tensor_.format().conventions.arithmetic == ScaleArithmetic::exact;
  for_each_stretch(
      begin, wanted.size(), !random.empty() || !is_stochastic(plan_.rounding.mode),
      // A divisor of 0 leaves nothing but signs, and other arithmetic divides otherwise: both one by one.
      [&](std::size_t block) { return divides ? state(block).divisor.value : 0.0; },
      [&](std::size_t a, std::size_t b) { return state(a).is_unchanged() == state(b).is_unchanged(); },
      [&](std::size_t first, std::size_t count, const RunScales& scales, std::size_t block) {
        if constexpr (std::is_same_v<R, float>)
          store_on_lanes(begin + first, scales, state(block).is_unchanged(), before.subspan(first, count),
                         wanted.subspan(first, count), part_of(random, first, count), part(first, count));
        if (out.multiplier.empty()) return;
        for (std::size_t i = first; i < first + count;) {
          const std::size_t which = scaled ? tensor_.block_of(begin + i) : 0;
          const std::size_t run = scaled ? tensor_.run_end(begin + i) - begin - i : count;
          const std::size_t end = std::min(i + run, first + count);
          std::fill(out.multiplier.begin() + static_cast<std::ptrdiff_t>(i),
                    out.multiplier.begin() + static_cast<std::ptrdiff_t>(end), state(which).multiplier);
          if (!out.multiplier_before.empty())
            std::fill(out.multiplier_before.begin() + static_cast<std::ptrdiff_t>(i),
                      out.multiplier_before.begin() + static_cast<std::ptrdiff_t>(end),
                      state(which).multiplier_before);
          i = end;
        }
      },
      [&](std::size_t first, std::size_t count, std::size_t block) {
        store_run(begin + first, state(block), before.subspan(first, count), wanted.subspan(first, count),
                  part_of(random, first, count), part(first, count));
      });
}

/// Stores a stretch under scales already chosen; lanes keep codes as BlockState::keeps_code().
template <class R>
void Slot<R>::store_on_lanes(std::size_t begin, const RunScales& scales, bool unchanged,
                             std::span<const R> before, std::span<const R> wanted,
                             std::span<const std::uint32_t> random,
                             const StoredTile<R>& out) noexcept requires std::is_same_v<R, float> {
  const std::uint32_t* bits = random.empty() ? nullptr : random.data();
  float* after = out.after.empty() ? nullptr : out.after.data();
  const bool keeps = unchanged && scales.high;
  lanes_.convert(wanted, bits, scales, after, tensor_.code_data(), begin, keeps ? before.data() : nullptr);
  if (!after) return;
  if (unchanged)  // then `before` is on the grid and comes back as it is
    std::copy(before.begin(), before.end(), out.unmoved.begin());
  else
    lanes_.convert(before, bits, scales, out.unmoved.data(), nullptr, begin, nullptr);
}

template <class R>
void Slot<R>::store_run(std::size_t begin, const BlockState& block, std::span<const R> before,
                        std::span<const R> wanted, std::span<const std::uint32_t> random,
                        const StoredTile<R>& out) noexcept {
  const BlockFormat& f = tensor_.format();
  const bool unchanged = block.is_unchanged();
  std::array<double, chunk> elements;
  std::array<std::uint32_t, chunk> codes;
  for (std::size_t done = 0; done < wanted.size(); done += chunk) {
    const std::size_t count = std::min(chunk, wanted.size() - done);
    const auto bits = part_of(random, done, count);
    const auto numbers = [&](std::size_t i) {
      return static_cast<R>(f.has_scale() ? value_in_block(elements[i], block.multiplier) : elements[i]);
    };
    elements_in_block(wanted.subspan(done, count), block.divisor, converter_, bits, std::span(elements));
    for (std::size_t i = 0; i < count; ++i) {
      const bool keeps = f.has_scale() && block.keeps_code(before[done + i], wanted[done + i]);
      codes[i] = keeps ? tensor_.code(begin + done + i) : encode(f.element, elements[i]);
      if (keeps) elements[i] = decoder_(codes[i]);
    }
    tensor_.store_codes(begin + done, std::span<const std::uint32_t>(codes.data(), count));
    if (out.after.empty()) continue;
    for (std::size_t i = 0; i < count; ++i) {
      out.after[done + i] = numbers(i);
      // Under an unchanged scale `before` is on the grid and comes back as it is.
      out.unmoved[done + i] = before[done + i];
      if (!out.multiplier.empty()) out.multiplier[done + i] = block.multiplier;
      if (!out.multiplier_before.empty()) out.multiplier_before[done + i] = block.multiplier_before;
    }
    if (unchanged) continue;
    elements_in_block(before.subspan(done, count), block.divisor, converter_, bits, std::span(elements));
    for (std::size_t i = 0; i < count; ++i) out.unmoved[done + i] = numbers(i);
  }
}

template <class R>
void Slot<R>::elements_in_block(std::span<const R> x, const BlockDivisor& divisor, const Converter& converter,
                                std::span<const std::uint32_t> random, std::span<double> out) const noexcept {
  std::array<double, chunk> quotients;
  const bool scaled = tensor_.format().has_scale();
  for (std::size_t i = 0; i < x.size(); ++i)
    quotients[i] = scaled ? quotient_in_block(x[i], divisor) : static_cast<double>(x[i]);
  converter.values(std::span<const double>(quotients.data(), x.size()), random, out.first(x.size()));
}

template <class R>
void Slot<R>::round_under(std::size_t begin, std::span<const R> numbers, const Converter& converter,
                          std::span<const std::uint32_t> random, bool new_scales,
                          std::span<R> out) const noexcept {
  if (native_) {
    std::copy(numbers.begin(), numbers.end(), out.begin());
    return;
  }
  const BlockFormat& f = tensor_.format();
  std::array<double, chunk> elements;
  for (std::size_t done = 0; done < numbers.size();) {
    const std::size_t element = begin + done;
    const std::size_t end =
        f.has_scale() ? std::min(tensor_.run_end(element) - begin, numbers.size()) : numbers.size();
    const std::size_t count = std::min(end - done, chunk);
    double multiplier = 1;
    BlockDivisor divisor = zero_elements;
    if (f.has_scale()) {
      const std::size_t block = tensor_.block_of(element);
      const bool whole = f.shape.axis == BlockAxis::tensor;
      const TensorMultiplier& t =
          new_scales ? next_tensor_scale(element) : tensor_.tensor_scale_of_block(block);
      const std::uint32_t code = new_scales && whole ? next_scale_code_ : tensor_.scale_code(block);
      multiplier = scale_value(f, code, t);
      divisor = block_divisor(f, code, t);
    }
    elements_in_block(numbers.subspan(done, count), divisor, converter, part_of(random, done, count),
                      std::span(elements));
    for (std::size_t i = 0; i < count; ++i)
      out[done + i] = static_cast<R>(f.has_scale() ? value_in_block(elements[i], multiplier) : elements[i]);
    done += count;
  }
}

template <class R>
void Slot<R>::replace(std::span<R> numbers, std::span<const std::uint32_t> random,
                      std::span<const std::uint32_t> scale_random) {
  const std::vector<R> wanted(numbers.begin(), numbers.end());
  std::vector<R> before(size());
  load(0, std::span(before));
  if (has_tensor_wide_scale())
    choose_tensor_wide_scale(amax_for_scale(wanted), amax_for_scale(before),
                             scale_random.empty() ? 0 : scale_random[0]);
  store(0, before, wanted, random, scale_random, {});
  commit_tensor_wide_scale();
  load(0, numbers);
}

template class Slot<float>;
template class Slot<double>;

}  // namespace halfulp

#include "optimizers/slot.h"

namespace halfulp {
namespace {

// Elements that are converted together, on the stack.
constexpr std::size_t chunk = 256;

// A multiplier below every amax: with it the lazy rule chooses afresh.
constexpr double no_scale = 0x1p-500;

bool is_usable(double amax) noexcept { return amax > 0 && amax < std::numeric_limits<double>::infinity(); }

/// The lazy second scale, of a tensor or row whose blocks have scales of their own: those are powers of two too, the
/// largest 2^max_exponent, so this leaves every block its choice. Kept within the powers of two that are floats.
TensorMultiplier lazy_second_scale(const BlockFormat& f, double current, double largest_weight,
                                   int headroom) noexcept {
  const double largest = f.element.max_finite() * power_of_two(f.scale.max_exponent());
  const double next = lazy_multiplier(current, largest_weight, largest, headroom);
  return static_cast<float>(std::fmin(std::fmax(next, 0x1p-149), 0x1p127));
}

/// A span's part, or nothing of nothing.
template <class Span>
Span part_of(Span span, std::size_t first, std::size_t count) noexcept {
  return span.empty() ? span : span.subspan(first, count);
}

}  // namespace

template <class R>
void Slot<R>::initialize(std::span<const double> values) {
  if (native_) {
    std::transform(values.begin(), values.end(), numbers_.begin(),
                   [](double v) { return static_cast<R>(v); });
    return;
  }
  const BlockFormat& f = tensor_.format();
  const bool lazy = plan_.scale.kind == ScalePolicyKind::lazy;
  const auto nearest = [&](std::size_t begin, std::span<const double> run, const BlockDivisor& divisor) {
    const Converter to_nearest(f.element, nearest_even, special_values(plan_.overflow));
    for (std::size_t i = 0; i < run.size(); ++i)
      tensor_.set_code(begin + i,
                       encode(f.element, element_in_block(run[i], f.has_scale(), divisor, to_nearest, 0)));
  };
  if (!f.has_scale()) return nearest(0, values, zero_elements);
  const std::size_t second_scales = tensor_.tensor_scale_count();
  for (std::size_t i = 0; i < second_scales; ++i) {
    const std::size_t length = values.size() / second_scales;
    const auto row = values.subspan(i * length, length);
    const double largest = amax_by_conventions(amax(row), row, f.conventions);
    tensor_.set_tensor_scale(i, lazy && is_usable(largest)
                                    ? lazy_second_scale(f, no_scale, largest, plan_.scale.headroom)
                                    : choose_tensor_scale(f, largest));
  }
  std::vector<double> members;
  for (std::size_t block = 0; block < tensor_.block_count(); ++block) {
    members.clear();
    tensor_.for_each_run(block, [&](std::size_t begin, std::size_t end) {
      const auto run = values.subspan(begin, end - begin);
      members.insert(members.end(), run.begin(), run.end());
    });
    const std::span<const double> block_values(members);
    const TensorMultiplier& t = tensor_.tensor_scale_of_block(block);
    const double raw = amax(block_values), largest = amax_by_conventions(raw, block_values, f.conventions);
    std::uint32_t code = 0;
    if (!lazy || !(largest < std::numeric_limits<double>::infinity())) {
      code = choose_block_scale(f, block_values, raw, t, 0);
    } else {
      const double multiplier =
          largest == 0 ? 1.0
                       : lazy_multiplier(no_scale, largest, f.element.max_finite(), plan_.scale.headroom);
      code = power_of_two_code(f, floor_log2(multiplier / t.decode));
    }
    tensor_.set_scale_code(block, code);
    const BlockDivisor divisor = is_flushed(f, largest) ? zero_elements : block_divisor(f, code, t);
    tensor_.for_each_run(block, [&](std::size_t begin, std::size_t end) {
      nearest(begin, values.subspan(begin, end - begin), divisor);
    });
  }
  next_tensor_scales_.clear();
  for (std::size_t i = 0; i < std::max<std::size_t>(second_scales, 1); ++i)
    next_tensor_scales_.push_back(tensor_.tensor_scale(i));
  next_scale_code_ = tensor_.scale_code(0);
}

template <class R>
void Slot<R>::load(std::size_t begin, std::span<R> out) const noexcept {
  if (native_) {
    std::copy_n(numbers_.begin() + static_cast<std::ptrdiff_t>(begin), out.size(), out.begin());
    return;
  }
  const bool scaled = tensor_.format().has_scale();
  std::array<std::uint32_t, chunk> codes;
  for (std::size_t done = 0; done < out.size();) {
    const std::size_t block = scaled ? tensor_.block_of(begin + done) : 0;
    const std::size_t end = scaled ? std::min(tensor_.run_end(begin + done) - begin, out.size()) : out.size();
    const std::size_t count = std::min(end - done, chunk);
    tensor_.load_codes(begin + done, std::span(codes.data(), count));
    const double multiplier = tensor_.multiplier(block);
    for (std::size_t i = 0; i < count; ++i) {
      const double element = decoder_(codes[i]);
      out[done + i] = static_cast<R>(scaled ? to_float(element * multiplier) : element);
    }
    done += count;
  }
}

template <class R>
TensorMultiplier Slot<R>::choose_second_scale(const TensorMultiplier& current, double amax_wanted,
                                              double amax_before) const noexcept {
  const BlockFormat& f = tensor_.format();
  switch (plan_.scale.kind) {
    case ScalePolicyKind::recompute:
      return choose_tensor_scale(f, amax_wanted);
    case ScalePolicyKind::delayed:
      return choose_tensor_scale(f, amax_before);
    case ScalePolicyKind::lazy:
      return is_usable(amax_wanted) ? lazy_second_scale(f, current.decode, amax_wanted, plan_.scale.headroom)
                                    : current;
    case ScalePolicyKind::keep:
      return current;
  }
  return current;
}

template <class R>
template <class FromWanted, class FromBefore>
std::uint32_t Slot<R>::choose_scale_code(const Choice& choice, std::uint32_t current, FromWanted from_wanted,
                                         FromBefore from_before) const noexcept {
  const BlockFormat& f = tensor_.format();
  switch (plan_.scale.kind) {
    case ScalePolicyKind::recompute:
      return from_wanted();
    case ScalePolicyKind::delayed:
      return from_before();
    case ScalePolicyKind::lazy: {
      if (choice.amax_wanted != 0 && !is_usable(choice.amax_wanted))
        return choose_scale(f, choice.amax_wanted, choice.tensor_scale, 0);
      const double before = is_usable(choice.multiplier_before) ? choice.multiplier_before : no_scale;
      const double next =
          choice.amax_wanted == 0
              ? before
              : lazy_multiplier(before, choice.amax_wanted, f.element.max_finite(), plan_.scale.headroom);
      return power_of_two_code(f, floor_log2(next / choice.tensor_scale.decode));
    }
    case ScalePolicyKind::keep:
      return current;
  }
  return current;
}

template <class R>
void Slot<R>::choose_tensor_wide_scale(double amax_wanted, double amax_before,
                                       std::uint32_t random) noexcept {
  const BlockFormat& f = tensor_.format();
  if (f.shape.axis != BlockAxis::tensor) {
    next_tensor_scales_[0] = choose_second_scale(tensor_.tensor_scale(0), amax_wanted, amax_before);
    return;
  }
  if (f.has_tensor_scale())
    next_tensor_scales_[0] = choose_second_scale(tensor_.tensor_scale(0), amax_wanted, amax_before);
  const TensorMultiplier t = next_tensor_scales_[0];
  next_is_flushed_ = is_flushed(f, amax_wanted);
  next_scale_code_ = choose_scale_code(
      {tensor_.multiplier(0), amax_wanted, amax_before, t}, tensor_.scale_code(0),
      [&] { return choose_scale(f, amax_wanted, t, random); },
      [&] { return choose_scale(f, amax_before, t, random); });
}

template <class R>
void Slot<R>::commit_tensor_wide_scale() noexcept {
  if (native_ || !tensor_.format().has_scale()) return;
  for (std::size_t i = 0; i < next_tensor_scales_.size(); ++i)
    tensor_.set_tensor_scale(i, next_tensor_scales_[i]);
  if (tensor_.format().shape.axis == BlockAxis::tensor) tensor_.set_scale_code(0, next_scale_code_);
}

template <class R>
void Slot<R>::choose_row_scales(std::size_t begin, std::span<const R> before,
                                std::span<const R> wanted) noexcept {
  const std::size_t length = tensor_.row_length();
  for (std::size_t done = 0; done < wanted.size(); done += length) {
    const std::size_t row = tensor_.tensor_scale_index(begin + done);
    next_tensor_scales_[row] =
        choose_second_scale(tensor_.tensor_scale(row), amax_for_scale(wanted.subspan(done, length)),
                            amax_for_scale(before.subspan(done, length)));
  }
}

template <class R>
auto Slot<R>::choose_block_scales(std::size_t begin, std::span<const R> before, std::span<const R> wanted,
                                  std::span<const std::uint32_t> scale_random) -> std::vector<BlockState> {
  const BlockFormat& f = tensor_.format();
  const std::size_t first = tensor_.block_of(begin), last = tensor_.block_of(begin + wanted.size() - 1);
  std::vector<BlockState> blocks(last - first + 1);
  std::vector<R> wanted_gathered, before_gathered;
  for (std::size_t block = first; block <= last; ++block) {
    std::size_t runs = 0, start = 0;
    std::span<const R> wanted_in, before_in;
    if (f.shape.axis == BlockAxis::tensor) {
      start = begin;  // its scale is chosen already, from all tiles
    } else {
      tensor_.for_each_run(block, [&](std::size_t from, std::size_t to) {
        const auto add = [&](std::vector<R>& all, std::span<const R> run) {
          all.insert(all.end(), run.begin(), run.end());
        };
        if (runs == 0) {
          start = from;
          wanted_in = wanted.subspan(from - begin, to - from);
          before_in = before.subspan(from - begin, to - from);
        } else {
          if (runs == 1) {
            wanted_gathered.assign(wanted_in.begin(), wanted_in.end());
            before_gathered.assign(before_in.begin(), before_in.end());
          }
          add(wanted_gathered, wanted.subspan(from - begin, to - from));
          add(before_gathered, before.subspan(from - begin, to - from));
        }
        ++runs;
      });
      if (runs > 1) wanted_in = wanted_gathered, before_in = before_gathered;
    }
    const TensorMultiplier t_before = tensor_.tensor_scale_of_block(block), t = next_tensor_scale(start);
    BlockState& state = blocks[block - first];
    const std::uint32_t code_before = tensor_.scale_code(block);
    state.multiplier_before = scale_value(f, code_before, t_before);
    state.divisor_before = block_divisor(f, code_before, t_before);
    std::uint32_t code = next_scale_code_;
    double largest = 0;
    if (f.shape.axis != BlockAxis::tensor) {
      const double raw_wanted = amax(wanted_in), raw_before = amax(before_in);
      largest = amax_by_conventions(raw_wanted, wanted_in, f.conventions);
      const double largest_before = amax_by_conventions(raw_before, before_in, f.conventions);
      const std::uint32_t random = scale_random.empty() ? 0 : scale_random[start - begin];
      code = choose_scale_code(
          {state.multiplier_before, largest, largest_before, t}, code_before,
          [&] { return choose_block_scale(f, wanted_in, raw_wanted, t, random); },
          [&] { return choose_block_scale(f, before_in, raw_before, t, random); });
      tensor_.set_scale_code(block, code);
    }
    state.multiplier = scale_value(f, code, t);
    // A kept scale was chosen for other numbers, so nothing is concluded from these.
    const bool flushed = plan_.scale.kind != ScalePolicyKind::keep &&
                         (f.shape.axis == BlockAxis::tensor ? next_is_flushed_ : is_flushed(f, largest));
    state.divisor = flushed ? zero_elements : block_divisor(f, code, t);
  }
  return blocks;
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
  if (!tensor_.format().has_scale()) {
    constexpr BlockState no_block{1, 1, zero_elements, zero_elements};
    return store_run(begin, no_block, before, wanted, random, out);
  }
  if (tensor_.format().tensor_scale == TensorScale::row) choose_row_scales(begin, before, wanted);
  const std::vector<BlockState> blocks = choose_block_scales(begin, before, wanted, scale_random);
  const std::size_t first_block = tensor_.block_of(begin);
  for (std::size_t done = 0; done < wanted.size();) {
    const std::size_t end = std::min(tensor_.run_end(begin + done) - begin, wanted.size()),
                      count = end - done;
    store_run(begin + done, blocks[tensor_.block_of(begin + done) - first_block], before.subspan(done, count),
              wanted.subspan(done, count), part_of(random, done, count),
              {part_of(out.after, done, count), part_of(out.unmoved, done, count),
               part_of(out.multiplier, done, count), part_of(out.multiplier_before, done, count)});
    done = end;
  }
}

template <class R>
void Slot<R>::store_run(std::size_t begin, const BlockState& block, std::span<const R> before,
                        std::span<const R> wanted, std::span<const std::uint32_t> random,
                        const StoredTile<R>& out) noexcept {
  const BlockFormat& f = tensor_.format();
  const bool unchanged =
      block.multiplier == block.multiplier_before && block.divisor.value == block.divisor_before.value;
  std::array<double, chunk> elements;
  std::array<std::uint32_t, chunk> codes;
  for (std::size_t done = 0; done < wanted.size(); done += chunk) {
    const std::size_t count = std::min(chunk, wanted.size() - done);
    const auto bits = part_of(random, done, count);
    const auto numbers = [&](std::size_t i) {
      return static_cast<R>(f.has_scale() ? to_float(elements[i] * block.multiplier) : elements[i]);
    };
    elements_in_block(wanted.subspan(done, count), block.divisor, converter_, bits, std::span(elements));
    for (std::size_t i = 0; i < count; ++i) codes[i] = encode(f.element, elements[i]);
    // A number that is not to move keeps its code. Under a scale that is no power of two fl32(q s) may lie a hair
    // below q s, where a directed mode would step down every time.
    if (unchanged && f.has_scale())
      for (std::size_t i = 0; i < count; ++i)
        if (wanted[done + i] == before[done + i]) {
          codes[i] = tensor_.code(begin + done + i);
          elements[i] = decoder_(codes[i]);
        }
    tensor_.store_codes(begin + done, std::span<const std::uint32_t>(codes.data(), count));
    if (out.after.empty()) continue;
    for (std::size_t i = 0; i < count; ++i) {
      out.after[done + i] = numbers(i);
      // Under an unchanged scale `before` is on the grid and comes back as it is.
      out.unmoved[done + i] = before[done + i];
      out.multiplier[done + i] = block.multiplier;
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
    const std::size_t end = f.has_scale() ? std::min(tensor_.run_end(element) - begin, numbers.size()) : numbers.size();
    const std::size_t count = std::min(end - done, chunk);
    double multiplier = 1;
    BlockDivisor divisor = zero_elements;
    if (f.has_scale()) {
      const std::size_t block = tensor_.block_of(element);
      const bool whole = f.shape.axis == BlockAxis::tensor;
      const TensorMultiplier& t = new_scales ? next_tensor_scale(element) : tensor_.tensor_scale_of_block(block);
      const std::uint32_t code = new_scales && whole ? next_scale_code_ : tensor_.scale_code(block);
      multiplier = scale_value(f, code, t);
      divisor = block_divisor(f, code, t);
    }
    elements_in_block(numbers.subspan(done, count), divisor, converter, part_of(random, done, count),
                      std::span(elements));
    for (std::size_t i = 0; i < count; ++i)
      out[done + i] = static_cast<R>(f.has_scale() ? to_float(elements[i] * multiplier) : elements[i]);
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

#include "optimizers/slot.h"

#include "emulation/reduce.h"

namespace halfulp {
namespace {

// Elements that are converted together, on the stack.
constexpr std::size_t chunk = 256;

// A multiplier below every amax: with it the lazy rule chooses afresh.
constexpr double no_scale = 0x1p-500;

bool is_usable(double amax) noexcept { return amax > 0 && amax < std::numeric_limits<double>::infinity(); }

/// The lazy scale that spans a tensor whose blocks have scales of their own: those are powers of two too, the
/// largest 2^max_exponent, so this leaves every block its choice. Kept within the powers of two that are
/// floats.
float lazy_tensor_scale(const BlockFormat& f, double current, double largest_weight, int headroom) noexcept {
  const double largest = f.element.max_finite() * power_of_two(f.scale.max_exponent());
  const double next = lazy_multiplier(current, largest_weight, largest, headroom);
  return static_cast<float>(std::fmin(std::fmax(next, 0x1p-149), 0x1p127));
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
  const double tensor_amax = amax(values);
  if (f.tensor_scale)
    tensor_.set_tensor_scale(lazy && is_usable(tensor_amax)
                                 ? lazy_tensor_scale(f, no_scale, tensor_amax, plan_.scale.headroom)
                                 : choose_tensor_scale(f, tensor_amax));
  const auto first_scale = [&](double largest) {
    if (!lazy || !(largest < std::numeric_limits<double>::infinity()))
      return choose_scale(f, largest, tensor_.tensor_scale());
    const double multiplier =
        largest == 0 ? 1.0 : lazy_multiplier(no_scale, largest, f.element.max_finite(), plan_.scale.headroom);
    return power_of_two_scale_code(f.scale, multiplier / tensor_.tensor_scale());
  };
  const Converter nearest(f.element, nearest_even, special_values(plan_.overflow));
  for (std::size_t block = 0; block < tensor_.block_count(); ++block) {
    const std::size_t begin = tensor_.block_begin(block), end = tensor_.block_end(block);
    const double block_amax = amax(values.subspan(begin, end - begin));
    if (f.has_scale()) tensor_.set_scale_code(block, first_scale(block_amax));
    const double multiplier = tensor_.multiplier(block);
    for (std::size_t i = begin; i < end; ++i)
      tensor_.set_code(i,
                       encode(f.element, element_in_block(values[i], f.has_scale(), multiplier, nearest, 0)));
  }
  next_tensor_scale_ = tensor_.tensor_scale();
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
    const std::size_t end = scaled ? std::min(tensor_.block_end(block) - begin, out.size()) : out.size();
    const std::size_t count = std::min(end - done, chunk);
    tensor_.load_codes(begin + done, std::span(codes.data(), count));
    const double multiplier = tensor_.multiplier(block);
    for (std::size_t i = 0; i < count; ++i) {
      const double element = decoder_(codes[i]);
      out[done + i] = static_cast<R>(scaled ? static_cast<float>(element * multiplier) : element);
    }
    done += count;
  }
}

template <class R>
void Slot<R>::choose_tensor_wide_scale(double amax_wanted, double amax_before) noexcept {
  const BlockFormat& f = tensor_.format();
  if (f.shape.axis == BlockAxis::tensor) {
    next_scale_code_ = choose_block_scale(0, tensor_.multiplier(0), amax_wanted, amax_before);
    return;
  }
  switch (plan_.scale.kind) {
    case ScalePolicyKind::recompute:
      next_tensor_scale_ = choose_tensor_scale(f, amax_wanted);
      break;
    case ScalePolicyKind::delayed:
      next_tensor_scale_ = choose_tensor_scale(f, amax_before);
      break;
    case ScalePolicyKind::lazy:
      if (is_usable(amax_wanted))
        next_tensor_scale_ = lazy_tensor_scale(f, tensor_.tensor_scale(), amax_wanted, plan_.scale.headroom);
      break;
    case ScalePolicyKind::keep:
      break;
  }
}

template <class R>
void Slot<R>::commit_tensor_wide_scale() noexcept {
  if (native_ || !tensor_.format().has_scale()) return;
  tensor_.set_tensor_scale(next_tensor_scale_);
  if (tensor_.format().shape.axis == BlockAxis::tensor) tensor_.set_scale_code(0, next_scale_code_);
}

template <class R>
std::uint32_t Slot<R>::choose_block_scale(std::size_t block, double multiplier_before, double amax_wanted,
                                          double amax_before) const noexcept {
  const BlockFormat& f = tensor_.format();
  switch (plan_.scale.kind) {
    case ScalePolicyKind::recompute:
      return choose_scale(f, amax_wanted, next_tensor_scale_);
    case ScalePolicyKind::delayed:
      return choose_scale(f, amax_before, next_tensor_scale_);
    case ScalePolicyKind::lazy: {
      if (amax_wanted != 0 && !is_usable(amax_wanted)) return nan_code(f.scale, false);
      const double current = is_usable(multiplier_before) ? multiplier_before : no_scale;
      const double next = amax_wanted == 0 ? current
                                           : lazy_multiplier(current, amax_wanted, f.element.max_finite(),
                                                             plan_.scale.headroom);
      return power_of_two_scale_code(f.scale, next / next_tensor_scale_);
    }
    case ScalePolicyKind::keep:
      return tensor_.scale_code(block);
  }
  return 0;
}

template <class R>
void Slot<R>::store(std::size_t begin, std::span<const R> before, std::span<const R> wanted,
                    std::span<const std::uint32_t> random, const StoredTile<R>& out) noexcept {
  const std::size_t count = wanted.size();
  if (native_) {
    std::copy(wanted.begin(), wanted.end(), numbers_.begin() + static_cast<std::ptrdiff_t>(begin));
    if (out.after.empty()) return;
    std::copy(wanted.begin(), wanted.end(), out.after.begin());
    std::copy(before.begin(), before.end(), out.unmoved.begin());
    std::fill(out.multiplier.begin(), out.multiplier.end(), 1.0);
    return;
  }
  const bool scaled = tensor_.format().has_scale();
  for (std::size_t done = 0; done < count;) {
    const std::size_t block = scaled ? tensor_.block_of(begin + done) : 0;
    const std::size_t end = scaled ? std::min(tensor_.block_end(block) - begin, count) : count;
    const auto part = [&](auto span) { return span.empty() ? span : span.subspan(done, end - done); };
    store_block(block, begin + done, part(before), part(wanted), part(random),
                {part(out.after), part(out.unmoved), part(out.multiplier)});
    done = end;
  }
}

template <class R>
void Slot<R>::store_block(std::size_t block, std::size_t begin, std::span<const R> before,
                          std::span<const R> wanted, std::span<const std::uint32_t> random,
                          const StoredTile<R>& out) noexcept {
  const BlockFormat& f = tensor_.format();
  const double multiplier_before = tensor_.multiplier(block);
  std::uint32_t scale_code = next_scale_code_;
  if (f.has_scale() && f.shape.axis != BlockAxis::tensor) {
    scale_code = choose_block_scale(block, multiplier_before, amax(wanted), amax(before));
    tensor_.set_scale_code(block, scale_code);
  }
  const double multiplier = scale_value(f, scale_code, next_tensor_scale_);
  const bool unchanged = multiplier == multiplier_before;
  std::array<double, chunk> elements;
  std::array<std::uint32_t, chunk> codes;
  for (std::size_t done = 0; done < wanted.size(); done += chunk) {
    const std::size_t count = std::min(chunk, wanted.size() - done);
    const auto bits = random.empty() ? random : random.subspan(done, count);
    const auto numbers = [&](std::size_t i) {
      return static_cast<R>(f.has_scale() ? static_cast<float>(elements[i] * multiplier) : elements[i]);
    };
    elements_in_block(wanted.subspan(done, count), multiplier, bits, std::span(elements));
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
      out.multiplier[done + i] = multiplier;
    }
    if (unchanged) continue;
    elements_in_block(before.subspan(done, count), multiplier, bits, std::span(elements));
    for (std::size_t i = 0; i < count; ++i) out.unmoved[done + i] = numbers(i);
  }
}

template <class R>
void Slot<R>::elements_in_block(std::span<const R> x, double multiplier,
                                std::span<const std::uint32_t> random, std::span<double> out) const noexcept {
  std::array<double, chunk> quotients;
  const bool scaled = tensor_.format().has_scale();
  for (std::size_t i = 0; i < x.size(); ++i)
    quotients[i] = scaled ? quotient_in_block(x[i], multiplier) : static_cast<double>(x[i]);
  converter_.values(std::span<const double>(quotients.data(), x.size()), random, out.first(x.size()));
}

template class Slot<float>;
template class Slot<double>;

}  // namespace halfulp

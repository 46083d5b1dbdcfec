#include "optimizers/slot.h"

#include "emulation/reduce.h"

namespace halfulp {
namespace {

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
  const BlockFormat& f = tensor_.format();
  for (std::size_t done = 0; done < out.size();) {
    const std::size_t block = tensor_.block_of(begin + done);
    const std::size_t end =
        f.has_scale() ? std::min(tensor_.block_end(block) - begin, out.size()) : out.size();
    const double multiplier = tensor_.multiplier(block);
    for (; done < end; ++done) {
      const double element = decoder_(tensor_.code(begin + done));
      out[done] = static_cast<R>(f.has_scale() ? static_cast<float>(element * multiplier) : element);
    }
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
    std::copy(wanted.begin(), wanted.end(), out.after.begin());
    std::copy(before.begin(), before.end(), out.unmoved.begin());
    std::fill(out.multiplier.begin(), out.multiplier.end(), 1.0);
    return;
  }
  const BlockFormat& f = tensor_.format();
  if (f.has_scale()) {
    for (std::size_t done = 0; done < count;) {
      const std::size_t block = tensor_.block_of(begin + done);
      const std::size_t length = std::min(tensor_.block_end(block) - begin, count) - done;
      const auto part = [&](auto span) { return span.empty() ? span : span.subspan(done, length); };
      store_block(block, begin + done, part(before), part(wanted), part(random),
                  {part(out.after), part(out.unmoved), part(out.multiplier)});
      done += length;
    }
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double value = converter_.value(wanted[i], random.empty() ? 0 : random[i]);
    tensor_.set_code(begin + i, encode(f.element, value));
    out.after[i] = static_cast<R>(value);
    out.unmoved[i] = before[i];
    out.multiplier[i] = 1.0;
  }
}

template <class R>
void Slot<R>::store_block(std::size_t block, std::size_t begin, std::span<const R> before,
                          std::span<const R> wanted, std::span<const std::uint32_t> random,
                          const StoredTile<R>& out) noexcept {
  const BlockFormat& f = tensor_.format();
  const double multiplier_before = tensor_.multiplier(block);
  std::uint32_t scale_code = next_scale_code_;
  if (f.shape.axis != BlockAxis::tensor) {
    scale_code = choose_block_scale(block, multiplier_before, amax(wanted), amax(before));
    tensor_.set_scale_code(block, scale_code);
  }
  const double multiplier = scale_value(f, scale_code, next_tensor_scale_);
  const bool unchanged = multiplier == multiplier_before;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::uint32_t bits = random.empty() ? 0 : random[i];
    const auto stored = [&](R x) { return element_in_block(x, true, multiplier, converter_, bits); };
    // A number that is not to move keeps its code. Under a scale that is no power of two fl32(q s) may lie a
    // hair below q s, where a directed mode would step down every time.
    if (unchanged && wanted[i] == before[i]) {
      out.after[i] = out.unmoved[i] = before[i];
      out.multiplier[i] = multiplier;
      continue;
    }
    const double element = stored(wanted[i]);
    tensor_.set_code(begin + i, encode(f.element, element));
    out.after[i] = static_cast<R>(static_cast<float>(element * multiplier));
    // Under an unchanged scale `before` is on the grid and comes back as it is.
    out.unmoved[i] =
        unchanged ? before[i] : static_cast<R>(static_cast<float>(stored(before[i]) * multiplier));
    out.multiplier[i] = multiplier;
  }
}

template class Slot<float>;
template class Slot<double>;

}  // namespace halfulp

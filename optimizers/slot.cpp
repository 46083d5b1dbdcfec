#include "optimizers/slot.h"

#include "emulation/reduce.h"

namespace halfulp {
namespace {

// A multiplier below every amax: with it the lazy rule chooses afresh.
constexpr double no_scale = 0x1p-500;

bool is_usable(double amax) noexcept { return amax > 0 && amax < std::numeric_limits<double>::infinity(); }

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
  const auto first = [&](double largest_weight, double largest) {
    return is_usable(largest_weight)
               ? lazy_multiplier(no_scale, largest_weight, largest, plan_.scale.headroom)
               : 1.0;
  };
  const double tensor_amax = amax(values);
  if (f.tensor_scale) {
    const double power = power_of_two(f.scale.max_exponent());
    tensor_.set_tensor_scale(lazy ? static_cast<float>(first(tensor_amax, f.element.max_finite() * power))
                                  : choose_tensor_scale(f, tensor_amax));
  }
  const Converter nearest(f.element, nearest_even, special_values(plan_.overflow));
  for (std::size_t block = 0; block < tensor_.block_count(); ++block) {
    const std::size_t begin = tensor_.block_begin(block), end = tensor_.block_end(block);
    const double block_amax = amax(values.subspan(begin, end - begin));
    if (f.has_scale())
      tensor_.set_scale_code(
          block, lazy ? power_of_two_scale_code(
                            f.scale, first(block_amax, f.element.max_finite()) / tensor_.tensor_scale())
                      : choose_scale(f, block_amax, tensor_.tensor_scale()));
    const double multiplier = tensor_.multiplier(block);
    for (std::size_t i = begin; i < end; ++i)
      tensor_.set_code(i,
                       encode(f.element, element_in_block(values[i], f.has_scale(), multiplier, nearest, 0)));
  }
  wide_scale_before_ = wide_scale();
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
  wide_scale_before_ = wide_scale();
  if (f.shape.axis == BlockAxis::tensor) {
    tensor_.set_scale_code(0, choose_block_scale(0, wide_scale_before_, amax_wanted, amax_before));
    return;
  }
  switch (plan_.scale.kind) {
    case ScalePolicyKind::recompute:
      tensor_.set_tensor_scale(choose_tensor_scale(f, amax_wanted));
      break;
    case ScalePolicyKind::delayed:
      tensor_.set_tensor_scale(choose_tensor_scale(f, amax_before));
      break;
    case ScalePolicyKind::lazy: {
      // Block scales are powers of two as well, the largest 2^max_exponent: this leaves every block its own
      // choice.
      const double largest = f.element.max_finite() * power_of_two(f.scale.max_exponent());
      if (is_usable(amax_wanted))
        tensor_.set_tensor_scale(static_cast<float>(
            lazy_multiplier(tensor_.tensor_scale(), amax_wanted, largest, plan_.scale.headroom)));
      break;
    }
    case ScalePolicyKind::keep:
      break;
  }
}

template <class R>
std::uint32_t Slot<R>::choose_block_scale(std::size_t block, double multiplier_before, double amax_wanted,
                                          double amax_before) const noexcept {
  const BlockFormat& f = tensor_.format();
  switch (plan_.scale.kind) {
    case ScalePolicyKind::recompute:
      return choose_scale(f, amax_wanted, tensor_.tensor_scale());
    case ScalePolicyKind::delayed:
      return choose_scale(f, amax_before, tensor_.tensor_scale());
    case ScalePolicyKind::lazy: {
      if (amax_wanted != 0 && !is_usable(amax_wanted)) return nan_code(f.scale, false);
      const double current = is_usable(multiplier_before) ? multiplier_before : no_scale;
      const double next = amax_wanted == 0 ? current
                                           : lazy_multiplier(current, amax_wanted, f.element.max_finite(),
                                                             plan_.scale.headroom);
      return power_of_two_scale_code(f.scale, next / tensor_.tensor_scale());
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
  double multiplier_before = wide_scale_before_;
  if (f.shape.axis != BlockAxis::tensor) {
    multiplier_before =
        decode(f.scale, tensor_.scale_code(block)) * (f.tensor_scale ? wide_scale_before_ : 1.0);
    tensor_.set_scale_code(block, choose_block_scale(block, multiplier_before, amax(wanted), amax(before)));
  }
  const double multiplier = tensor_.multiplier(block);
  const bool unchanged = multiplier == multiplier_before;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::uint32_t bits = random.empty() ? 0 : random[i];
    const auto stored = [&](R x) { return element_in_block(x, true, multiplier, converter_, bits); };
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

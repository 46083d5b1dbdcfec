#include "optimizers/lazy_scales.h"
#include "optimizers/slot.h"

// Which scale a slot stores its blocks under: at the start, and in each step by the plan's policy.
namespace halfulp {

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
    tensor_.set_tensor_scale(i, lazy ? first_lazy_second_scale(f, largest, plan_.scale.headroom)
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
    const std::uint32_t code = lazy ? first_lazy_scale_code(f, largest, t, plan_.scale.headroom)
                                    : choose_block_scale(f, block_values, raw, t, 0);
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
TensorMultiplier Slot<R>::choose_second_scale(const TensorMultiplier& current, double amax_wanted,
                                              double amax_before) const noexcept {
  const BlockFormat& f = tensor_.format();
  switch (plan_.scale.kind) {
    case ScalePolicyKind::recompute:
      return choose_tensor_scale(f, amax_wanted);
    case ScalePolicyKind::delayed:
      return choose_tensor_scale(f, amax_before);
    case ScalePolicyKind::lazy:
      return lazy_second_scale(f, current, amax_wanted, plan_.scale.headroom);
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
    case ScalePolicyKind::lazy:
      return lazy_scale_code(f, choice.multiplier_before, choice.amax_wanted, choice.tensor_scale,
                             plan_.scale.headroom);
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
  // Exact division is by the multiplier itself.
  const bool is_exact = f.conventions.arithmetic == ScaleArithmetic::exact &&
                        f.conventions.underflow == ScaleUnderflow::smallest;
  const auto divisor_of = [&](std::uint32_t code, const TensorMultiplier& t, double multiplier) {
    return is_exact ? exact_divisor(multiplier) : block_divisor(f, code, t);
  };
  const auto amax_of = [](std::span<const R> x) -> double {
    if constexpr (std::is_same_v<R, float>) {
      float largest = 0;
      lane_kernels().amax(x.data(), x.size(), x.size(), &largest);
      return largest;
    } else {
      return amax(x);
    }
  };
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
    state.multiplier_before = multiplier_of(code_before, t_before);
    state.divisor_before = divisor_of(code_before, t_before, state.multiplier_before);
    std::uint32_t code = next_scale_code_;
    double largest = 0;
    if (f.shape.axis != BlockAxis::tensor) {
      // What is stored now counts for the delayed policy alone.
      const bool delayed = plan_.scale.kind == ScalePolicyKind::delayed;
      const double raw_wanted = amax_of(wanted_in), raw_before = delayed ? amax_of(before_in) : 0;
      largest = amax_by_conventions(raw_wanted, wanted_in, f.conventions);
      const double largest_before = delayed ? amax_by_conventions(raw_before, before_in, f.conventions) : 0;
      const std::uint32_t random = scale_random.empty() ? 0 : scale_random[start - begin];
      code = choose_scale_code(
          {state.multiplier_before, largest, largest_before, t}, code_before,
          [&] { return choose_block_scale(f, wanted_in, raw_wanted, t, random); },
          [&] { return choose_block_scale(f, before_in, raw_before, t, random); });
      tensor_.set_scale_code(block, code);
    }
    state.multiplier = multiplier_of(code, t);
    // A kept scale was chosen for other numbers, so nothing is concluded from these.
    const bool flushed = plan_.scale.kind != ScalePolicyKind::keep &&
                         (f.shape.axis == BlockAxis::tensor ? next_is_flushed_ : is_flushed(f, largest));
    state.divisor = flushed ? zero_elements : divisor_of(code, t, state.multiplier);
  }
  return blocks;
}

template class Slot<float>;
template class Slot<double>;

}  // namespace halfulp

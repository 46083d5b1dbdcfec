#pragma once
#include <vector>

#include "emulation/cuda/machine.h"
#include "emulation/fp_environment.h"
#include "formats/catalog.h"
#include "optimizers/cuda/stored_slot.h"

namespace halfulp::cuda {

/// The format of a slot as step kernels store it: a scale that spans the tensor stands beside the kernel's arguments.
/// errors: throws Error for what the kernels do not serve (stored_format), blocks of 8, and the scale policy delayed.
inline StoredFormat step_format(const SlotPlan& plan, std::size_t row_length, std::size_t row_count) {
  const BlockFormat& f = *plan.format;
  const bool spans = f.shape.axis == BlockAxis::tensor;
  if (f.has_scale() && plan.scale.kind == ScalePolicyKind::delayed)
    throw Error("step on the device", "a scale policy that the kernels do not serve", "delayed",
                "recompute, lazy, keep");
  if ((spans || f.has_tensor_scale()) &&
      (f.conventions.nan != NanInBlock::poison || f.conventions.infinity != InfinityInBlock::poison))
    throw Error("step on the device", "a scale of the whole tensor that looks past NaN or infinities",
                "other conventions", "poison");
  if (f.has_scale() && f.shape.columns == 8)
    throw Error("step on the device", "blocks that are too short", "8 elements", "16 and more");
  if (!spans) return stored_format(f, row_length, row_count);
  stored_format(unscaled(f.element), row_length, row_count);
  return {f, tile_elements, 1.0f};
}

/// One slot on a machine.
template <class Machine>
class SlotStorage {
 public:
  /// Stores the first values, nearest_even, scales chosen from them: as Slot::initialize.
  /// errors: as step_format.
  SlotStorage(Machine& machine, const SlotPlan& plan, std::size_t row_length, std::span<const double> values)
      : plan_(plan),
        is_native_(!plan.format || *plan.format == unscaled(fp32)),
        stored_(is_native_ ? StoredFormat{unscaled(fp32), 8, 1.0f}
                           : step_format(plan, row_length, values.size() / row_length)),
        data_(is_native_ ? values.size() * sizeof(float)
                         : packed_bytes(stored_.format.element, values.size())),
        scales_(stored_.format.has_scale() ? packed_bytes(stored_.format.scale, scale_count(values.size()))
                                           : 0) {
    // The host's copies have to stay until the machine has them.
    const std::vector<float> numbers(values.begin(), values.end());
    FirstBytes first;
    if (is_native_) {
      machine.upload(data_, numbers.data(), data_.bytes());
    } else {
      first = first_bytes(values);
      machine.upload(data_, first.codes.data(), data_.bytes());
      machine.upload(scales_, first.scales.data(), scales_.bytes());
    }
    machine.wait();
  }

  /// True if the next scales need the amax of the whole tensor.
  bool needs_amax() const noexcept {
    return !is_native_ && plan_.scale.kind != ScalePolicyKind::keep &&
           (stored_.format.has_tensor_scale() || spans_tensor());
  }
  /// Chooses the scales that span the tensor, as Slot does. random: of element 0, for the scale.
  void choose(float amax, std::uint32_t random) noexcept {
    const BlockFormat& f = stored_.format;
    const double largest = poisoned(static_cast<double>(amax));
    const bool lazy = plan_.scale.kind == ScalePolicyKind::lazy;
    if (f.has_tensor_scale())
      next_second_ = lazy ? lazy_second_scale(f, stored_.second, largest, plan_.scale.headroom)
                          : choose_tensor_scale(f, largest);
    if (!spans_tensor()) return;
    next_is_flushed_ = is_flushed(f, largest);
    const double before = scale_value(f, scale_before_, stored_.second);
    next_scale_ = lazy ? lazy_scale_code(f, before, largest, next_second_, plan_.scale.headroom)
                       : choose_scale(f, largest, next_second_, random);
  }
  /// What the kernels are given for a step.
  StoredSlot arguments(const RandomStream& stream) const noexcept {
    const bool draws = is_stochastic(plan_.rounding.mode) && !is_native_;
    return {is_native_,
            spans_tensor(),
            draws,
            next_is_flushed_,
            plan_.scale,
            data_.template as<float>(),
            data_.template as<std::uint8_t>(),
            scales_.template as<std::uint8_t>(),
            stored_,
            next_second_,
            scale_before_,
            next_scale_,
            FloatConverter(stored_.format.element, plan_.rounding, special_values(plan_.overflow)),
            to_float(stored_.format.element.max_finite()),
            to_float(stored_.format.element.lowest()),
            draws_of(stream, draws ? plan_.rounding.random_bits : 0)};
  }
  bool draws_scale() const noexcept {
    return !is_native_ && stored_.format.rule == ScaleRule::stochastic_exponent;
  }

  /// The step is done: from now on the slot is read under its new scales.
  void commit(Machine& machine) {
    stored_.second = next_second_;
    scale_before_ = next_scale_;
    if (!spans_tensor()) return;
    std::uint8_t bytes[4] = {};
    store_code(stored_.format.scale, bytes, 0, scale_before_);
    machine.upload(scales_, bytes, scales_.bytes());
    machine.wait();
  }

  /// The stored bytes, as Slot::visit_bytes shows them: codes, scales, second scale; or the numbers.
  std::vector<std::uint8_t> bytes(Machine& machine) const {
    std::vector<std::uint8_t> all(data_.bytes() + scales_.bytes());
    machine.download(all.data(), data_, data_.bytes());
    machine.download(all.data() + data_.bytes(), scales_, scales_.bytes());
    machine.wait();
    if (is_native_) return all;
    const auto* second = reinterpret_cast<const std::uint8_t*>(&stored_.second.decode);
    all.insert(all.end(), second, second + sizeof(float));
    return all;
  }

 private:
  bool spans_tensor() const noexcept { return !is_native_ && stored_.format.shape.axis == BlockAxis::tensor; }
  BlockChoice first_lazy_choice(std::span<const double> block) const noexcept {
    const BlockFormat& f = stored_.format;
    const double largest = amax_by_conventions(amax(block), block, f.conventions);
    const std::uint32_t code = first_lazy_scale_code(f, largest, next_second_, plan_.scale.headroom);
    return {code, is_flushed(f, largest) ? zero_elements : block_divisor(f, code, next_second_)};
  }
  std::size_t scale_count(std::size_t elements) const noexcept {
    return spans_tensor() ? 1 : blocks_for(elements, stored_.length);
  }
  struct FirstBytes {
    std::vector<std::uint8_t> codes, scales;
  };
  FirstBytes first_bytes(std::span<const double> values) {
    const FpEnvironment environment;
    const BlockFormat& f = stored_.format;
    FirstBytes first{std::vector<std::uint8_t>(data_.bytes()), std::vector<std::uint8_t>(scales_.bytes())};
    const Converter nearest(f.element, nearest_even, special_values(plan_.overflow));
    const bool lazy = plan_.scale.kind == ScalePolicyKind::lazy;
    if (f.has_tensor_scale()) {
      const double largest = poisoned(amax(values));
      next_second_ =
          lazy ? first_lazy_second_scale(f, largest, plan_.scale.headroom) : choose_tensor_scale(f, largest);
    }
    const std::size_t length = spans_tensor() || !f.has_scale() ? values.size() : stored_.length;
    for (std::size_t begin = 0; begin < values.size(); begin += length) {
      const auto block = values.subspan(begin, std::min(length, values.size() - begin));
      BlockChoice choice{0, zero_elements};
      if (f.has_scale()) {
        choice = lazy ? first_lazy_choice(block) : choose_block(f, block, amax(block), next_second_, 0);
        store_code(f.scale, first.scales.data(), begin / length, choice.scale);
      }
      if (begin == 0) scale_before_ = next_scale_ = choice.scale;
      for (std::size_t i = 0; i < block.size(); ++i)
        store_code(f.element, first.codes.data(), begin + i,
                   encode(f.element, element_in_block(block[i], f.has_scale(), choice.divisor, nearest, 0)));
    }
    stored_.second = next_second_;
    return first;
  }
  /// An amax by the conventions of poison: an infinity counts as NaN.
  static double poisoned(double amax) noexcept {
    return amax < std::numeric_limits<double>::infinity() ? amax : std::numeric_limits<double>::quiet_NaN();
  }

  SlotPlan plan_;
  bool is_native_;
  StoredFormat stored_;
  TensorMultiplier next_second_ = 1.0f;
  std::uint32_t scale_before_ = 0, next_scale_ = 0;
  bool next_is_flushed_ = false;
  typename Machine::Buffer data_, scales_;
};

}  // namespace halfulp::cuda

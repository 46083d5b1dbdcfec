#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "emulation/lanes/lane_converter.h"
#include "emulation/reduce.h"
#include "emulation/tensor.h"
#include "formats/catalog.h"
#include "formats/spec.h"
#include "optimizers/block_state.h"
#include "optimizers/plan.h"

namespace halfulp {

/// What a store reports back for the elements of one tile; empty spans where nobody asks.
template <class R>
struct StoredTile {
  std::span<R> after;    ///< what is stored now, read back
  std::span<R> unmoved;  ///< `before` stored again under the new scales: equal to before where none changed
  std::span<double> multiplier;           ///< scale of each element, for gaps; 1 without a scale
  std::span<double> multiplier_before{};  ///< the scale that `before` was stored under
};

/// One stored vector of an optimizer: the weights, or a state, in the format its plan names.
/// R is the number type that the rule computes in; R itself, or fp32 with R = float, needs no conversion.
template <class R>
class Slot {
 public:
  /// errors: throws Error for a format with numbers beyond double, and on a shape without elements.
  Slot(const SlotPlan& plan, std::vector<std::size_t> shape)
      : plan_(plan),
        native_(is_native(plan)),
        tensor_(native_ ? unscaled(fp32) : readable(*plan.format), std::move(shape)),
        converter_(tensor_.format().element, plan.rounding, special_values(plan.overflow)),
        lanes_(tensor_.format().element, plan.rounding, special_values(plan.overflow)),
        decoder_(tensor_.format().element),
        scale_decoder_(tensor_.format().has_scale() ? tensor_.format().scale : tensor_.format().element) {
    if (native_) numbers_.resize(tensor_.size());
  }

  const SlotPlan& plan() const noexcept { return plan_; }
  const Tensor& tensor() const noexcept { return tensor_; }
  bool is_native() const noexcept { return native_; }
  std::size_t size() const noexcept { return tensor_.size(); }

  /// Stores the first values, nearest_even, scales chosen from them (lazily: with headroom).
  void initialize(std::span<const double> values);

  /// Numbers of elements [begin, begin + out.size()), exact in R.
  void load(std::size_t begin, std::span<R> out) const noexcept;
  /// The same without a copy where a slot holds them as they are: there, else in `buffer`.
  const R* numbers_at(std::size_t begin, std::span<R> buffer) const noexcept {
    if (native_) return numbers_.data() + begin;
    load(begin, buffer);
    return buffer.data();
  }
  /// Where a slot that holds numbers as they are keeps those from `begin` on, to be written in place; else null.
  R* place_at(std::size_t begin) noexcept { return native_ ? numbers_.data() + begin : nullptr; }

  /// True if the scale of an element can depend on new values outside its tile.
  bool has_tensor_wide_scale() const noexcept { return !native_ && plan_.has_tensor_wide_scale(); }

  /// What the scale that spans the tensor sees of some numbers: their amax by the format's conventions for NaN and
  /// infinities.
  double amax_for_scale(std::span<const R> numbers) const noexcept {
    return amax_by_conventions<R>(amax(numbers), numbers, tensor_.format().conventions);
  }

  /// Chooses the scale that spans the tensor, from the amax of what is to be stored and of what is stored.
  /// Stores use it at once, loads after commit_tensor_wide_scale(). random: as in store(), of element 0.
  void choose_tensor_wide_scale(double amax_wanted, double amax_before, std::uint32_t random) noexcept;
  /// To be called when every tile is stored.
  void commit_tensor_wide_scale() noexcept;

  /// Whether the scale rule takes random bits.
  bool needs_scale_random() const noexcept {
    return !native_ && tensor_.format().rule == ScaleRule::stochastic_exponent;
  }

  /// Stores `wanted` into elements from `begin` (whole blocks and, with scales per row, whole rows; a tensor-wide scale
  /// is fixed already), one rounding each, and reads it back. random: one integer for each element; ignored unless
  /// the rounding is stochastic. scale_random: of scale_random_bits, for each element, of which a block takes its
  /// first; empty unless needs_scale_random().
  void store(std::size_t begin, std::span<const R> before, std::span<const R> wanted,
             std::span<const std::uint32_t> random, std::span<const std::uint32_t> scale_random,
             const StoredTile<R>& out);

  /// What numbers from `begin` on would have been stored as in the stretch just stored, under its scales and the
  /// tensor-wide one already chosen, read back; nothing is stored. random: as in store().
  void round_like_the_last(std::size_t begin, std::span<const R> numbers,
                           std::span<const std::uint32_t> random, std::span<R> out) const noexcept {
    round_under(begin, numbers, converter_, random, true, out);
  }
  /// What numbers from `begin` on become by nearest_even under the scales that the stored codes are read with.
  void round_to_nearest(std::size_t begin, std::span<const R> numbers, std::span<R> out) const noexcept {
    const Converter nearest(tensor_.format().element, nearest_even, special_values(plan_.overflow));
    round_under(begin, numbers, nearest, {}, false, out);
  }

  /// What a number is rounded to in a format without scales.
  R rounded(R number) const noexcept {
    return native_ ? number : static_cast<R>(converter_.value(static_cast<double>(number), 0));
  }

  /// Replaces everything that is stored by these numbers, as one step would, and reads it back.
  /// random, scale_random: as in store().
  void replace(std::span<R> numbers, std::span<const std::uint32_t> random,
               std::span<const std::uint32_t> scale_random);

  /// The bytes that are stored, for hashes and checkpoints: codes, then scales.
  template <class Sink>
  void visit_bytes(Sink&& sink) const {
    if (native_) {
      sink(reinterpret_cast<const std::uint8_t*>(numbers_.data()), numbers_.size() * sizeof(R));
      return;
    }
    sink(tensor_.code_bytes().data(), tensor_.code_bytes().size());
    sink(tensor_.scale_bytes().data(), tensor_.scale_bytes().size());
    for (std::size_t i = 0; i < std::max<std::size_t>(tensor_.tensor_scale_count(), 1); ++i) {
      const float scale = tensor_.tensor_scale(i).decode;
      sink(reinterpret_cast<const std::uint8_t*>(&scale), sizeof scale);
    }
  }

 private:
  static const BlockFormat& readable(const BlockFormat& f) {
    require_double_view(f, "plan");
    return f;
  }
  static bool is_native(const SlotPlan& plan) {
    return !plan.format || (sizeof(R) == sizeof(float) && *plan.format == unscaled(fp32));
  }
  /// A scale by the plan's policy. amax_*: by the conventions; with_block(values): the format's own choice for a block
  /// of these values.
  struct Choice {
    double multiplier_before, amax_wanted, amax_before;
    TensorMultiplier tensor_scale;
  };
  template <class FromWanted, class FromBefore>
  std::uint32_t choose_scale_code(const Choice& choice, std::uint32_t current, FromWanted from_wanted,
                                  FromBefore from_before) const noexcept;
  TensorMultiplier choose_second_scale(const TensorMultiplier& current, double amax_wanted,
                                       double amax_before) const noexcept;
  /// Second scale of an element from now on.
  const TensorMultiplier& next_tensor_scale(std::size_t element) const noexcept {
    return next_tensor_scales_[tensor_.tensor_scale_index(element)];
  }

  /// As Tensor's multiplier(), and scale_value().
  double multiplier_of(std::uint32_t scale_code, const TensorMultiplier& t) const noexcept {
    const double scale = scale_decoder_(scale_code);
    return tensor_.format().has_tensor_scale() ? scale * static_cast<double>(t.decode) : scale;
  }
  double multiplier_of_block(std::size_t block) const noexcept {
    return multiplier_of(tensor_.scale_code(block), tensor_.format().has_tensor_scale()
                                                        ? tensor_.tensor_scale_of_block(block)
                                                        : tensor_.tensor_scale(0));
  }

  template <class ScaleOf, class Alike, class Lanes, class Single>
  void for_each_stretch(std::size_t begin, std::size_t count, bool lanes_serve, ScaleOf scale_of, Alike alike,
                        Lanes lanes, Single single) const;
  void store_on_lanes(std::size_t begin, const RunScales& scales, bool unchanged, std::span<const R> before,
                      std::span<const R> wanted, std::span<const std::uint32_t> random,
                      const StoredTile<R>& out) noexcept requires std::is_same_v<R, float>;
  void choose_row_scales(std::size_t begin, std::span<const R> before, std::span<const R> wanted) noexcept;
  std::vector<BlockState> choose_block_scales(std::size_t begin, std::span<const R> before,
                                              std::span<const R> wanted,
                                              std::span<const std::uint32_t> scale_random);
  /// The element each number becomes in a block; as many as x has.
  void elements_in_block(std::span<const R> x, const BlockDivisor& divisor, const Converter& converter,
                         std::span<const std::uint32_t> random, std::span<double> out) const noexcept;
  void round_under(std::size_t begin, std::span<const R> numbers, const Converter& converter,
                   std::span<const std::uint32_t> random, bool new_scales, std::span<R> out) const noexcept;
  void store_run(std::size_t begin, const BlockState& block, std::span<const R> before,
                 std::span<const R> wanted, std::span<const std::uint32_t> random,
                 const StoredTile<R>& out) noexcept;

  SlotPlan plan_;
  bool native_;
  Tensor tensor_;  // unused codes where native
  Converter converter_;
  LaneConverter lanes_;  // of float slots
  Decoder decoder_, scale_decoder_;
  std::vector<R> numbers_;  // used where native
  // The scale that spans the tensor, as the next commit will make it: until then the codes of tiles not yet
  // stored are read under the old one.
  std::uint32_t next_scale_code_ = 0;
  bool next_is_flushed_ = false;
  std::vector<TensorMultiplier> next_tensor_scales_ = {TensorMultiplier{1.0f, 1.0f}};
};

extern template class Slot<float>;
extern template class Slot<double>;

}  // namespace halfulp

#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "emulation/tensor.h"
#include "formats/catalog.h"
#include "optimizers/plan.h"

namespace halfulp {

/// What a store reports back for the elements of one tile; empty spans where nobody asks.
template <class R>
struct StoredTile {
  std::span<R> after;    ///< what is stored now, read back
  std::span<R> unmoved;  ///< `before` stored again under the new scales: equal to before where none changed
  std::span<double> multiplier;  ///< scale of each element, for gaps; 1 without a scale
};

/// One stored vector of an optimizer: the weights, or a state, in the format its plan names.
/// R is the number type that the rule computes in; R itself, or fp32 with R = float, needs no conversion.
template <class R>
class Slot {
 public:
  Slot(const SlotPlan& plan, std::vector<std::size_t> shape)
      : plan_(plan),
        native_(is_native(plan)),
        tensor_(native_ ? unscaled(fp32) : *plan.format, std::move(shape)),
        converter_(tensor_.format().element, plan.rounding, special_values(plan.overflow)),
        decoder_(tensor_.format().element) {
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

  /// True if the scale of an element can depend on new values outside its tile.
  bool has_tensor_wide_scale() const noexcept {
    if (native_ || plan_.scale.kind == ScalePolicyKind::keep) return false;
    return tensor_.format().tensor_scale || tensor_.format().shape.axis == BlockAxis::tensor;
  }

  /// Chooses the scale that spans the tensor, from the amax of what is to be stored and of what is stored.
  /// Stores use it at once, loads after commit_tensor_wide_scale().
  void choose_tensor_wide_scale(double amax_wanted, double amax_before) noexcept;
  /// To be called when every tile is stored.
  void commit_tensor_wide_scale() noexcept;

  /// Stores `wanted` into elements from `begin` (whole blocks; a tensor-wide scale is fixed already), one
  /// rounding each, and reads it back. random: one integer for each element; ignored unless the rounding is
  /// stochastic.
  void store(std::size_t begin, std::span<const R> before, std::span<const R> wanted,
             std::span<const std::uint32_t> random, const StoredTile<R>& out) noexcept;

  /// The bytes that are stored, for hashes and checkpoints: codes, then scales.
  template <class Sink>
  void visit_bytes(Sink&& sink) const {
    if (native_) {
      sink(reinterpret_cast<const std::uint8_t*>(numbers_.data()), numbers_.size() * sizeof(R));
      return;
    }
    sink(tensor_.code_bytes().data(), tensor_.code_bytes().size());
    sink(tensor_.scale_bytes().data(), tensor_.scale_bytes().size());
    const float scale = tensor_.tensor_scale();
    sink(reinterpret_cast<const std::uint8_t*>(&scale), sizeof scale);
  }

 private:
  static bool is_native(const SlotPlan& plan) {
    return !plan.format || (sizeof(R) == sizeof(float) && *plan.format == unscaled(fp32));
  }
  /// in: multiplier_before: of this block, before this step
  std::uint32_t choose_block_scale(std::size_t block, double multiplier_before, double amax_wanted,
                                   double amax_before) const noexcept;
  /// The element each number becomes under a multiplier; as many as x has.
  void elements_in_block(std::span<const R> x, double multiplier, std::span<const std::uint32_t> random,
                         std::span<double> out) const noexcept;
  void store_block(std::size_t block, std::size_t begin, std::span<const R> before, std::span<const R> wanted,
                   std::span<const std::uint32_t> random, const StoredTile<R>& out) noexcept;

  SlotPlan plan_;
  bool native_;
  Tensor tensor_;  // unused codes where native
  Converter converter_;
  Decoder decoder_;
  std::vector<R> numbers_;  // used where native
  // The scale that spans the tensor, as the next commit will make it: until then the codes of tiles not yet
  // stored are read under the old one.
  std::uint32_t next_scale_code_ = 0;
  float next_tensor_scale_ = 1.0f;
};

extern template class Slot<float>;
extern template class Slot<double>;

}  // namespace halfulp

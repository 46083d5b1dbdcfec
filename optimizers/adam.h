#pragma once
#include "optimizers/adamw.h"

namespace halfulp {

/// Adam with coupled weight decay (Kingma & Ba 2015, Alg. 1, on the loss plus (lambda / 2) |w|^2):
///   g' = g + lambda w
///   then m, v and u as AdamW with g' and no decoupled decay
/// Stated by Kingma & Ba and by PyTorch's documentation of torch.optim.Adam. The decay is divided by sqrt(v) with the
/// gradient it was added to: where gradients are large it acts less than eta lambda, and it is averaged by m.
struct Adam : PlainWeight {
  static constexpr std::string_view name = "adam";
  static constexpr std::array<StateSlot, 2> state_slots = AdamW::state_slots;
  using Config = AdamW::Config;

  template <class C, class See>
  static void settings(C& c, See&& see) {
    AdamW::settings(c, see);
  }

  template <class R>
  struct Scalars {
    AdamW::Scalars<R> adamw;
    R lambda;
  };

  template <class R>
  static Scalars<R> scalars(const Config& c, const TensorConstants& tensor, const StepInfo& now) {
    return {AdamW::scalars<R>(c, tensor, now), R(c.weight_decay)};
  }
  static TypicalStep typical_step(const Config& c, const StepInfo& now) noexcept {
    return AdamW::typical_step(c, now);
  }

  template <class R>
  HALFULP_HD static std::array<R, 2> advance(const Scalars<R>& c, const std::array<R, 1>& w,
                                             const std::array<R, 1>& g,
                                             const std::array<R, 2>& state) noexcept {
    return AdamW::advance(c.adamw, w, {with_l2(g[0], w[0], c.lambda)}, state);
  }

  /// The gradient has done its work in the moments.
  template <class R>
  HALFULP_HD static std::array<R, 1> increment(const Scalars<R>& c, const std::array<R, 1>& w,
                                               const std::array<R, 1>& g, const std::array<R, 2>& old,
                                               const std::array<R, 2>& state) noexcept {
    return AdamW::increment(c.adamw, w, g, old, state);
  }
};

}  // namespace halfulp

#pragma once
#include "optimizers/step.h"

namespace halfulp::test {

/// Adds the gradient: wanted = before + g, with no state. Whatever a slot is to be asked to store can be
/// asked through it.
struct Additive : PlainWeight {
  static constexpr std::string_view name = "additive";
  static constexpr std::array<StateSlot, 0> state_slots{};
  struct Config {};
  template <class R>
  struct Scalars {};
  template <class R>
  static Scalars<R> scalars(const Config&, const TensorConstants&, const StepInfo&) {
    return {};
  }
  static TypicalStep typical_step(const Config&, const StepInfo&) noexcept { return {}; }
  template <class R>
  static std::array<R, 0> advance(const Scalars<R>&, const std::array<R, 1>&, const std::array<R, 1>&,
                                  const std::array<R, 0>&) noexcept {
    return {};
  }
  template <class R>
  static std::array<R, 1> increment(const Scalars<R>&, const std::array<R, 1>&, const std::array<R, 1>& g,
                                    const std::array<R, 0>&, const std::array<R, 0>&) noexcept {
    return {g[0]};
  }
};

/// A probe that keeps everything a step showed.
template <class R>
struct Recorder {
  struct Seen {
    std::size_t slot, first;
    std::vector<R> before, update, wanted, after, unmoved;
    std::vector<double> multiplier;
  };
  struct Tile {
    std::vector<Seen> seen;
    void see(const TileRecord<R>& r) {
      seen.push_back({r.weight_slot,
                      r.first,
                      {r.before.begin(), r.before.end()},
                      {r.update.begin(), r.update.end()},
                      {r.wanted.begin(), r.wanted.end()},
                      {r.after.begin(), r.after.end()},
                      {r.unmoved.begin(), r.unmoved.end()},
                      {r.multiplier.begin(), r.multiplier.end()}});
    }
  };
  std::vector<Seen> tiles;
  void join(const Tile& tile) { tiles.insert(tiles.end(), tile.seen.begin(), tile.seen.end()); }
};

/// A plan that stores the weights in `weights` and states in fp32.
inline TensorPlan weights_in(const SlotPlan& weights) {
  return {weights, state_slot(unscaled(fp32)), state_slot(unscaled(fp32))};
}

/// One tensor of weights under Additive.
template <class R>
struct Stored {
  TensorInfo info;
  OptimizedTensor<Additive, R> tensor;
  std::uint64_t step = 0;

  Stored(const SlotPlan& plan, std::vector<std::size_t> shape, const std::vector<double>& initial)
      : info{"w", 0, std::move(shape), 0}, tensor(info, weights_in(plan), initial) {}

  std::vector<R> values() const {
    std::vector<R> out(tensor.size());
    tensor.weight(0).load(0, std::span(out));
    return out;
  }
  /// One step with these increments; what its probe saw of the whole tensor, which must be a single tile.
  typename Recorder<R>::Seen add(const std::vector<R>& increments, std::uint64_t seed = 1) {
    Recorder<R> recorder;
    tensor.step({}, {++step, 1.0, seed}, {increments}, nullptr, recorder);
    return recorder.tiles.at(0);
  }
};

}  // namespace halfulp::test

#pragma once
#include <functional>
#include <memory>

#include "emulation/parallel.h"
#include "optimizers/any_rule.h"
#include "optimizers/slot.h"
#include "optimizers/tile_record.h"

namespace halfulp {

/// What collects the records of one tile; tiles run on any thread.
template <class R>
class TileProbe {
 public:
  virtual ~TileProbe() = default;
  virtual void see(const TileRecord<R>& record) = 0;
};

/// A probe chosen at run time.
template <class R>
class StepProbe {
 public:
  virtual ~StepProbe() = default;
  virtual std::unique_ptr<TileProbe<R>> tile() = 0;
  /// Called for the tiles in order, after the step.
  virtual void join(TileProbe<R>& tile) = 0;
  /// As tile_record.h has it.
  virtual bool only_counts_weights() const = 0;
};

/// Any probe P as one chosen at run time; it is not owned.
template <class P, class R>
class ProbeOf final : public StepProbe<R> {
 public:
  explicit ProbeOf(P& probe) : probe_(probe) {}
  std::unique_ptr<TileProbe<R>> tile() override {
    auto one = std::make_unique<OneTile>();
    one->inner = new_tile(probe_);
    return one;
  }
  void join(TileProbe<R>& tile) override { probe_.join(static_cast<OneTile&>(tile).inner); }
  bool only_counts_weights() const override { return halfulp::only_counts_weights(probe_); }

 private:
  struct OneTile final : TileProbe<R> {
    typename P::Tile inner;
    void see(const TileRecord<R>& record) override { inner.see(record); }
  };
  P& probe_;
};

/// One tensor under any rule: OptimizedTensor behind one interface, with the rule's settings inside.
template <class R>
class TensorOptimizer {
 public:
  /// What pull_back() needs of a view.
  class View {
   public:
    virtual ~View() = default;
    virtual const std::vector<R>& weights() const = 0;
  };
  /// The gradient of each weight slot.
  using Gradients = std::vector<std::vector<R>>;

  virtual ~TensorOptimizer() = default;
  virtual const TensorInfo& info() const = 0;
  virtual std::size_t weight_count() const = 0;
  virtual std::span<const StateSlot> state_slots() const = 0;
  virtual int samples() const = 0;
  virtual std::unique_ptr<View> look(const StepInfo& now, int sample) const = 0;
  virtual void pull_back(const StepInfo& now, const View& view, std::span<const R> d, R share, int part,
                         Gradients& gradients) = 0;
  /// probe: may be null
  virtual void step(const StepInfo& now, Gradients& gradients, ThreadPool* pool, StepProbe<R>* probe) = 0;
  /// What a low-rank rule remembers of the tensor besides its slots; 0 for others.
  virtual double memory() const = 0;
  virtual void for_each_slot(const std::function<void(const Slot<R>&)>& see) const = 0;
  /// Every state as it is stored, exact in double, in the rule's order: what a twin is compared with.
  virtual std::vector<std::vector<double>> states() const = 0;
};

/// errors: as OptimizedTensor's constructor.
template <class R>
std::unique_ptr<TensorOptimizer<R>> make_tensor_optimizer(const AnyRule& rule, const TensorInfo& info,
                                                          const TensorPlan& plan, std::span<const double> initial,
                                                          std::uint64_t seed);

extern template std::unique_ptr<TensorOptimizer<float>> make_tensor_optimizer(const AnyRule&, const TensorInfo&,
                                                                              const TensorPlan&,
                                                                              std::span<const double>, std::uint64_t);
extern template std::unique_ptr<TensorOptimizer<double>> make_tensor_optimizer(const AnyRule&, const TensorInfo&,
                                                                               const TensorPlan&,
                                                                               std::span<const double>, std::uint64_t);

}  // namespace halfulp

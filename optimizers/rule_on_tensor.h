#pragma once
#include "optimizers/step.h"
#include "optimizers/tensor_optimizer.h"

namespace halfulp {

/// An OptimizedTensor with the settings of its rule. One translation unit for each number type compiles it for all
/// rules; everything else goes through TensorOptimizer.
template <class Rule, class R>
class RuleOnTensor final : public TensorOptimizer<R> {
  using Base = TensorOptimizer<R>;
  using Tensor = OptimizedTensor<Rule, R>;

 public:
  RuleOnTensor(const typename Rule::Config& config, const TensorInfo& info, const TensorPlan& plan,
               std::span<const double> initial, std::uint64_t seed)
      : config_(config), tensor_(info, plan, initial, config, seed) {}

  const TensorInfo& info() const override { return tensor_.info(); }
  std::size_t weight_count() const override { return Tensor::weight_count; }
  std::span<const StateSlot> state_slots() const override { return Rule::state_slots; }
  int samples() const override { return Rule::samples(config_); }
  std::unique_ptr<typename Base::View> look(const StepInfo& now, int sample) const override {
    return std::make_unique<OwnView>(tensor_.look(config_, now, sample));
  }
  void pull_back(const StepInfo& now, const typename Base::View& view, std::span<const R> d, R share, int part,
                 typename Base::Gradients& gradients) override {
    gradients.resize(Tensor::weight_count);
    typename Tensor::Gradients own;
    std::move(gradients.begin(), gradients.end(), own.begin());
    tensor_.pull_back(config_, now, static_cast<const OwnView&>(view).view, d, share, part, own);
    std::move(own.begin(), own.end(), gradients.begin());
  }
  void step(const StepInfo& now, typename Base::Gradients& gradients, ThreadPool* pool,
            StepProbe<R>* probe) override {
    typename Tensor::Gradients own;
    std::move(gradients.begin(), gradients.end(), own.begin());
    if (probe) {
      AnyProbe any{*probe};
      tensor_.step(config_, now, own, pool, any);
    } else {
      NoProbe none;
      tensor_.step(config_, now, own, pool, none);
    }
    std::move(own.begin(), own.end(), gradients.begin());
  }
  double memory() const override { return tensor_.memory(); }
  void for_each_slot(const std::function<void(const Slot<R>&)>& see) const override { tensor_.for_each_slot(see); }
  std::vector<std::vector<double>> states() const override {
    std::vector<std::vector<double>> all;
    const auto add = [&](const Slot<R>& slot) {
      std::vector<R> numbers(slot.size());
      slot.load(0, std::span(numbers));
      all.emplace_back(numbers.begin(), numbers.end());
    };
    for (std::size_t slot = 0; slot < Tensor::state_count; ++slot) add(tensor_.state(slot));
    return all;
  }

 private:
  struct OwnView final : Base::View {
    typename Tensor::View view;
    explicit OwnView(typename Tensor::View of) : view(std::move(of)) {}
    const std::vector<R>& weights() const override { return view.weights; }
  };
  struct AnyProbe {
    struct Tile {
      std::unique_ptr<TileProbe<R>> inner;
      void see(const TileRecord<R>& record) { inner->see(record); }
    };
    StepProbe<R>& probe;
    Tile tile() { return {probe.tile()}; }
    void join(const Tile& tile) { probe.join(*tile.inner); }
    bool only_counts_weights() const { return probe.only_counts_weights(); }
  };

  typename Rule::Config config_;
  Tensor tensor_;
};

template <class R>
std::unique_ptr<TensorOptimizer<R>> make_tensor_optimizer(const AnyRule& rule, const TensorInfo& info,
                                                          const TensorPlan& plan, std::span<const double> initial,
                                                          std::uint64_t seed) {
  return std::visit(
      [&]<class Choice>(const Choice& choice) -> std::unique_ptr<TensorOptimizer<R>> {
        return std::make_unique<RuleOnTensor<typename Choice::Rule, R>>(choice.config, info, plan, initial, seed);
      },
      rule);
}

}  // namespace halfulp

#include "experiments/training.h"

#include "optimizers/rate_scaling.h"

namespace halfulp {

template <class R>
Training<R>::Training(Task<R>& task, const TrainingSetup& setup, ThreadPool* pool)
    : task_(task), setup_(setup), pool_(pool) {
  const TensorList<double> initial = task.initial_weights();
  const Plan unrounded = parse_scheme("fp64");
  for (const TensorInfo& info : task.tensors().tensors()) {
    const AnyRule rule = rule_of(setup.rule, setup.rule_overrides, info);
    const std::span<const double> start(initial[info.id]);
    tensors_.push_back(make_tensor_optimizer<R>(rule, info, setup.plan.of(info), start, setup.seed));
    if (setup.twin)
      twins_.push_back(make_tensor_optimizer<double>(rule, info, unrounded.of(info), start, setup.seed));
  }
  gradients_.resize(tensors_.size());
  views_.resize(tensors_.size());
  seen_.resize(tensors_.size());
}

template <class R>
void Training<R>::look(const StepInfo& now, int noise) {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    views_[i] = tensors_[i]->look(now, noise);
    seen_[i] = views_[i]->weights();
  }
}

template <class R>
double Training<R>::step(std::uint64_t t, double additive, double multiplicative, StepProbe<R>* probe,
                         const SeeDerivative<R>& see) {
  const StepInfo now{t, additive, setup_.seed, multiplicative};
  const int samples = tensors_.empty() ? 0 : tensors_[0]->samples();
  const auto batches = setup_.micro_batches;
  const auto parts = batches * static_cast<std::uint64_t>(std::max(samples, 1));
  const R share = R(1) / static_cast<R>(parts);
  for (auto& slots : gradients_)
    for (auto& gradient : slots) gradient.clear();
  double loss = 0;
  for (std::uint64_t part = 0; part < parts; ++part) {
    const std::uint64_t batch = part % batches;
    const int noise = samples == 0 ? -1 : static_cast<int>(part);
    if (part == 0 || samples != 0) look(now, noise);
    loss += static_cast<double>(task_.loss_and_gradient((t - 1) * batches + batch, seen_, derivative_)) *
            static_cast<double>(share);
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const std::span<const R> d(derivative_[i]);
      if (see) see(static_cast<std::uint32_t>(i), d);
      tensors_[i]->pull_back(now, *views_[i], d, share, static_cast<int>(part), gradients_[i]);
    }
  }
  clip(t - 1);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    StepInfo own = now;
    if (setup_.rate_reference > 0) {
      const double factor = rate_factor(setup_.rate_reference, std::span<const R>(gradients_[i][0]));
      own.schedule *= factor;
      own.schedule_m *= factor;
    }
    if (!twins_.empty()) {
      TensorOptimizer<double>::Gradients same;
      for (const auto& gradient : gradients_[i]) same.emplace_back(gradient.begin(), gradient.end());
      twins_[i]->step(own, same, pool_, nullptr);
    }
    tensors_[i]->step(own, gradients_[i], pool_, probe);
  }
  return loss;
}

template <class R>
void Training<R>::clip(std::uint64_t step) {
  if (setup_.clipping.kind == ClippingKind::none) return;
  std::vector<std::vector<R>> all;
  for (auto& slots : gradients_)
    for (auto& gradient : slots) all.push_back(std::move(gradient));
  clip_gradients(setup_.clipping, step, std::span(all));
  auto next = all.begin();
  for (auto& slots : gradients_)
    for (auto& gradient : slots) gradient = std::move(*next++);
}

template <class R>
const TensorList<R>& Training<R>::weights() {
  look({1, 1.0, setup_.seed}, -1);
  return seen_;
}

template <class R>
TensorList<double> Training<R>::twin_weights() const {
  TensorList<double> all;
  for (const auto& twin : twins_) all.push_back(twin->look({1, 1.0, setup_.seed}, -1)->weights());
  return all;
}

template <class R>
std::uint64_t Training<R>::hash() const {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](const std::uint8_t* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  };
  for (const auto& tensor : tensors_) {
    tensor->for_each_slot([&](const Slot<R>& slot) { slot.visit_bytes(add); });
    if (const double memory = tensor->memory(); memory != 0)
      add(reinterpret_cast<const std::uint8_t*>(&memory), sizeof memory);
  }
  return hash;
}

template class Training<float>;
template class Training<double>;

}  // namespace halfulp

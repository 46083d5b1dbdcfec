#include "experiments/counted_training.h"

#include "analysis/descent.h"
#include "analysis/gradient_variance.h"
#include "analysis/log_normal_fit.h"
#include "analysis/state_twin_gap.h"
#include "analysis/twin_distance.h"
#include "experiments/measurements.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

bool all_finite(const auto& weights) {
  for (const auto& tensor : weights)
    if (!std::isfinite(amax(std::span(std::as_const(tensor))))) return false;
  return true;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? NAN : static_cast<double>(part) / static_cast<double>(whole);
}

/// The counters of one step, and the memories of all steps where they are kept.
struct MeasuredStep {
  PerTensorCounters counters;
  std::optional<DwellProbe>& dwell;
  std::optional<HarmfulStagnationProbe>& harmful;

  struct Tile {
    PerTensorCounters counters;
    std::optional<DwellProbe::Tile> dwell;
    std::optional<HarmfulStagnationProbe::Tile> harmful;

    template <class R>
    void see(const TileRecord<R>& record) {
      counters.see(record);
      if (dwell) dwell->see(record);
      if (harmful) harmful->see(record);
    }
  };
  Tile tile() const {
    Tile one;
    if (dwell) one.dwell.emplace();
    if (harmful) one.harmful.emplace();
    return one;
  }
  void join(const Tile& one) {
    counters.join(one.counters);
    if (dwell) dwell->join(*one.dwell);
    if (harmful) harmful->join(*one.harmful);
  }
};

/// A schedule's factor at a step of the run.
double factor(const ScheduleConfig& schedule, std::uint64_t t, const RunConfig& config) {
  return schedule_factor(schedule, t, config.steps);
}

}  // namespace

template <class R>
CountedTraining<R>::CountedTraining(Task<R>& task, const RunConfig& config, ThreadPool* pool)
    : task_(task),
      config_(config),
      training_(task, config.training(config.extra.twin), pool),
      start_(flatten(training_.weights())) {
  if (config.extra.dwell) dwell_.emplace();
  if (config.extra.harmful_window > 0)
    harmful_.emplace(HarmfulStagnation(static_cast<std::uint32_t>(config.extra.harmful_window)));
}

template <class R>
std::optional<std::uint64_t> CountedTraining<R>::train(const StepProgress& progress) {
  if (start_.size() <= followed_weights) trace_.add_weights(start_);
  for (std::uint64_t t = 1; t <= config_.steps; ++t) {
    const std::vector<double> before = config_.extra.descent ? flatten(training_.weights()) : std::vector<double>{};
    const bool full = !config_.extra.results_only;
    const double loss = step(t, full && (t - 1) % config_.measure_every == 0);
    const TensorList<R>& weights = training_.weights();
    if (!std::isfinite(loss) || !all_finite(weights)) return t;
    if (config_.extra.descent) check_descent(t, before);
    if (full && (t % config_.trace_every == 0 || t == config_.steps)) follow(t, loss);
    if (progress && t % 16 == 0) progress(t);
  }
  return std::nullopt;
}

template <class R>
double CountedTraining<R>::step(std::uint64_t t, bool measure) {
  const double additive = factor(config_.schedule, t, config_);
  const double multiplicative =
      config_.multiplicative_schedule ? factor(*config_.multiplicative_schedule, t, config_) : additive;
  const bool row = t % config_.trace_every == 0 || t == config_.steps;
  std::vector<GradientVariance> variances;
  if (row && config_.micro_batches > 1)
    for (const TensorInfo& info : task_.tensors().tensors()) variances.emplace_back(info.size());
  SeeDerivative<R> see;
  if (!variances.empty())
    see = [&](std::uint32_t tensor, std::span<const R> derivative) { variances[tensor].add(derivative); };
  double loss = 0;
  if (measure) {
    MeasuredStep measured{{}, dwell_, harmful_};
    ProbeOf<MeasuredStep, R> probe(measured);
    loss = training_.step(t, additive, multiplicative, &probe, see);
    count(t, measured.counters);
  } else {
    loss = training_.step(t, additive, multiplicative, nullptr, see);
  }
  gradient_variance_.clear();
  for (const GradientVariance& variance : variances) gradient_variance_.push_back(variance.relative());
  return loss;
}

template <class R>
void CountedTraining<R>::count(std::uint64_t t, PerTensorCounters& counted) {
  CounterProbe together = counted.all();
  together.after_step();
  counted.after_step();
  all_.join(counted);
  all_together_.join(together);
  since_row_.join(together);
  ++rows_measured_;
  if (t > config_.steps - (config_.steps + 9) / 10) {
    last_.join(counted);
    last_together_.join(together);
    ++last_measured_;
  }
  changed_steps_ += together.stored.stagnation.updated > together.stored.stagnation.stayed;
}

template <class R>
void CountedTraining<R>::follow(std::uint64_t t, double loss) {
  const std::vector<double> weights = flatten(training_.weights());
  if (weights.size() <= followed_weights) trace_.add_weights(weights);
  trace_.start_row(t);
  trace_.set("loss", loss);
  // A row without a measured step since the last one knows the loss alone.
  const StepCounters& c = since_row_.stored;
  const bool known = rows_measured_ > 0;
  const auto counted = [&](const char* column, double value) { trace_.set(column, known ? value : NAN); };
  counted("stagnation", c.stagnation.share());
  counted("delivered", c.delivery.ratio());
  counted("zero_share", share(c.trapping.zero_after, c.trapping.elements));
  trace_.set("rms", rms(std::span<const double>(weights)));
  counted("cosine", c.delivery.cosine());
  counted("lost_ratio", c.delivery.lost_ratio());
  counted("trapped_share", share(c.trapping.trapped, c.trapping.elements));
  counted("refused_flips", share(since_row_.weight().sign_flips.refused, since_row_.weight().sign_flips.wanted));
  counted("only_by_scale", share(c.collateral.only_by_scale, c.collateral.elements));
  counted("scale_growth", all_together_.stored.runaway.growth());
  counted("ceiling_trapped", share(c.ceiling.trapped, c.trapping.elements));
  counted("exploding", share(c.exploding.exploding, c.exploding.compared));
  counted("decay_lost", c.decay.elements == 0 ? NAN : c.decay.lost_share());
  counted("update_variance", c.update.variance());
  for (const StateCounters& state : since_row_.states.slots)
    counted(("frozen " + std::string(state.slot.name)).c_str(), state.freezing.share());
  const LogNormalFit fit = log_normal_fit(weights);
  trace_.set("log_mean", fit.mean);
  trace_.set("log_deviation", fit.deviation);
  trace_.set("log_excess_kurtosis", fit.excess_kurtosis);
  if (config_.extra.twin) {
    const std::vector<double> twin = flatten(training_.twin_weights());
    trace_.set("twin_distance", twin_distance(weights, twin).relative);
  }
  for (std::size_t i = 0; i < gradient_variance_.size(); ++i)
    trace_.set("gradient_variance " + task_.tensors().tensors()[i].name, gradient_variance_[i]);
  since_row_ = {};
  rows_measured_ = 0;
}

template <class R>
void CountedTraining<R>::check_descent(std::uint64_t t, const std::vector<double>& before) {
  const std::optional<double> smoothness = task_.smoothness();
  if (!smoothness) return;
  const auto as_list = [&](const std::vector<double>& flat) {
    TensorList<R> list;
    std::size_t next = 0;
    for (const TensorInfo& info : task_.tensors().tensors()) {
      list.emplace_back();
      for (std::size_t i = 0; i < info.size(); ++i) list.back().push_back(static_cast<R>(flat[next++]));
    }
    return list;
  };
  const std::vector<double> after = flatten(training_.weights()), gradient = flatten(training_.derivative());
  std::vector<double> moved(after.size());
  for (std::size_t i = 0; i < after.size(); ++i) moved[i] = after[i] - before[i];
  const double loss_before = task_.evaluate("train", t - 1, as_list(before)).loss,
               loss_after = task_.evaluate("train", t - 1, as_list(after)).loss;
  const bool guaranteed = guaranteed_decrease(gradient, moved, *smoothness) > 0;
  const TypicalStep typical = std::visit(
      [&](const auto& choice) {
        return std::decay_t<decltype(choice)>::Rule::typical_step(
            choice.config, {t, factor(config_.schedule, t, config_), config_.seed});
      },
      config_.rule);
  ++descent_.steps;
  descent_.guaranteed += guaranteed;
  descent_.condition_holds +=
      *smoothness > 0 &&
      unnormalised_descent(typical.absolute, typical.relative, before, *smoothness).is_guaranteed();
  descent_.decreased += loss_after < loss_before;
  descent_.guaranteed_yet_risen += guaranteed && !(loss_after < loss_before);
}

template <class R>
Json CountedTraining<R>::twin_to_json() const {
  Json states = Json::object();
  const auto& tensors = training_.tensors();
  const std::span<const StateSlot> slots = tensors[0]->state_slots();
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    std::vector<double> stored, twin;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const auto own = tensors[i]->states(), other = training_.twins()[i]->states();
      stored.insert(stored.end(), own[slot].begin(), own[slot].end());
      twin.insert(twin.end(), other[slot].begin(), other[slot].end());
    }
    states[std::string(slots[slot].name)] = to_json(state_twin_gap(stored, twin));
  }
  return states;
}

template <class R>
Json CountedTraining<R>::measurements() const {
  Json json{{"all", halfulp::to_json(all_together_)},
            {"last_tenth", last_measured_ == 0 ? Json() : halfulp::to_json(last_together_)},
            {"changed_steps", changed_steps_}};
  const auto& infos = task_.tensors().tensors();
  if (infos.size() > 1)
    for (const auto& [id, counters] : all_.tensors) json["tensors"][infos[id].name] = summary_to_json(counters);
  if (dwell_) json["dwell"] = halfulp::to_json(*dwell_, infos);
  if (harmful_) json["harmful_stagnation"] = halfulp::to_json(*harmful_, infos);
  if (config_.extra.descent)
    json["descent"] = {{"steps", descent_.steps},
                       {"guaranteed", descent_.guaranteed},
                       {"condition_holds", descent_.condition_holds},
                       {"decreased", descent_.decreased},
                       {"guaranteed_yet_risen", descent_.guaranteed_yet_risen}};
  if (config_.extra.twin) json["twin_states"] = twin_to_json();
  return json;
}

template class CountedTraining<float>;
template class CountedTraining<double>;

}  // namespace halfulp

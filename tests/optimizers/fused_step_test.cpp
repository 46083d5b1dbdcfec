// The step as it runs, on lanes and in tiles, against a plain one: every number one at a time, stored by quantize().
#include <doctest/doctest.h>

#include "emulation/fp_environment.h"
#include "emulation/quantize.h"
#include "optimizers/adam.h"
#include "optimizers/adamw.h"
#include "optimizers/lanes/rule_lanes.h"
#include "optimizers/lmd.h"
#include "optimizers/m_adam.h"
#include "optimizers/madam.h"
#include "optimizers/sgd.h"
#include "optimizers/step.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

using test::same_bits;

/// One slot of a plain step: its numbers, as quantize() leaves them.
class PlainSlot {
 public:
  PlainSlot(const SlotPlan& plan, const TensorInfo& info, const std::vector<double>& values)
      : plan_(plan), info_(info) {
    numbers_.assign(values.begin(), values.end());
    if (is_rounded()) store(values, nearest_even, {});
  }
  const std::vector<float>& numbers() const { return numbers_; }
  const std::optional<Tensor>& tensor() const { return stored_; }
  /// What stays in place under an unchanged scale keeps its code.
  void step(const std::vector<float>& wanted, std::uint64_t t, std::size_t slot) {
    if (!is_rounded()) {
      numbers_ = wanted;
      return;
    }
    const RandomStream stream{
        42, static_cast<std::uint32_t>(t), info_.id, static_cast<std::uint8_t>(slot), RandomPurpose::rounding,
        0};
    const std::optional<Tensor> before = stored_;
    const std::vector<float> numbers_before = numbers_;
    store({wanted.begin(), wanted.end()}, plan_.rounding, {stream, 0});
    for (std::size_t i = 0; i < numbers_.size() && plan_.format->has_scale(); ++i) {
      const std::size_t block = stored_->block_of(i);
      const bool same_scale = before->multiplier(block) == stored_->multiplier(block);
      if (!same_scale || wanted[i] != numbers_before[i]) continue;
      stored_->set_code(i, before->code(i));
      numbers_[i] = numbers_before[i];
    }
  }

 private:
  bool is_rounded() const { return plan_.format && *plan_.format != unscaled(fp32); }
  void store(const std::vector<double>& values, Rounding rounding, const ElementRandom& random) {
    stored_ = quantize(values, info_.shape, *plan_.format, rounding, special_values(plan_.overflow), random,
                       std::nullopt);
    for (std::size_t i = 0; i < values.size(); ++i) numbers_[i] = static_cast<float>(stored_->value(i));
  }

  SlotPlan plan_;
  TensorInfo info_;
  std::optional<Tensor> stored_;
  std::vector<float> numbers_;
};

template <class Rule>
using Gradients = std::array<std::vector<float>, Rule::weight_slots.size()>;

template <class Rule>
struct PlainTensor {
  static constexpr std::size_t weights = Rule::weight_slots.size(), states = Rule::state_slots.size();
  TensorConstants constants;
  std::vector<PlainSlot> w, s;

  PlainTensor(const TensorInfo& info, const TensorPlan& plan, const std::vector<double>& initial,
              const typename Rule::Config& config)
      : constants{rms(std::span<const double>(initial))} {
    std::array<std::vector<double>, weights> start;
    for (const double w0 : initial) {
      const auto parts = Rule::initialize(config, w0, constants, 0);
      for (std::size_t k = 0; k < weights; ++k) start[k].push_back(parts[k]);
    }
    for (std::size_t k = 0; k < weights; ++k) w.emplace_back(plan.weights, info, start[k]);
    for (std::size_t k = 0; k < states; ++k)
      s.emplace_back(plan.state(Rule::state_slots[k].moment), info, std::vector<double>(initial.size()));
  }

  void step(const typename Rule::Config& config, const StepInfo& now, const Gradients<Rule>& g) {
    const FpEnvironment environment;
    const auto scalars = Rule::template scalars<float>(config, constants, now);
    const auto decay = static_cast<float>(Rule::decay(config, now));
    const std::size_t n = w[0].numbers().size();
    std::array<std::vector<float>, weights> wanted;
    std::array<std::vector<float>, states> next;
    for (std::size_t i = 0; i < n; ++i) {
      std::array<float, weights> at, slope;
      std::array<float, states> old;
      for (std::size_t k = 0; k < weights; ++k) at[k] = w[k].numbers()[i], slope[k] = g[k][i];
      for (std::size_t k = 0; k < states; ++k) old[k] = s[k].numbers()[i];
      auto state = Rule::advance(scalars, at, slope, old);
      for (float& x : state) x = x == x ? x : std::numeric_limits<float>::quiet_NaN();
      const auto u = Rule::increment(scalars, at, slope, old, state);
      for (std::size_t k = 0; k < states; ++k) next[k].push_back(state[k]);
      for (std::size_t k = 0; k < weights; ++k) {
        const float update = decay == 0 ? u[k] : u[k] - decay * at[k];
        const float moved = update == 0 ? at[k] : at[k] + update;
        wanted[k].push_back(moved == moved ? moved : std::numeric_limits<float>::quiet_NaN());
      }
    }
    for (std::size_t k = 0; k < states; ++k) s[k].step(next[k], now.step, weights + k);
    for (std::size_t k = 0; k < weights; ++k) w[k].step(wanted[k], now.step, k);
  }
};

/// Elements in which the two differ after `steps` steps, weights and states.
template <class Rule>
std::size_t differences(const std::string& weights, const std::string& states, Rounding rounding,
                        std::size_t columns, std::uint64_t steps, const typename Rule::Config& config) {
  const TensorInfo info{"w", 5, {3, columns}, 0};
  TensorPlan plan = parse_scheme(weights + "/" + states).of(info);
  for (SlotPlan* slot : {&plan.weights, &plan.first_moment, &plan.second_moment})
    slot->scale = recompute_scale;
  plan.weights.rounding = rounding;
  std::vector<double> initial(info.size());
  for (std::size_t i = 0; i < initial.size(); ++i)
    initial[i] = i % 17 == 0 ? 0.0 : test::log_spread(4, 0, i, 6);
  OptimizedTensor<Rule, float> fused(info, plan, initial, config, 42);
  PlainTensor<Rule> plain(info, plan, initial, config);
  NoProbe probe;
  for (std::uint64_t t = 1; t <= steps; ++t) {
    Gradients<Rule> g;
    for (std::size_t k = 0; k < g.size(); ++k)
      for (std::size_t i = 0; i < info.size(); ++i) {
        const double noise =
            test::log_spread(3, static_cast<std::uint32_t>(t), i, 8) + (i % 3 == 0 ? 0.25 : -0.125);
        g[k].push_back(static_cast<float>(k == 0 ? noise : -noise));
      }
    fused.step(config, {t, 1.0, 42}, g, nullptr, probe);
    plain.step(config, {t, 1.0, 42}, g);
  }
  std::size_t wrong = 0;
  const auto compare = [&](const Slot<float>& a, const PlainSlot& b) {
    std::vector<float> numbers(a.size());
    a.load(0, std::span(numbers));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      wrong += !same_bits(numbers[i], b.numbers()[i]);
      if (b.tensor()) wrong += a.tensor().code(i) != b.tensor()->code(i);
    }
  };
  for (std::size_t k = 0; k < Rule::weight_slots.size(); ++k) compare(fused.weight(k), plain.w[k]);
  for (std::size_t k = 0; k < Rule::state_slots.size(); ++k) compare(fused.state(k), plain.s[k]);
  return wrong;
}

template <class Rule>
void check_all(std::uint64_t steps, const typename Rule::Config& config = {}) {
  for (const std::string weights :
       {"bf16", "fp8_tensor", "e4m3", "mxfp8_e4m3", "mxfp8_e5m2", "mxfp4", "nvfp4"})
    for (const std::string states : {"fp32", "bf16", "fp8"})
      for (const Rounding rounding : {nearest_even, stochastic})
        for (const std::size_t columns : {std::size_t{64}, std::size_t{37}}) {
          INFO(Rule::name, " ", weights, "/", states, " ", to_string(rounding), " rows of ", columns);
          CHECK(differences<Rule>(weights, states, rounding, columns, steps, config) == 0);
        }
}

}  // namespace

TEST_CASE("fused step: equals the plain step for every rule, weight format and state format") {
  check_all<Sgd>(40);
  check_all<Adam>(40);
  check_all<AdamW>(40);
  check_all<Madam>(40);
  check_all<MAdam>(40);
  check_all<Lmd>(40);
  AdamW::Config decaying;
  decaying.weight_decay = 0.1;
  CHECK(differences<AdamW>("mxfp8_e4m3", "fp8", stochastic, 37, 60, decaying) == 0);
  for (const auto mode :
       {MAdam::MultMode::exp2, MAdam::MultMode::rho_unsigned, MAdam::MultMode::log1p_capped}) {
    MAdam::Config config;
    config.mult_mode = mode;
    config.exponent_decay = 0.01;
    config.weight_decay = 0.01;
    config.p_scale = 3;
    config.g_e_bound = 2;
    CHECK(differences<MAdam>("bf16", "bf16", stochastic, 37, 60, config) == 0);
  }
}

TEST_CASE("fused step: a thousand steps" * doctest::test_suite("exhaustive")) {
  check_all<Sgd>(1000);
  check_all<Adam>(1000);
  check_all<AdamW>(1000);
  check_all<Madam>(1000);
  check_all<MAdam>(1000);
  check_all<Lmd>(1000);
}

namespace {

/// A run of n elements at odd addresses, with every kind of number; where lanes differ from the one text on floats.
template <class Rule>
std::size_t lane_differences(const RuleKernels& kernels, std::size_t n, const typename Rule::Config& config) {
  constexpr std::size_t weights = Rule::weight_slots.size(), states = Rule::state_slots.size();
  const std::vector<float> special = test::special_gradients<float>();
  const auto numbers = [&](std::uint64_t seed, bool positive) {
    std::vector<float> x(n + 1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double usual = test::log_spread(seed, 1, i, 20);
      x[i] = i % 5 == 2 ? special[(i / 5 + seed) % special.size()]
                        : static_cast<float>(positive ? std::fabs(usual) : usual);
    }
    return x;
  };
  std::array<std::vector<float>, weights> w, g;
  std::array<std::vector<float>, states> old;
  for (std::size_t k = 0; k < weights; ++k)
    w[k] = numbers(10 + k, weights > 1), g[k] = numbers(20 + k, false);
  for (std::size_t k = 0; k < states; ++k)
    old[k] = numbers(30 + k, Rule::state_slots[k].moment == Moment::second);
  struct Results {
    std::array<std::vector<float>, states> state;
    std::array<std::vector<float>, weights> increment, update, wanted, decayed;
  };
  const StepInfo now{3, 1.0, 42};
  const auto decay = static_cast<float>(Rule::decay(config, now));
  const auto run_into = [&](Results& r) {
    RuleRun<Rule, float> run{};
    run.n = n;
    run.decay = decay;
    const auto place = [&](std::vector<float>& numbers_of) {
      numbers_of.assign(n + 2, 7.0f);
      return numbers_of.data() + 1;
    };
    for (std::size_t k = 0; k < weights; ++k) {
      run.w[k] = w[k].data() + 1;
      run.g[k] = g[k].data() + 1;
      run.increment[k] = place(r.increment[k]);
      run.update[k] = place(r.update[k]);
      run.wanted[k] = place(r.wanted[k]);
      run.decayed[k] = place(r.decayed[k]);
    }
    for (std::size_t k = 0; k < states; ++k) run.old[k] = old[k].data() + 1, run.state[k] = place(r.state[k]);
    return run;
  };
  Results lanes, plain;
  const TensorConstants constants{0.7};
  const RuleRun<Rule, float> on_lanes = run_into(lanes), one_by_one = run_into(plain);
  lanes_of_rule<Rule>(kernels)(config, constants, now, on_lanes);
  const auto scalars = Rule::template scalars<float>(config, constants, now);
  for (std::size_t i = 0; i < n; ++i)
    run_rule_at<Rule, true, float>(
        scalars, one_by_one, i, [](const float* from) { return *from; }, [](float x, float* to) { *to = x; });
  std::size_t wrong = 0;
  const auto compare = [&](const auto& a, const auto& b) {
    for (std::size_t k = 0; k < a.size(); ++k)
      for (std::size_t i = 0; i < a[k].size(); ++i) wrong += !same_bits(a[k][i], b[k][i]);
  };
  compare(lanes.state, plain.state), compare(lanes.update, plain.update), compare(lanes.wanted, plain.wanted);
  compare(lanes.increment, plain.increment), compare(lanes.decayed, plain.decayed);
  return wrong;
}

}  // namespace

TEST_CASE(
    "rules on lanes: the bits of the one text on floats, for every instruction set of this CPU, any length") {
  const FpEnvironment environment;
  const auto all = compiled_rule_kernels();
  for (const RuleKernels* kernels : all.subspan(all.size() - supported_lane_kernels().size()))
    for (const std::size_t n : {1u, 2u, 3u, 5u, 8u, 13u, 16u, 31u, 1000u}) {
      AdamW::Config adamw;
      CHECK(lane_differences<AdamW>(*kernels, n, adamw) == 0);
      adamw.weight_decay = 0.1;
      CHECK(lane_differences<AdamW>(*kernels, n, adamw) == 0);
      CHECK(lane_differences<Adam>(*kernels, n, adamw) == 0);
      for (const auto momentum : {Sgd::Momentum::heavy_ball, Sgd::Momentum::nesterov}) {
        Sgd::Config sgd;
        sgd.momentum = momentum;
        CHECK(lane_differences<Sgd>(*kernels, n, sgd) == 0);
        sgd.weight_decay = 0.1;
        CHECK(lane_differences<Sgd>(*kernels, n, sgd) == 0);
        sgd.decay = Sgd::Decay::coupled;
        CHECK(lane_differences<Sgd>(*kernels, n, sgd) == 0);
      }
      CHECK(lane_differences<Madam>(*kernels, n, {}) == 0);
      for (const auto mode : {MAdam::MultMode::relative, MAdam::MultMode::exp2, MAdam::MultMode::rho_unsigned,
                              MAdam::MultMode::log1p_capped}) {
        MAdam::Config config;
        config.mult_mode = mode;
        config.exponent_decay = n % 2 ? 0.01 : 0;
        config.eps_placement = n % 3 ? MAdam::EpsPlacement::added : MAdam::EpsPlacement::floor;
        CHECK(lane_differences<MAdam>(*kernels, n, config) == 0);
      }
      for (const auto regulariser :
           {Lmd::Regulariser::constant, Lmd::Regulariser::kl, Lmd::Regulariser::lie_group}) {
        Lmd::Config config;
        config.regulariser = regulariser;
        config.decay = 0.01;
        CHECK(lane_differences<Lmd>(*kernels, n, config) == 0);
        config.exponent = Lmd::Exponent::seed;
        CHECK(lane_differences<Lmd>(*kernels, n, config) == 0);
      }
    }
}

}  // namespace halfulp

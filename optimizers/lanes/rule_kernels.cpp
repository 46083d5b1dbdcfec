// Compiled once for each instruction set, with its flags: see emulation/lanes/vector.h.
#include "emulation/lanes/vector.h"
#include "optimizers/lanes/rule_lanes.h"

namespace halfulp::HWY_NAMESPACE {

// A step goes through its arrays a tile at a time, so that each of them is read in short runs: the streams that hardware
// follows end before it has found them. Elements; as long as most tiles.
inline constexpr std::size_t one_tile_ahead = 1024;

template <class Rule>
void run_rule(const typename Rule::Config& config, const TensorConstants& constants, const StepInfo& now,
              const RuleRun<Rule, float>& given) noexcept {
  const auto scalars = Rule::template scalars<Floats>(config, constants, now);
  const auto from = [](const float* p) { return load(p); };
  const auto to = [](Floats x, float* p) { store(x, p); };
  const RuleRun<Rule, float> run = given;
  std::size_t i = 0;
  for (; i + lane_count <= run.n; i += lane_count) {
    for (const float* gradient : run.g) __builtin_prefetch(gradient + i + one_tile_ahead);
    for (const float* state : run.old) __builtin_prefetch(state + i + one_tile_ahead);
    run_rule_at<Rule, true, Floats>(scalars, run, i, from, to);
  }
  if (i == run.n) return;

  // The rest, padded with zeros: what comes of those is thrown away.
  constexpr std::size_t arrays =
      6 * RuleRun<Rule, float>::weight_count + 2 * RuleRun<Rule, float>::state_count;
  float padded[arrays][lane_count] = {};
  std::size_t used = 0;
  RuleRun<Rule, float> rest = run;
  const std::size_t count = run.n - i;
  const auto bring = [&](auto& pointers) {
    for (auto& pointer : pointers) {
      for (std::size_t k = 0; k < count; ++k) padded[used][k] = pointer[i + k];
      pointer = padded[used++];
    }
  };
  const auto place = [&](auto& pointers) {
    for (auto& pointer : pointers) pointer = padded[used++];
  };
  bring(rest.w), bring(rest.g), bring(rest.old);
  place(rest.state), place(rest.increment), place(rest.update), place(rest.wanted), place(rest.decayed);
  run_rule_at<Rule, true, Floats>(scalars, rest, 0, from, to);
  const auto take = [&](const auto& results, const auto& pointers) {
    for (std::size_t k = 0; k < pointers.size(); ++k)
      for (std::size_t j = 0; j < count; ++j) pointers[k][i + j] = results[k][j];
  };
  take(rest.state, run.state), take(rest.update, run.update), take(rest.wanted, run.wanted);
  if (run.decay != 0) take(rest.increment, run.increment), take(rest.decayed, run.decayed);
}

template <class Rule>
void make_noise(const typename Rule::Config& config, const TensorConstants& constants, const StepInfo& now,
                const std::uint32_t* bits, float shared, float* factors, std::size_t n) noexcept {
  const auto scalars = Rule::template scalars<Floats>(config, constants, now);
  const auto factor = [&](const std::uint32_t* from) {
    return Rule::noise(scalars, normal_deviate<Floats>(load(from)), Floats(shared));
  };
  std::size_t i = 0;
  for (; i + lane_count <= n; i += lane_count) store(factor(bits + i), factors + i);
  if (i == n) return;
  std::uint32_t rest[lane_count] = {};
  float made[lane_count];
  for (std::size_t k = 0; i + k < n; ++k) rest[k] = bits[i + k];
  store(factor(rest), made);
  for (std::size_t k = 0; i + k < n; ++k) factors[i + k] = made[k];
}

}  // namespace halfulp::HWY_NAMESPACE

namespace halfulp {

extern const RuleKernels HALFULP_OF_TARGET(rule_kernels_);
const RuleKernels HALFULP_OF_TARGET(rule_kernels_) = {
    HWY_NAMESPACE::run_rule<Sgd>,   HWY_NAMESPACE::run_rule<Adam>,  HWY_NAMESPACE::run_rule<AdamW>,
    HWY_NAMESPACE::run_rule<Madam>, HWY_NAMESPACE::run_rule<MAdam>, HWY_NAMESPACE::run_rule<Lmd>,
    HWY_NAMESPACE::make_noise<Lmd>,
};

}  // namespace halfulp

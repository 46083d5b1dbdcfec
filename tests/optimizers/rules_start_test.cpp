// How each rule starts a weight and its states.
#include <doctest/doctest.h>

#include <set>

#include "emulation/random_bits.h"
#include "optimizers/all_rules.h"
#include "optimizers/step.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

constexpr TensorConstants half{0.5};

TEST_CASE("start: rules of a plain weight start at it, states at zero") {
  std::apply(
      [](auto... rule) {
        const auto check = []<class Rule>(Rule) {
          if constexpr (std::is_base_of_v<PlainWeight, Rule> && !std::is_same_v<Rule, IntegerMadam>) {
            CAPTURE(std::string(Rule::name));
            CHECK(Rule::initialize(typename Rule::Config{}, -0.3, half, 7u) == std::array{-0.3});
            for (const double state : initial_state_of<Rule>({}, -0.3, half, 7u)) CHECK(state == 0);
          }
        };
        (check(rule), ...);
      },
      AllRules{});
}

TEST_CASE("lmd: the initial parts are positive and differ by the weight") {
  for (const double rms : {0.0, 1e-3, 1.0})
    for (const double w0 : {0.0, 1e-9, -1e-9, 0.5, -0.5, 100.0, -100.0}) {
      const auto parts = Lmd::initialize({}, w0, {rms}, 0);
      const double s = rms > 0 ? rms : 0.01;
      CHECK(parts[0] > 0);
      CHECK(parts[1] > 0);
      // larger: square, square, sum, root, sum, each relative 2^-53, none cancels; smaller: its reciprocal.
      const double larger = std::max(parts[0], parts[1]);
      CHECK(std::fabs(parts[0] - parts[1] - w0) <= 10 * 0x1p-53 * larger);
      CHECK(std::fabs(parts[0] * parts[1] - s * s / 4) <= 4 * 0x1p-53 * s * s / 4);
    }
}

TEST_CASE("lmd: two_inits are two magnitudes above c, the second a normal deviate of the tensor's rms") {
  const Lmd::Config config{.initial = Lmd::Initial::two_inits, .initial_offset = 0.25};
  const auto one = Lmd::initialize(config, -3, {2}, 0x12345678u);
  CHECK(one[0] == 3.25);
  CHECK(one[1] == 0.25 + 2 * std::fabs(normal_deviate<double>(0x12345678u)));
  CHECK(Lmd::initialize(config, -3, {2}, 0x12345679u)[1] != one[1]);
  CHECK(Lmd::initialize(config, 0, {0}, 0x12345678u) == std::array{0.25, 0.25});

  // Of 4096 elements: E |z| = sqrt(2 / pi) = 0.7979, sd of the mean 0.603 / 64; E z^2 = 1, sd sqrt(2) / 64.
  const RandomStream stream{3, 0, 0, 0, RandomPurpose::initialization, 0};
  double mean = 0, square = 0;
  for (std::uint64_t i = 0; i < 4096; ++i) {
    const double z = (Lmd::initialize(config, 1, {2}, random_bits_32(stream, i))[1] - 0.25) / 2;
    mean += z / 4096;
    square += z * z / 4096;
  }
  CHECK(std::fabs(mean - 0.7979) < 4 * 0.603 / 64);
  CHECK(std::fabs(square - 1) < 4 * std::sqrt(2.0) / 64);
}

TEST_CASE("lmd: under two_inits the weight that a model starts at is not the given one") {
  const TensorInfo info{"w", 0, {64}, 0};
  const std::vector<double> given(64, 0.5);
  const Lmd::Config config{.initial = Lmd::Initial::two_inits};
  const auto start = [&](std::uint64_t seed) {
    const OptimizedTensor<Lmd, double> tensor(info, parse_scheme("fp64").of(info), given, config, seed);
    return tensor.look(config, {1, 1.0, 1}, -1).weights;
  };
  CHECK(start(1) != given);
  CHECK(start(1) == start(1));
  CHECK(start(1) != start(2));
  int negative = 0;
  for (const double w : start(1)) negative += w < 0;
  CHECK(negative > 0);  // 0.5 < 0.5 |z| for 32 % of all z
}

TEST_CASE("integer_madam: random initial levels are uniform over all of them, and the weight waits") {
  const IntegerMadam::Config config{.levels = 8};
  const auto level = [&](std::uint32_t random) {
    return IntegerMadam::initial_state(config, 1, half, random)[0];
  };
  for (std::uint32_t k = 0; k < 8; ++k) {
    CHECK(level(k << 29) == k);
    CHECK(level((k << 29) + 0x1FFFFFFFu) == k);
  }
  CHECK(IntegerMadam::initial_state(config, 1, half, 5u)[1] == 0);
  CHECK(IntegerMadam::initialize(config, 0.125, half, 0xFFFFFFFFu)[0] == 0.125);
  // A number of levels that is no power of two: as many random integers for each, to one of them.
  const IntegerMadam::Config three{.levels = 3};
  CHECK(IntegerMadam::initial_state(three, 1, half, 0x55555555u)[0] == 0);
  CHECK(IntegerMadam::initial_state(three, 1, half, 0x55555556u)[0] == 1);
  CHECK(IntegerMadam::initial_state(three, 1, half, 0xAAAAAAABu)[0] == 2);
}

TEST_CASE("integer_madam: nearest initial levels are the nearest of all, by search") {
  const IntegerMadam::Config config{
      .levels = 40, .base_lr = 0.125, .w_scale = 3, .initial_k = IntegerMadam::InitialK::nearest};
  const auto magnitude = [](int k) { return 1.5 * std::exp(-0.125 * k); };
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const double w0 = 4 * test::log_spread(8, 0, i, 12);
    int best = 0;
    for (int k = 1; k < 40; ++k)
      if (std::fabs(magnitude(k) - std::fabs(w0)) < std::fabs(magnitude(best) - std::fabs(w0))) best = k;
    CHECK(IntegerMadam::initial_state(config, w0, half, 0xFFFFFFFFu)[0] == best);
  }
  CHECK(IntegerMadam::initial_state(config, 0, half, 0)[0] == 39);
  CHECK(IntegerMadam::initial_state(config, 1, {0}, 0)[0] == 39);
  CHECK(IntegerMadam::initial_state(config, 1e300, half, 0)[0] == 0);
}

TEST_CASE("m_adam_workshop: mantissa and exponent of the initial weight, exactly") {
  const auto start = [](double w0) { return MAdamWorkshop::initialize({}, w0, half, 0); };
  CHECK(start(0.75) == std::array{0.75, 0.0});
  CHECK(start(1) == std::array{0.5, 1.0});
  CHECK(start(-6) == std::array{-0.75, 3.0});
  CHECK(start(0x1p-1074) == std::array{0.5, -1073.0});
  CHECK(start(0) == std::array{0.0, 0.0});
  CHECK(std::signbit(start(-0.0)[0]));
  const auto infinite = start(std::numeric_limits<double>::infinity());
  CHECK(infinite == std::array{std::numeric_limits<double>::infinity(), 0.0});

  const TensorInfo info{"w", 0, {5}, 0};
  const std::vector<double> given{0.75, -6, 0, 1.5e-5, 1000};
  const OptimizedTensor<MAdamWorkshop, double> tensor(info, parse_scheme("fp64").of(info), given);
  CHECK(tensor.look({}, {1, 1.0, 1}, -1).weights == given);
}

}  // namespace
}  // namespace halfulp

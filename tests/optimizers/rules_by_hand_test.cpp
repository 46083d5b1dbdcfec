// Steps of the rules worked by hand.
#include <doctest/doctest.h>

#include "optimizers/all_rules.h"
#include "tests/optimizers/one_step.h"

namespace halfulp {
namespace {

using test::OneStep;

TEST_CASE("sgd: the buffer starts as the gradient, undampened") {
  // mu = dampening = 1/2, eta = 1/2: b = 1, then 1/2 + 3/2 = 2, then 1 - 1 = 0.
  OneStep<Sgd> plain{{.eta = 0.5, .mu = 0.5, .dampening = 0.5}};
  CHECK(plain(1.0, 1) == -0.5);
  CHECK(plain(0.5, 3) == -1);
  CHECK(plain(0.5, -2) == 0);
  // Nesterov looks ahead: d = 1 + 1/2, 3 + 1, -2 + 0.
  OneStep<Sgd> ahead{{.eta = 0.5, .mu = 0.5, .dampening = 0.5, .momentum = Sgd::Momentum::nesterov}};
  CHECK(ahead(1.0, 1) == -0.75);
  CHECK(ahead(0.5, 3) == -2);
  CHECK(ahead(0.5, -2) == 1);
}

TEST_CASE("sgd: without momentum dampening does nothing") {
  OneStep<Sgd> sgd{{.eta = 0.5, .mu = 0, .dampening = 0.5}};
  CHECK(sgd(1.0, 1) == -0.5);
  CHECK(sgd(1.0, 1) == -0.5);
}

TEST_CASE("sgd: coupled decay passes through the buffer, decoupled decay does not") {
  OneStep<Sgd> coupled{{.eta = 0.5, .mu = 0.5, .weight_decay = 0.25, .decay = Sgd::Decay::coupled}};
  CHECK(coupled(2.0, 1) == -0.75);   // g' = 1 + 0.25 * 2
  CHECK(coupled(4.0, 1) == -1.375);  // b = 0.75 + 2
  CHECK(Sgd::decay(coupled.config, {1, 1.0, 0}) == 0);
  OneStep<Sgd> decoupled{{.eta = 0.5, .mu = 0.5, .weight_decay = 0.25}};
  CHECK(decoupled(2.0, 1) == -0.5);
  CHECK(Sgd::decay(decoupled.config, {1, 0.5, 0}) == 0.0625);
}

TEST_CASE("adam: coupled decay is normalised with the gradient, decoupled decay is not") {
  // A zero gradient leaves lambda w alone in both moments: at the first step m^ / sqrt(v^) = 1 whatever lambda is.
  for (const double lambda : {1e-4, 1e-2}) {
    OneStep<Adam> adam{{.eta = 1e-3, .eps = 0, .weight_decay = lambda}};
    CHECK(std::fabs(adam(2.0, 0) + 1e-3) < 1e-15);
    CHECK(decltype(adam.state){(1 - 0.9) * (lambda * 2), (1 - 0.999) * (lambda * 2 * (lambda * 2))} ==
          adam.state);
    OneStep<AdamW> adamw{{.eta = 1e-3, .weight_decay = lambda}};
    CHECK(adamw(2.0, 0) == 0);
    CHECK(AdamW::decay(adamw.config, {1, 1.0, 0}) == 1e-3 * lambda);
  }
  CHECK(Adam::decay(Adam::Config{.weight_decay = 1}, {1, 1.0, 0}) == 0);
  // Without decay they are one rule, for an infinite weight and a gradient of -0 as well.
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double w : {1.0, infinite})
    for (const double g : {-0.0, 0.5}) {
      OneStep<Adam> adam{{}};
      OneStep<AdamW> adamw{{}};
      CHECK(adam(w, g) == adamw(w, g));
      CHECK(std::signbit(adam.state[0]) == std::signbit(adamw.state[0]));
    }
}

TEST_CASE("madam: beyond its bound the increment leads to the bound") {
  const Madam::Config config{0.1, 0.999, 10, 3};
  for (const double w : {1.499, 1.2, 0.9, -1.499, -0.9}) {
    const double u = OneStep<Madam>{config}(w, w > 0 ? -1.0 : 1.0);
    CHECK(std::fabs(w + u) <= 1.5);
    if (std::fabs(w) > 1.4) CHECK(w + u == (w > 0 ? 1.5 : -1.5));
  }
}

TEST_CASE("madam: a weight far beyond its bound lands within half its ulp of the bound, then on it") {
  // An outlier: w0 = 100 in a tensor of initial rms 0.1, in float. Where w > 2 w_max the difference w_max - w
  // is rounded (half an ulp of w, 2^-18 below 128); between w_max and 2 w_max it is exact (Sterbenz).
  const auto c = Madam::scalars<float>({}, {0.1}, {1, 1.0, 0});
  std::array<float, 1> state{};
  const float first = 100.0f + update_of<Madam>(c, std::array{100.0f}, std::array{0.0f}, state)[0];
  CHECK(std::fabs(first - c.w_max) <= 0x1p-18f);
  const float second = first + update_of<Madam>(c, std::array{first}, std::array{0.0f}, state)[0];
  CHECK(second == c.w_max);
}

TEST_CASE("nearest_integer: ties to even, whole range, specials") {
  for (const auto& [x, n] : {std::pair{0.5, 0.0},
                             {1.5, 2.0},
                             {2.5, 2.0},
                             {-0.5, 0.0},
                             {-1.5, -2.0},
                             {-2.5, -2.0},
                             {0.49999999999999994, 0.0},
                             {0.5000000000000001, 1.0},
                             {-3.7, -4.0},
                             {7.0, 7.0},
                             {0x1p52 + 1, 0x1p52 + 1},
                             {0x1p61, 0x1p61},
                             {-0x1p62, -0x1p62},
                             {1e300, 1e300}})
    CHECK(nearest_integer(x) == n);
  CHECK_FALSE(std::signbit(nearest_integer(-0.25)));
  const double infinite = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(nearest_integer(infinite) == infinite);
  CHECK(nearest_integer(-infinite) == -infinite);
  CHECK(nearest_integer(nan) != nearest_integer(nan));
  CHECK(nearest_integer(8388607.5f) == 8388608.0f);
  CHECK(nearest_integer(8388606.5f) == 8388606.0f);
}

TEST_CASE("lns_madam: whole steps of 2^(1/128), and none for a gradient below half its root mean square") {
  OneStep<LnsMadam> lns{{.w_scale = 100}};
  const double w = 2 * std::exp2(-1 / 128.0);
  CHECK(std::fabs(2 + lns(2.0, 5) - w) < 1e-15);     // n = 1 at the first step
  CHECK(std::fabs(-2 + lns(-2.0, -5) + w) < 1e-15);  // n = -1
  CHECK(lns(2.0, 2) == 0);                           // v^ is 18: n = 0.47
}

TEST_CASE("lns_madam: the gradient side stagnates by itself, in double") {
  // After 1000 gradients of 1, v^ = 1: gradients of 0.49 give n = 0, of 0.51 n = 1; 1.49 is 1, 1.51 is 2.
  for (const auto& [g, steps] : {std::pair{0.49, 0}, {0.51, 1}, {1.49, 1}, {1.51, 2}}) {
    OneStep<LnsMadam> lns{{.w_scale = 100}};
    for (int t = 0; t < 1000; ++t) lns(1.0, 1);
    CHECK(std::fabs(std::log2(1 + lns(1.0, g)) + steps / 128.0) < 1e-15);
  }
}

TEST_CASE("lns_madam: decay in the natural base makes every gradient step ln 2 times as long") {
  const auto log2_step = [](double lambda, LnsMadam::DecayBase base) {
    return std::log2(1 +
                     OneStep<LnsMadam>{{.w_scale = 100, .weight_decay = lambda, .decay_base = base}}(1.0, 1));
  };
  const double log2_e = 1 / std::log(2.0);
  CHECK(std::fabs(log2_step(0, LnsMadam::DecayBase::natural_base) + 1 / 128.0) < 1e-15);
  CHECK(std::fabs(log2_step(1e-12, LnsMadam::DecayBase::natural_base) + log2_e / 128) < 1e-13);
  CHECK(std::fabs(log2_step(1e-12, LnsMadam::DecayBase::same_base) + 1 / 128.0) < 1e-13);
  CHECK(std::fabs(log2_step(0.5, LnsMadam::DecayBase::natural_base) + 1.5 * log2_e / 128) < 1e-15);
  CHECK(std::fabs(log2_step(0.5, LnsMadam::DecayBase::same_base) + 1.5 / 128) < 1e-15);
}

TEST_CASE("integer_madam: the first step redraws the magnitude, later steps climb whole levels, ends hold") {
  OneStep<IntegerMadam> rule{{.levels = 64, .base_lr = 0.125, .lr_factor = 3, .w_scale = 2}};
  const auto level = [](double k) { return std::exp(-0.125 * k); };  // w_max = 1
  rule.state = {20, 0};
  double w = 0.001;
  w += rule(w, 1);  // n = 1, k = 23
  CHECK(rule.state[0] == 23);
  CHECK(std::fabs(w - level(23)) < 1e-16);
  w += rule(w, -1);  // n = -1 (v^ = 1)
  CHECK(std::fabs(rule.state[0] - 20) < 1e-9);
  CHECK(rule(w, 0.1) == 0);  // 3 n = 0.37: no level
  CHECK(rule.state[0] == 20);
  rule.state[0] = 62;
  rule(w, 1);
  CHECK(rule.state[0] == 63);
  rule.state[0] = 1;
  rule(w, -1);
  CHECK(rule.state[0] == 0);
  // A negative weight climbs with the same sign of descent; a zero has no sign and stays.
  rule.state[0] = 10;
  CHECK(-0.5 + rule(-0.5, -1) < 0);
  CHECK(rule.state[0] > 10);
  CHECK(rule(0.0, -1) == 0);
}

TEST_CASE("m_adam_workshop: without bias correction the first step is 3.2 rates, unless its cap is smaller") {
  const double first = 0.1 / std::sqrt(0.001);
  OneStep<MAdamWorkshop> free{{.eta_m = 1e-3, .eta_e = 2e-3, .eps = 0, .eta_m_max = 1, .eta_e_max = 1}};
  const auto u = free({0.75, 3}, {5, -7});
  CHECK(std::fabs(u[0] + 1e-3 * first) < 1e-16);
  CHECK(std::fabs(u[1] - 2e-3 * first) < 1e-16);
  OneStep<MAdamWorkshop> capped{{.eta_m = 1e-3, .eta_e = 2e-3, .eta_m_max = 2e-3, .eta_e_max = 3e-3}};
  CHECK(capped({0.75, 3}, {5, -7}) == std::array{-2e-3, 3e-3});
}

TEST_CASE("m_adam_workshop: view and gradients of the pair") {
  const auto c = MAdamWorkshop::scalars<double>({}, {0.5}, {1, 1.0, 0});
  const std::array one{1.0, 1.0};
  CHECK(MAdamWorkshop::view(c, {0.75, 3}, one) == 6);
  CHECK(MAdamWorkshop::pull_back(c, {0.75, 3}, one, 2.0)[0] == 16);
  CHECK(std::fabs(MAdamWorkshop::pull_back(c, {0.75, 3}, one, 2.0)[1] - 12 * std::log(2.0)) < 1e-14);
  const auto clamped = MAdamWorkshop::scalars<double>({.w_scale = 4}, {0.5}, {1, 1.0, 0});
  CHECK(MAdamWorkshop::view(clamped, {0.75, 3}, one) == 2);
  CHECK(MAdamWorkshop::view(clamped, {-0.75, 3}, one) == -2);
  CHECK(MAdamWorkshop::view(clamped, {0.75, 1}, one) == 1.5);
}

}  // namespace
}  // namespace halfulp

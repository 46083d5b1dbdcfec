#pragma once
#include "emulation/elementary.h"
#include "emulation/normal.h"
#include "optimizers/rule.h"

namespace halfulp {

/// LMD (Nishida et al. 2026, log-normal multiplicative dynamics), reconstruction:
///   view:   w = m+ e+ - m- e-,  e+- = exp(sigma z+-), z standard normal           log_normal
///                               e+- = exp(sigma z+- + sigma_layer z_tensor+-)     hierarchical
///           then soft_clip threshold, with t = weight_clip: w if |w| <= t, else sign(w) (t + log1p(|w| - t))
///   d = dL/dview, under threshold divided by 1 + (|w| - t) where |w| > t;  U+ = m+ e+ d,  U- = -m- e- d
///                                                          = dL/dlog m, mean over the samples
///   x+- = sign(beta1 v+- + (1 - beta1) U+-)                exponent sign_of_momentum
///   x+- = U+-                                              exponent seed
///   R+- = lambda                                           regulariser constant
///   R+- = (log m+- - log m0) / s0^2,  m0 = prior_median s  regulariser kl; 0 where m = 0
///   R+- = +-delta m+- (m+ - m-) - T                        regulariser lie_group
///   u+- = m+- expm1(-alpha (x+- + R+-));   v+- = beta2 v+- + (1 - beta2) U+-
///   start:  m+- = (hypot(w0, s) +- w0) / 2                 hypot; their difference is w0
///           m+ = |w0| + c,  m- = |w2| + c,  w2 = rms(w0) z two_inits; their difference is not w0
/// with s = rms(w0), 0.01 where that is 0.
/// Stated in public material: the log-normal posterior, weights as a difference of two positive parts, multiplicative
/// update, noise and decay, the sign of the momentum with the regulariser outside it, one vector more than Adam. By
/// the parent algorithm (Lie-group BLR): two_inits from two independent initialisations (here w1 is the given w0
/// and w2 a normal deviate of the same rms), the L2 gradient and the temperature T of lie_group. By a popular
/// article: the exponent seed, w exp(eta g e) there; as written it ascends where w g > 0, hence here per part, with
/// dL/dlog m and the sign of descent (U holds the noise factor); hierarchical noise; soft_clip seed, which rescales
/// all weights to w t / (1e-6 + max |w|), a constant for the gradient: view_scale(). Derived: kl is d/dlog m of
/// KL(logN(log m, s^2) || logN(log m0, s0^2)). Guessed: two betas, the constant form of the decay. Ours: hypot,
/// threshold. The parts never cross zero; their difference can. Under sign_of_momentum |step| is alpha relative to
/// a part, so with nearest_even nothing moves where alpha is below the relative half ulp; under seed it has no
/// bound.
struct Lmd {
  static constexpr std::string_view name = "lmd";
  static constexpr std::array<std::string_view, 2> weight_slots{"m_plus", "m_minus"};
  static constexpr std::array<StateSlot, 2> state_slots{
      {{"v_plus", Moment::first}, {"v_minus", Moment::first}}};

  static constexpr Rounding default_rounding = stochastic;

  enum class Exponent : std::uint8_t { sign_of_momentum, seed };
  static constexpr std::array<std::string_view, 2> exponent_names{"sign_of_momentum", "seed"};
  enum class Regulariser : std::uint8_t { constant, kl, lie_group };
  static constexpr std::array<std::string_view, 3> regulariser_names{"constant", "kl", "lie_group"};
  enum class Noise : std::uint8_t { log_normal, hierarchical };
  static constexpr std::array<std::string_view, 2> noise_names{"log_normal", "hierarchical"};
  enum class Initial : std::uint8_t { hypot, two_inits };
  static constexpr std::array<std::string_view, 2> initial_names{"hypot", "two_inits"};
  enum class SoftClip : std::uint8_t { none, seed, threshold };
  static constexpr std::array<std::string_view, 3> soft_clip_names{"none", "seed", "threshold"};

  struct Config {
    double alpha = 1e-2;
    double beta1 = 0.9, beta2 = 0.99;
    double sigma = 0.1;
    double decay = 0;  ///< lambda
    int samples = 1;
    Exponent exponent = Exponent::sign_of_momentum;
    Regulariser regulariser = Regulariser::constant;
    double prior_median = 0.5, s0 = 1;  ///< of kl; 0.5: where hypot puts the parts of small weights
    double delta = 1, temperature = 0;  ///< of lie_group; T
    Noise noise = Noise::log_normal;
    double sigma_layer = 0.1;
    Initial initial = Initial::hypot;
    double initial_offset = 1e-5;  ///< c of two_inits
    SoftClip soft_clip = SoftClip::none;
    double weight_clip = 3;
  };

  template <class C, class See>
  static void settings(C& c, See&& see) {
    see("alpha", c.alpha, 0.0, 1e6);
    see("beta1", c.beta1, 0.0, below_one);
    see("beta2", c.beta2, 0.0, below_one);
    see("sigma", c.sigma, 0.0, 10.0);
    see("decay", c.decay, 0.0, 1e6);
    see("samples", c.samples, 1, 16);
    see("exponent", c.exponent, exponent_names);
    see("regulariser", c.regulariser, regulariser_names);
    see("prior_median", c.prior_median, 1e-6, 1e6);
    see("s0", c.s0, 1e-6, 1e6);
    see("delta", c.delta, 0.0, 1e6);
    see("temperature", c.temperature, 0.0, 1e6);
    see("noise", c.noise, noise_names);
    see("sigma_layer", c.sigma_layer, 0.0, 10.0);
    see("initial", c.initial, initial_names);
    see("initial_offset", c.initial_offset, 0.0, 1e6);
    see("soft_clip", c.soft_clip, soft_clip_names);
    see("weight_clip", c.weight_clip, 0.0, 1e6);
  }

  template <class R>
  struct Scalars {
    R alpha, beta1, one_minus_beta1, beta2, one_minus_beta2, sigma, sigma_layer, decay;
    R log_m0, prior_precision, delta, temperature, weight_clip;
    Exponent exponent;
    Regulariser regulariser;
    bool clips, shares_noise;
  };

  /// The scale of a tensor's weights.
  static double scale_of(const TensorConstants& tensor) noexcept {
    return tensor.initial_rms > 0 ? tensor.initial_rms : 0.01;
  }

  template <class R>
  static Scalars<R> scalars(const Config& c, const TensorConstants& tensor, const StepInfo& now) {
    return {R(c.alpha * now.schedule),
            R(c.beta1),
            R(1 - c.beta1),
            R(c.beta2),
            R(1 - c.beta2),
            R(c.sigma),
            R(c.noise == Noise::hierarchical ? c.sigma_layer : 0),
            R(c.decay),
            R(elementary::log(c.prior_median * scale_of(tensor))),
            R(1 / (c.s0 * c.s0)),
            R(c.delta),
            R(c.temperature),
            R(c.weight_clip),
            c.exponent,
            c.regulariser,
            c.soft_clip == SoftClip::threshold,
            c.noise == Noise::hierarchical && c.sigma_layer != 0};
  }

  static int samples(const Config& c) noexcept {
    return c.sigma == 0 && (c.noise == Noise::log_normal || c.sigma_layer == 0) ? 0 : c.samples;
  }
  static double decay(const Config&, const StepInfo&) noexcept { return 0; }  // its own is in the exponent
  /// Under seed nobody says: the exponent is the gradient itself.
  static TypicalStep typical_step(const Config& c, const StepInfo& now) noexcept {
    return {0, c.exponent == Exponent::seed ? 0 : c.alpha * now.schedule};
  }

  /// hypot: both parts positive, their difference w0. The smaller part is s^2 / (4 larger): the difference of two
  /// close numbers is never formed.
  static std::array<double, 2> initialize(const Config& c, double w0, const TensorConstants& tensor,
                                          std::uint32_t random) noexcept {
    if (c.initial == Initial::two_inits)
      return {std::fabs(w0) + c.initial_offset,
              std::fabs(tensor.initial_rms * normal_deviate<double>(random)) + c.initial_offset};
    const double s = scale_of(tensor);
    const double larger = (std::sqrt(w0 * w0 + s * s) + std::fabs(w0)) / 2;
    const double smaller = s * s / (4 * larger);
    return w0 < 0 ? std::array{smaller, larger} : std::array{larger, smaller};
  }

  /// What soft_clip seed multiplies every weight of the view by, and its gradient: t / (1e-6 + amax), amax the
  /// largest |weight| of the view; 1 without it. The article then clamps to +-t, which changes nothing but the last
  /// bit of t.
  template <class R>
  static R view_scale(const Config& c, R amax) noexcept {
    return c.soft_clip == SoftClip::seed ? R(c.weight_clip) / (R(1e-6) + amax) : R(1);
  }

  template <class R>
  HALFULP_HD static R noise(const Scalars<R>& c, R z, R z_tensor) noexcept {
    if (!c.shares_noise) return elementary::exp(c.sigma * z);
    return elementary::exp(c.sigma * z + c.sigma_layer * z_tensor);
  }

  template <class R>
  HALFULP_HD static R view(const Scalars<R>& c, const std::array<R, 2>& w,
                           const std::array<R, 2>& e) noexcept {
    const R made = w[0] * e[0] - w[1] * e[1];
    if (!c.clips) return made;
    const R beyond = beyond_clip(c, made);
    return select(beyond > R(0), R(sign_of(made) * (c.weight_clip + elementary::log1p(beyond))), made);
  }

  template <class R>
  HALFULP_HD static std::array<R, 2> pull_back(const Scalars<R>& c, const std::array<R, 2>& w,
                                               const std::array<R, 2>& e, R d) noexcept {
    if (c.clips) {
      const R beyond = beyond_clip(c, R(w[0] * e[0] - w[1] * e[1]));
      d = select(beyond > R(0), R(d / (R(1) + beyond)), d);
    }
    return {w[0] * e[0] * d, -(w[1] * e[1] * d)};
  }

  template <class R>
  HALFULP_HD static std::array<R, 2> advance(const Scalars<R>& c, const std::array<R, 2>&,
                                             const std::array<R, 2>& g,
                                             const std::array<R, 2>& state) noexcept {
    return {c.beta2 * state[0] + c.one_minus_beta2 * g[0], c.beta2 * state[1] + c.one_minus_beta2 * g[1]};
  }

  template <class R>
  HALFULP_HD static std::array<R, 2> increment(const Scalars<R>& c, const std::array<R, 2>& w,
                                               const std::array<R, 2>& g, const std::array<R, 2>& old,
                                               const std::array<R, 2>&) noexcept {
    std::array<R, 2> u{};
    for (int part = 0; part < 2; ++part) {
      const R direction =
          c.exponent == Exponent::seed ? g[part] : sign_of(c.beta1 * old[part] + c.one_minus_beta1 * g[part]);
      u[part] = w[part] * elementary::expm1(-c.alpha * (direction + regulariser(c, w, part)));
    }
    return u;
  }

 private:
  template <class R>
  HALFULP_HD static R beyond_clip(const Scalars<R>& c, R made) noexcept {
    return select(made < R(0), R(-made), made) - c.weight_clip;
  }

  template <class R>
  HALFULP_HD static R regulariser(const Scalars<R>& c, const std::array<R, 2>& w, int part) noexcept {
    if (c.regulariser == Regulariser::constant) return c.decay;
    const R m = w[part];
    if (c.regulariser == Regulariser::kl)
      return select(m == R(0), R(0), R((elementary::log(m) - c.log_m0) * c.prior_precision));
    const R l2 = c.delta * m * (w[0] - w[1]);
    return (part == 0 ? l2 : R(-l2)) - c.temperature;
  }
};

}  // namespace halfulp

#pragma once
#include "optimizers/all_rules.h"
#include "tests/reference/adamw_reference.h"
#include "tests/reference/lmd_reference.h"
#include "tests/reference/m_adam_reference.h"
#include "tests/reference/madam_reference.h"
#include "tests/reference/sgd_reference.h"

namespace halfulp::test {

/// Of the tensor that all cases stand in.
inline constexpr TensorConstants case_constants{0.5};
/// The random integer of its element: 3/4 of the way through all.
inline constexpr std::uint32_t case_random = 0xC0000000u;

/// Calls see(name of the case, rule, config, reference) for every rule and every mode of it. Settings differ from the
/// defaults and from each other, so that no two can be mistaken for one another unnoticed.
template <class R, class See>
void for_each_plain_case(See&& see) {
  see("adamw", AdamW{}, AdamW::Config{2e-3, 0.9, 0.999, 1e-8, 0.1},
      reference::AdamWReference<R>(2e-3, 0.9, 0.999, 1e-8, 0.1));
  see("adamw, beta1 0", AdamW{}, AdamW::Config{2e-3, 0, 0.99, 1e-6, 0},
      reference::AdamWReference<R>(2e-3, 0, 0.99, 1e-6, 0));
  see("adam", Adam{}, Adam::Config{3e-3, 0.8, 0.99, 1e-7, 0.2},
      reference::AdamReference<R>(3e-3, 0.8, 0.99, 1e-7, 0.2));
  see("adam without decay", Adam{}, Adam::Config{}, reference::AdamReference<R>(1e-3, 0.9, 0.999, 1e-8, 0));

  using Sgd_ = reference::SgdReference<R>;
  const auto sgd = [&](const char* name, const Sgd::Config& config, const typename Sgd_::Options& options) {
    see(name, Sgd{}, config, Sgd_(options));
  };
  constexpr auto nesterov = Sgd::Momentum::nesterov;
  constexpr auto coupled = Sgd::Decay::coupled;
  sgd("sgd", {0.3, 0.9, 0.25, 0.1}, {0.3, 0.9, 0.25, 0.1, false, false});
  sgd("sgd coupled", {0.3, 0.9, 0.25, 0.1, {}, coupled}, {0.3, 0.9, 0.25, 0.1, false, true});
  sgd("sgd nesterov", {0.3, 0.9, 0.25, 0.1, nesterov}, {0.3, 0.9, 0.25, 0.1, true, false});
  sgd("sgd nesterov coupled", {0.3, 0.9, 0, 0.1, nesterov, coupled}, {0.3, 0.9, 0, 0.1, true, true});
  sgd("sgd without momentum", {0.3, 0, 0.25, 0.1}, {0.3, 0, 0.25, 0.1, false, false});
  sgd("sgd nesterov without momentum", {0.3, 0, 0.25, 0.1, nesterov}, {0.3, 0, 0.25, 0.1, true, false});

  see("madam", Madam{}, Madam::Config{3e-2, 0.99, 2.5, 3},
      reference::MadamReference<R>(3e-2, 0.99, 2.5, 1.5));
  see("madam of the JAX code", Madam{}, Madam::Config{3e-2, 0.999, 10, 1},
      reference::MadamReference<R>(3e-2, 0.999, 10, 0.5));

  using Lns = reference::LnsMadamReference<R>;
  constexpr auto same_base = LnsMadam::DecayBase::same_base;
  see("lns_madam", LnsMadam{}, LnsMadam::Config{0x1p-5, 0.99, 8, 3, 0}, Lns({0x1p-5, 0.99, 8, 1.5, 0, "2"}));
  see("lns_madam natural_base", LnsMadam{}, LnsMadam::Config{0x1p-5, 0.99, 2.5, 3, 0.1},
      Lns({0x1p-5, 0.99, 2.5, 1.5, 0.1, "e"}));
  see("lns_madam same_base", LnsMadam{}, LnsMadam::Config{0x1p-5, 0.99, 8, 3, 0.1, same_base},
      Lns({0x1p-5, 0.99, 8, 1.5, 0.1, "2"}));

  using Integer = reference::IntegerMadamReference<R>;
  see("integer_madam", IntegerMadam{}, IntegerMadam::Config{64, 0.02, 6, 8, 0.99, 3},
      Integer({64, 0.02, 6, 8, 0.99, 1.5}, 48));

  using MAdam_ = reference::MAdamReference<R>;
  const auto m_adam = [&](const char* name, const MAdam::Config& config,
                          const typename MAdam_::Options& options) {
    see(name, MAdam{}, config, MAdam_(options));
  };
  using Mode = MAdam::MultMode;
  constexpr auto added = MAdam::EpsPlacement::added, floor = MAdam::EpsPlacement::floor;
  m_adam("m_adam", {1e-3, 1e-2, 0.9, 0.999, 1e-8, 1.5, 0.05}, {1e-3, 1e-2, 0.9, 0.999, 1e-8, 1.5, 0.05});
  m_adam("m_adam floor", {1e-3, 1e-2, 0.9, 0.999, 1e-4, 1.5, 0.05, Mode::relative, floor},
         {1e-3, 1e-2, 0.9, 0.999, 1e-4, 1.5, 0.05, "u", true});
  m_adam("m_adam bounded",
         {1e-3, 1e-2, 0.9, 0.999, 1e-8, 3, 0, Mode::relative, added, 0, 0, 0, 0, 0, 0.01, 3},
         {1e-3, 1e-2, 0.9, 0.999, 1e-8, 3, 0, "u", false, 0, 0, 0, 0, 0.01, 1.5});
  m_adam("m_adam exp2", {1e-3, 1e-2, 0.9, 0.999, 1e-8, 1.5, 0.05, Mode::exp2},
         {1e-3, 1e-2, 0.9, 0.999, 1e-8, 1.5, 0.05, "2^u"});
  m_adam("m_adam exp2 with decay of the exponent",
         {1e-3, 1e-2, 0.9, 0.999, 1e-8, 1.5, 0, Mode::exp2, added, 0, 0, 0, 0, 0.5},
         {1e-3, 1e-2, 0.9, 0.999, 1e-8, 1.5, 0, "2^u", false, 0, 0, 0, 0.5});
  m_adam("m_adam rho_unsigned", {1e-3, 1e-2, 0.9, 0.999, 1e-8, 3, 0.05, Mode::rho_unsigned, added, 1e-3},
         {1e-3, 1e-2, 0.9, 0.999, 1e-8, 3, 0.05, "u/w", false, 1e-3});
  m_adam("m_adam rho_unsigned, tau of the tensor",
         {1e-3, 1e-2, 0.9, 0.999, 1e-8, 3, 0, Mode::rho_unsigned, added, 1e-3, 0.1},
         {1e-3, 1e-2, 0.9, 0.999, 1e-8, 3, 0, "u/w", false, 0.05});
  m_adam("m_adam log1p_capped",
         {1e-3, 3e-2, 0.9, 0.999, 1e-8, 20, 0.05, Mode::log1p_capped, floor, 1e-8, 1e-6, 0.75, 0.5, 0.25,
          1e19, 3},
         {1e-3, 3e-2, 0.9, 0.999, 1e-8, 20, 0.05, "log(1 + u/w)", true, 5e-7, 0.75, 0.5, 0.25, 1e19, 1.5});
}

template <class R, class See>
void for_each_case_in_parts(See&& see) {
  using Lmd_ = reference::LmdReference<R>;
  const auto lmd = [&](const char* name, const Lmd::Config& config, const typename Lmd_::Options& options) {
    see(name, Lmd{}, config, Lmd_(options));
  };
  constexpr auto seed = Lmd::Exponent::seed;
  lmd("lmd", {1e-2, 0.9, 0.99, 0.1, 0.25}, {1e-2, 0.9, 0.99, 0.1, 0.25});
  lmd("lmd seed", {3e-2, 0.9, 0.99, 0.2, 0.25, 1, seed}, {3e-2, 0.9, 0.99, 0.2, 0.25, true});
  lmd("lmd kl", {1e-2, 0.9, 0.99, 0.1, 0, 1, {}, Lmd::Regulariser::kl, 0.25, 3},
      {1e-2, 0.9, 0.99, 0.1, 0, false, "prior", elementary::log(0.125), 3});
  lmd("lmd lie_group", {1e-2, 0.9, 0.99, 0.1, 0, 1, seed, Lmd::Regulariser::lie_group, 1, 1, 0.5, 0.03},
      {1e-2, 0.9, 0.99, 0.1, 0, true, "energy", 0, 1, 0.5, 0.03});
  Lmd::Config hierarchical{1e-2, 0.9, 0.99, 0.1, 0.25};
  hierarchical.noise = Lmd::Noise::hierarchical;
  hierarchical.sigma_layer = 0.3;
  lmd("lmd hierarchical", hierarchical, {1e-2, 0.9, 0.99, 0.1, 0.25, false, "constant", 0, 1, 0, 0, 0.3});
  Lmd::Config threshold{1e-2, 0.9, 0.99, 0.1, 0.25};
  threshold.soft_clip = Lmd::SoftClip::threshold;
  threshold.weight_clip = 0.125;
  lmd("lmd threshold", threshold, {1e-2, 0.9, 0.99, 0.1, 0.25, false, "constant", 0, 1, 0, 0, 0, 0.125});

  using Workshop = reference::MAdamWorkshopReference<R>;
  see("m_adam_workshop", MAdamWorkshop{}, MAdamWorkshop::Config{2e-2, 3e-2, 0.9, 0.99, 1e-8, 1e-2, 2e-2},
      Workshop({2e-2, 3e-2, 0.9, 0.99, 1e-8, 1e-2, 2e-2}));
  see("m_adam_workshop clamped", MAdamWorkshop{},
      MAdamWorkshop::Config{2e-2, 3e-2, 0.9, 0.99, 1e-8, 1, 1, 0.5},
      Workshop({2e-2, 3e-2, 0.9, 0.99, 1e-8, 1, 1, 0.25}));
}

template <class R, class See>
void for_each_case(See&& see) {
  for_each_plain_case<R>(see);
  for_each_case_in_parts<R>(see);
}

}  // namespace halfulp::test

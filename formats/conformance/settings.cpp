#include "formats/conformance/settings.h"

namespace halfulp {
namespace {

/// The settings of one switch, other than its plain one, put on top of each of `plain`.
using Setting = void (*)(SpecialValues&);

const std::vector<std::vector<Setting>>& switches() {
  static const std::vector<std::vector<Setting>> all{
      {[](SpecialValues& s) { s.nan_without_code = NanWithoutCode::max_finite_positive; },
       [](SpecialValues& s) { s.nan_without_code = NanWithoutCode::zero; },
       [](SpecialValues& s) { s.nan_without_code = NanWithoutCode::negative_zero; }},
      {[](SpecialValues& s) { s.nan_sign = NanSign::drop; }},
      {[](SpecialValues& s) { s.symmetric_fixed_point = true; }},
      {[](SpecialValues& s) { s.nan_payload = NanPayload::keep_top; }},
      {[](SpecialValues& s) { s.negative_zero = NegativeZero::drop_source; },
       [](SpecialValues& s) { s.negative_zero = NegativeZero::drop; }},
      {[](SpecialValues& s) { s.subnormals = Subnormals::flush_results; },
       [](SpecialValues& s) { s.subnormals = Subnormals::flush_sources; }},
      {[](SpecialValues& s) { s.zero_without_code = ZeroWithoutCode::nan; }},
      {[](SpecialValues& s) { s.negative_in_unsigned = NegativeInUnsigned::zero; },
       [](SpecialValues& s) { s.negative_in_unsigned = NegativeInUnsigned::magnitude; }}};
  return all;
}

}  // namespace

std::vector<Rounding> deterministic_roundings() {
  std::vector<Rounding> all;
  for (const NamedRoundingMode& named : all_rounding_modes)
    if (!is_stochastic(named.mode)) all.push_back({named.mode, 0});
  return all;
}

std::vector<Rounding> stochastic_roundings() {
  std::vector<Rounding> all;
  for (const NamedRoundingMode& named : all_rounding_modes) {
    if (!is_stochastic(named.mode)) continue;
    for (const int bits : {1, 3, 8, 16, 32})
      if (bits == 1 || named.mode != RoundingMode::stochastic_equal) all.push_back({named.mode, bits});
  }
  return all;
}

std::vector<Rounding> all_roundings() {
  std::vector<Rounding> all = deterministic_roundings();
  for (const Rounding& rounding : stochastic_roundings()) all.push_back(rounding);
  return all;
}

std::vector<SpecialValues> all_policies() {
  std::vector<SpecialValues> all;
  for (const NamedOverflowPolicy& named : all_overflow_policies) all.push_back(special_values(named.policy));
  return all;
}

std::vector<SpecialValues> all_special_values() {
  std::vector<SpecialValues> all = all_policies();
  for (const SpecialValues& plain : all_policies()) {
    const bool in_pairs = plain.overflow == OverflowPolicy::saturate || plain.overflow == OverflowPolicy::ocp;
    for (std::size_t i = 0; i < switches().size(); ++i)
      for (const Setting first : switches()[i]) {
        SpecialValues one = plain;
        first(one);
        all.push_back(one);
        for (std::size_t j = i + 1; in_pairs && j < switches().size(); ++j)
          for (const Setting second : switches()[j]) {
            SpecialValues two = one;
            second(two);
            all.push_back(two);
          }
      }
  }
  return all;
}

}  // namespace halfulp

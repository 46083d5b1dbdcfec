#include "formats/conformance/conformance.h"

#include "formats/conformance/properties.h"
#include "formats/error.h"
#include "formats/spec.h"
#include "formats/spec/descriptor_checks.h"

namespace halfulp {

ConformanceReport check_conformance(const ScalarFormat& format, const Conversion& conversion,
                                    const ConformanceOptions& options) {
  if (const auto refusal = refusal_of(format))
    throw Error("check " + conversion.name, refusal->problem, to_spec(unscaled(format)), refusal->allowed);
  using namespace conformance;
  const Subject subject(format, conversion, options);
  const std::vector<Gap> gaps = gaps_of(subject.oracle());
  using Check = std::function<PropertyReport()>;
  const std::vector<Check> checks{[&] { return check_decode(subject); },
                                  [&] { return check_order(subject); },
                                  [&] { return check_round_trip(subject); },
                                  [&] { return check_nearest(subject, gaps); },
                                  [&] { return check_directed(subject, gaps); },
                                  [&] { return check_single_rounding(subject, gaps); },
                                  [&] { return check_sign_symmetry(subject, gaps); },
                                  [&] { return check_overflow(subject); },
                                  [&] { return check_special_values(subject); },
                                  [&] { return check_stochastic_probability(subject, gaps); },
                                  [&] { return check_oracle(subject, gaps); }};
  ConformanceReport report{conversion.name};
  for (const Check& check : checks) {
    report.properties.push_back(check());
    if (options.progress) options.progress(report.properties.size(), checks.size());
  }
  return report;
}

ConformanceReport check_conformance(const BlockFormat& format, const std::string& name,
                                    const ConformanceOptions& options) {
  if (format.has_scale()) return check_block_conformance(format, block_conversion_of(format, name), options);
  return check_conformance(format.element, conversion_of(format.element, name), options);
}

ConformanceReport check_conformance(const ScalarFormat& format, const ConformanceOptions& options) {
  return check_conformance(format, conversion_of(format, to_spec(unscaled(format))), options);
}

ConformanceReport check_conformance(std::string_view spec, const ConformanceOptions& options) {
  const BlockFormat format = parse_format(spec);
  return check_conformance(format, to_spec(format), options);
}

}  // namespace halfulp

#include "formats/conformance/block_subject.h"
#include "formats/conformance/conformance.h"
#include "formats/error.h"
#include "formats/spec.h"
#include "formats/spec/descriptor_checks.h"

namespace halfulp {

ConformanceReport check_block_conformance(const BlockFormat& format, const BlockConversion& conversion,
                                          const ConformanceOptions& options) {
  if (const auto refusal = refusal_of(format))
    throw Error("check " + conversion.name, refusal->problem, to_spec(format), refusal->allowed);
  ConformanceReport report = check_conformance(format.element, conversion.element, options);
  report.format = conversion.name;
  for (PropertyReport& property : report.properties) property.name = "element " + property.name;

  using namespace conformance;
  const oracle::BlockOracle oracle(format);
  const Subject element(format.element, conversion.element, options);
  const BlockSubject subject{oracle, conversion, element};
  for (const auto check : {check_block_scale, check_block_conventions, check_block_elements,
                           check_block_decode, check_block_round_trip, check_short_block, check_tensor_scale})
    report.properties.push_back(check(subject));
  return report;
}

}  // namespace halfulp

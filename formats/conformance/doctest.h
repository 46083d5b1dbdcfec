#pragma once
#include <doctest/doctest.h>

#include "formats/conformance/conformance.h"

namespace halfulp {

/// One failed check of doctest for every property that does not hold, with its counter-examples.
inline void report_to_doctest(const ConformanceReport& report, const char* file, int line) {
  for (const PropertyReport& property : report.properties)
    if (!property.holds()) {
      const std::string text = report.format + ": " + failure_text(property);
      DOCTEST_ADD_FAIL_CHECK_AT(file, line, text);
    }
}

}  // namespace halfulp

/// A format, in one line of a test:
///   TEST_CASE("my format") { HALFULP_CHECK_FORMAT("e3m4{bias=5}"); }
/// It takes what check_conformance() takes: a spec or a ScalarFormat, or a format with a conversion of one's
/// own, and options.
#define HALFULP_CHECK_FORMAT(...)                                                                  \
  do {                                                                                             \
    const ::halfulp::ConformanceReport halfulp_report = ::halfulp::check_conformance(__VA_ARGS__); \
    ::halfulp::report_to_doctest(halfulp_report, __FILE__, __LINE__);                              \
    DOCTEST_CHECK(halfulp_report.holds());                                                         \
  } while (false)

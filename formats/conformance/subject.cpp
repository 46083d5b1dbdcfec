#include "formats/conformance/subject.h"

#include <algorithm>
#include <cstdio>

#include "formats/conformance/exact_number.h"
#include "formats/conformance/settings.h"
#include "formats/special_values.h"

namespace halfulp::conformance {
namespace {

/// Modes and random bits that are counted where nothing else is asked.
std::vector<Rounding> usual_counts() {
  std::vector<Rounding> all;
  for (const NamedRoundingMode& named : all_rounding_modes) {
    if (!is_stochastic(named.mode)) continue;
    for (const int bits : {1, 2, 3, 4, 8, 12})
      if (bits == 1 || named.mode != RoundingMode::stochastic_equal) all.push_back({named.mode, bits});
  }
  return all;
}

}  // namespace

Subject::Subject(const ScalarFormat& format, const Conversion& conversion, const ConformanceOptions& options)
    : conversion_(conversion), options_(options), oracle_(format) {
  for (const Rounding& rounding : options.roundings.empty() ? all_roundings() : options.roundings)
    (is_stochastic(rounding.mode) ? stochastic_ : deterministic_).push_back(rounding);
  if (options.roundings.empty()) {
    countable_ = usual_counts();
  } else {
    for (const Rounding& rounding : stochastic_)
      if (rounding.random_bits <= 16) countable_.push_back(rounding);
  }
  specials_ = options.specials.empty() ? all_special_values() : options.specials;
  for (const SpecialValues& special : specials_) {
    const SpecialValues policy = special_values(special.overflow);
    if (std::find(policies_.begin(), policies_.end(), policy) == policies_.end()) policies_.push_back(policy);
  }
}

std::optional<Point> Subject::point(const Dyadic& x) const {
  if (const auto value = as_double(x)) return Point{x, *value, true};
  if (conversion_.convert_wide == nullptr) return std::nullopt;
  return Point{x, 0, false};
}

Point Subject::point(double x) const { return {exact_number(x), x, true}; }

Dyadic Subject::number(std::uint32_t code) const {
  if (format().has_double_view()) return exact_number(conversion_.decode(code));
  return conversion_.decode_wide != nullptr ? conversion_.decode_wide(code) : oracle::number(format(), code);
}

std::string hex_code(std::uint32_t code, int bits) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%0*x", (bits + 3) / 4, code);
  return text;
}

std::string interval_text(const oracle::Bracket& b, bool has_midpoint) {
  if (compare(b.inner, b.outer) == 0) return "";
  const bool ascends = compare(b.inner, b.outer) < 0;
  const Dyadic &low = ascends ? b.inner : b.outer, &high = ascends ? b.outer : b.inner;
  const std::string middle = has_midpoint ? text_of(times_power(sum(high, low), -1)) + ", " : "";
  return text_of(low) + ", " + middle + text_of(high);
}

std::string setting_text(Rounding rounding, const SpecialValues& special, std::uint32_t random) {
  std::string text = to_string(rounding);
  if (is_stochastic(rounding.mode)) text += " r=" + std::to_string(random);
  return text + ", " + to_string(special);
}

std::string Tally::code_text(std::uint32_t code) const {
  const ScalarFormat& f = subject_.format();
  const std::string hex = hex_code(code, f.bits());
  return code < f.code_count() ? hex + " = " + text_of(oracle::number(f, code)) : hex + ", no code";
}

void Tally::expect_code(bool holds, std::uint32_t code, const std::string& setting, const std::string& got,
                        const std::string& expected) {
  ++report_.cases;
  if (holds) return;
  ++report_.failures;
  if (wants_text()) report_.examples.push_back({"code " + code_text(code), "", setting, got, expected});
}

void Tally::different(const Point& x, Rounding rounding, const SpecialValues& special, std::uint32_t random,
                      const std::string& got, const std::string& expected) {
  ++report_.failures;
  if (!wants_text()) return;
  // In tables the midpoint may need more bits than there are; the neighbours then say enough.
  const std::string interval = x.exact.kind == NumberClass::finite
                                   ? interval_text(subject_.bracket(x), !subject_.format().is_table())
                                   : "";
  report_.examples.push_back(
      {"x = " + text_of(x.exact), interval, setting_text(rounding, special, random), got, expected});
}

PropertyReport Tally::result() const {
  PropertyReport report = report_;
  if (report.cases == 0) report.coverage = Coverage::not_applicable;
  return report;
}

}  // namespace halfulp::conformance

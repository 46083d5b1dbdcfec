// Properties of codes: what they decode to, their order, and that they come back.
#include <random>

#include "formats/conformance/exact_number.h"
#include "formats/conformance/properties.h"

namespace halfulp::conformance {
namespace {

/// All codes of at most 16 bits; of wider formats the ends of every field and random ones.
std::vector<std::uint32_t> codes_of(const ScalarFormat& f) {
  std::vector<std::uint32_t> codes;
  if (f.bits() <= 16) {
    for (std::uint32_t code = 0; code < f.code_count(); ++code) codes.push_back(code);
    return codes;
  }
  std::mt19937 random(2718);
  const auto mask = static_cast<std::uint32_t>(f.code_count() - 1);
  const std::uint32_t field = std::uint32_t{1} << f.fraction_bits;
  for (std::uint64_t first = 0; first < f.code_count(); first += (f.code_count() / field / 600 + 1) * field)
    for (const std::uint32_t fraction : {0u, 1u, field / 2, field - 1})
      codes.push_back(static_cast<std::uint32_t>(first) | fraction);
  for (int i = 0; i < 50000; ++i) codes.push_back(static_cast<std::uint32_t>(random()) & mask);
  return codes;
}

const char* codes_text(const ScalarFormat& f) {
  return f.bits() <= 16 ? "every code" : "the ends of every binade, and random codes";
}

Coverage code_coverage(const Subject& subject) {
  return subject.format().bits() <= 16 ? Coverage::exhaustive : Coverage::sampled;
}

/// Whether a code is another name of zero: an exponent field of 0 without subnormals, its fraction not 0.
bool is_alias(const ScalarFormat& f, std::uint32_t code, const Dyadic& number) {
  return !f.is_table() && !f.has_subnormals && is_zero(number) &&
         (code & ((std::uint32_t{1} << f.fraction_bits) - 1)) != 0;
}

}  // namespace

PropertyReport check_decode(const Subject& subject) {
  const ScalarFormat& f = subject.format();
  Tally tally(subject, "decode", code_coverage(subject), codes_text(f));
  for (const std::uint32_t code : codes_of(f)) {
    const Dyadic got = subject.number(code), expected = oracle::number(f, code);
    const bool same = is_same_number(got, expected);
    tally.expect_code(same, code, "decoded", same ? "" : text_of(got), same ? "" : text_of(expected));
  }
  return tally.result();
}

PropertyReport check_order(const Subject& subject) {
  const ScalarFormat& f = subject.format();
  Tally tally(subject, "order", code_coverage(subject), std::string(codes_text(f)) + " and the next");
  const std::uint32_t sign =
      f.is_signed && !f.is_table() ? std::uint32_t{1} << (f.exponent_bits + f.fraction_bits) : 0;
  for (const std::uint32_t code : codes_of(f)) {
    const std::uint64_t next = std::uint64_t{code} + 1;
    // Neither the first negative code nor the end has a neighbour on its side.
    if (next >= f.code_count() || next == sign) continue;
    const Dyadic low = subject.number(code), high = subject.number(static_cast<std::uint32_t>(next));
    if (low.kind == NumberClass::not_a_number || high.kind == NumberClass::not_a_number) continue;
    const bool falls = sign != 0 && code >= sign && !f.is_fixed_point;
    bool ascends = false;
    if (high.kind == NumberClass::infinite)
      ascends = low.kind == NumberClass::finite && high.negative == falls;
    else if (low.kind == NumberClass::finite)
      ascends = falls ? compare(low, high) > 0 : compare(low, high) < 0;
    // Without subnormals the codes below the first normal number are all zero, in the format itself.
    const bool both_zero =
        is_alias(f, static_cast<std::uint32_t>(next), oracle::number(f, static_cast<std::uint32_t>(next)));
    const bool holds = both_zero ? is_zero(low) && is_zero(high) : ascends;
    if (holds) {
      tally.expect_code(true, code, "", "", "");
      continue;
    }
    const std::string beside = "next code " + hex_code(static_cast<std::uint32_t>(next), f.bits());
    tally.expect_code(false, code, "decoded", text_of(low) + " before " + text_of(high) + " of the " + beside,
                      falls ? "descending numbers" : "ascending numbers");
  }
  return tally.result();
}

PropertyReport check_round_trip(const Subject& subject) {
  const ScalarFormat& f = subject.format();
  Tally tally(subject, "round_trip", code_coverage(subject),
              std::string(codes_text(f)) + ", decoded and converted in every mode");
  std::vector<Rounding> roundings = subject.deterministic();
  for (const Rounding& rounding : subject.stochastic()) roundings.push_back(rounding);
  for (const std::uint32_t code : codes_of(f)) {
    const Dyadic defined = oracle::number(f, code), read = subject.number(code);
    const std::uint32_t sign_of_zero = code & ~((std::uint32_t{1} << f.fraction_bits) - 1);
    const std::uint32_t expected = is_alias(f, code, defined) ? sign_of_zero : code;
    if (defined.kind == NumberClass::not_a_number) {
      // Any NaN code will do: payloads and signs are a matter of switches.
      const bool stays = read.kind == NumberClass::not_a_number;
      const std::uint32_t back =
          stays && !roundings.empty()
              ? subject.code(subject.point(as_double(read).value()), roundings.front(), subject.plain(), 0)
              : code;
      const bool holds = stays && oracle::number(f, back).kind == NumberClass::not_a_number;
      tally.expect_code(holds, code, "", holds ? "" : text_of(read) + ", then " + tally.code_text(back),
                        "NaN");
      continue;
    }
    const std::optional<Point> point = subject.point(read);
    if (!point) continue;
    if (read.kind == NumberClass::infinite) {
      // Only some policies let infinity be.
      for (const SpecialValues& policy : subject.policies())
        if (policy.overflow == OverflowPolicy::ieee || policy.overflow == OverflowPolicy::ocp)
          for (const Rounding& rounding : roundings)
            tally.same(*point, rounding, policy, 0, subject.code(*point, rounding, policy, 0), expected);
      continue;
    }
    for (const Rounding& rounding : roundings) {
      const auto last = static_cast<std::uint32_t>(
          (std::uint64_t{1} << (is_stochastic(rounding.mode) ? rounding.random_bits : 0)) - 1);
      for (const std::uint32_t random : {0u, last}) {
        tally.same(*point, rounding, subject.plain(), random,
                   subject.code(*point, rounding, subject.plain(), random), expected);
        if (last == 0) break;
      }
    }
  }
  return tally.result();
}

}  // namespace halfulp::conformance

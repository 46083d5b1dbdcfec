#include "analysis/gap.h"

#include <doctest/doctest.h>

#include "formats/catalog.h"
#include "formats/encode.h"
#include "formats/error.h"
#include "formats/p3109.h"
#include "formats/spec.h"
#include "formats/value_table.h"
#include "tests/analysis/small_formats.h"

using namespace halfulp;
using halfulp::test::magnitudes_by_codes;
using halfulp::test::small_formats;

TEST_CASE("gap e2m1: three stretches worked by hand") {
  const std::vector<GapStretch> expected{{0, 2, 0.5}, {2, 4, 1}, {4, 6, 2}};
  CHECK(gap_stretches(e2m1, 1) == expected);
}

TEST_CASE("gap e2m1: a scale multiplies magnitudes and gaps") {
  const std::vector<GapStretch> expected{{0, 0.5, 0.125}, {0.5, 1, 0.25}, {1, 1.5, 0.5}};
  CHECK(gap_stretches(e2m1, 0.25) == expected);
}

TEST_CASE("gap: formats without fraction bits, zero, subnormals or exponent") {
  CHECK(gap_stretches(e3m0, 1).front() == GapStretch{0, 0.5, 0.25});
  CHECK(gap_stretches(e3m0, 1).back() == GapStretch{8, 16, 8});
  CHECK(gap_stretches(e8m0, 1).front() == GapStretch{0x1p-127, 0x1p-126, 0x1p-127});
  CHECK(gap_stretches(e8m0, 1).back() == GapStretch{0x1p126, 0x1p127, 0x1p126});
  CHECK(gap_stretches(int8, 1) == std::vector<GapStretch>{{0, 127.0 / 64, 1.0 / 64}});
  ScalarFormat flushing = e2m1;
  flushing.has_subnormals = false;
  CHECK(gap_stretches(flushing, 1).front() == GapStretch{0, 1, 1});
  CHECK(gap_stretches(flushing, 1)[1] == GapStretch{1, 2, 0.5});
}

TEST_CASE("gap: every small format's stretches are the distances of neighbouring numbers, on both sides") {
  for (const auto& [name, f] : small_formats())
    for (const Side side : {Side::positive, Side::negative}) {
      const std::vector<double> numbers = magnitudes_by_codes(f, side);
      const std::vector<GapStretch> stretches = gap_stretches(f, 1, side);
      INFO(name, " ", static_cast<int>(side));
      if (numbers.size() < 2) {
        CHECK(stretches.empty());
        continue;
      }
      CHECK(stretches.front().from == numbers.front());
      CHECK(stretches.back().to == numbers.back());
      std::size_t at = 0;  // the stretch that holds the number: both lists ascend
      for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
        while (stretches[at].to <= numbers[i]) ++at;
        INFO(numbers[i]);
        REQUIRE(stretches[at].from <= numbers[i]);
        REQUIRE(stretches[at].gap == numbers[i + 1] - numbers[i]);
      }
      CHECK(at + 1 == stretches.size());
      for (std::size_t i = 1; i < stretches.size(); ++i) REQUIRE(stretches[i - 1].gap != stretches[i].gap);
      CHECK(gap_above(stretches, numbers.front()) == numbers[1] - numbers[0]);
      CHECK(gap_above(stretches, numbers.back()) == 0);
    }
}

TEST_CASE("gap: a table whose sides differ has two, a mirrored one has one") {
  const GapSubject skewed{"t", table_format({-4, -1, 0, 1, 2, 4}, "skewed"), 0.5};
  const std::vector<GapSubject> sides = sides_of(skewed);
  REQUIRE(sides.size() == 2);
  CHECK(sides[1].name == "t negative");
  CHECK(sides[1].largest() == 2);
  CHECK(gap_stretches(sides[0].element, 0.5, sides[0].side) ==
        std::vector<GapStretch>{{0, 1, 0.5}, {1, 2, 1}});
  CHECK(gap_stretches(sides[1].element, 0.5, sides[1].side) ==
        std::vector<GapStretch>{{0, 0.5, 0.5}, {0.5, 2, 1.5}});
  CHECK(sides_of({"m", table_format({-2, -1, 0, 1, 2}, "mirrored"), 1}).size() == 1);
  CHECK(sides_of({"p", table_format({0, 1, 2}, "positive"), 1}).size() == 1);
  CHECK(sides_of({"lns", lns_format(8, 8), 1}).size() == 1);
  CHECK(sides_of({"int8", int8, 1}).size() == 1);
}

TEST_CASE("gap: what an additive update freezes is what conversion gives back unchanged") {
  // Sums of these numbers and updates are exact, so that w + u is rounded once.
  std::vector<std::pair<std::string, ScalarFormat>> formats{
      {"skewed", table_format({-4, -2.5, -1, 0, 0.5, 2, 4, 4.25}, "skewed8")},
      {"no zero", table_format({-3, -1, 2, 5}, "no zero")},
      {"lns", lns_format(6, 1)}};
  for (const NamedScalarFormat& known : all_scalar_formats)
    if (known.format.bits() <= 8 && known.format.has_zero) formats.emplace_back(known.name, known.format);
  for (const auto& [name, f] : formats)
    for (const Side side : {Side::positive, Side::negative}) {
      if (side == Side::negative && !f.is_table()) continue;
      for (const double update : {0x1p-12, 0x1p-3, 0.25, 0.3125, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 40.0}) {
        double moved = 0;
        for (const double magnitude : magnitudes_by_codes(f, side)) {
          const double w = side == Side::positive ? magnitude : -magnitude;
          const auto stored = [&](double x) {
            return decode(f, convert(x, f, nearest_even, special_values(OverflowPolicy::saturate), 0));
          };
          if (stored(w + update) != w || stored(w - update) != w) moved = std::max(moved, magnitude);
        }
        INFO(name, " ", static_cast<int>(side), " ", update);
        CHECK(frozen_above({name, f, 1, side}, update) == moved);
        CHECK(frozen_above({name, f, 0.25, side}, update / 4) == moved / 4);
      }
    }
}

TEST_CASE("update size: additive, relative and both") {
  CHECK(parse_update("adamw=1e-3").at(5) == 1e-3);
  CHECK(parse_update("madam=0.25").at(8) == 2);
  CHECK(parse_update("m+adam=0.5,0.25").at(8) == 2.5);
  CHECK(parse_update("lmd=0.5").additive == 0);
}

TEST_CASE("update size: what is not a rule with positive rates is refused") {
  for (const char* text : {"", "adamw", "adamw=", "adamw=0", "adamw=-1", "adamw=nan", "adamw=inf", "adamw=1x",
                           "adamx=1", "m+adam=1", "m+adam=1,", "m+adam=1,2,3", "madam=1,2"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_update(text), Error);
  }
}

TEST_CASE("gap subject: a block format stands under the scale of its own rule") {
  CHECK(gap_subject("bf16", parse_format("bf16"), 3).scale == 1);
  // floor(log2 1) - 2: elements up to 6/4
  CHECK(gap_subject("mxfp4", parse_format("mxfp4"), 1).scale == 0.25);
  // the tensor's largest block gets the largest scale: 6 * 448 * t = amax within the rounding of t
  CHECK(gap_subject("nvfp4", parse_format("nvfp4"), 2688).scale == 448);
  CHECK_THROWS_AS(gap_subject("fp8_tensor", parse_format("fp8_tensor"), 1e-300), Error);
}

TEST_CASE("gap subject: a format beyond double's range is refused by name") {
  try {
    gap_subject("binary16p1se", unscaled(p3109(16, 1, true, true)), 1);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("binary16p1se") != std::string::npos);
  }
  CHECK(gap_subject("binary8p3se", unscaled(p3109(8, 3, true, true)), 1).scale == 1);
  // 2^900 times the scale 2^127 is no double
  BlockFormat wide = parse_format("mxfp4");
  wide.element = table_format({0, 0x1p-900, 0x1p900}, "wide");
  wide.rule = ScaleRule::p3109_maxabs;
  CHECK_THROWS_AS(gap_subject("wide", wide, 0x1p127), Error);
}

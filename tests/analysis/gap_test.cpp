#include "analysis/gap.h"

#include <doctest/doctest.h>

#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/spec.h"

using namespace halfulp;

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

TEST_CASE("gap: every small format's stretches agree with the distance of neighbouring codes") {
  for (const NamedScalarFormat& known : all_scalar_formats) {
    const ScalarFormat& f = known.format;
    if (f.bits() > 16) continue;
    const std::vector<GapStretch> stretches = gap_stretches(f, 1);
    for (std::uint32_t code = 0; code < f.top_magnitude(); ++code) {
      INFO(known.name, " code ", code);
      REQUIRE(gap_above(stretches, f.magnitude_value(code)) ==
              f.magnitude_value(code + 1) - f.magnitude_value(code));
    }
    CHECK(gap_above(stretches, f.max_finite()) == 0);
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

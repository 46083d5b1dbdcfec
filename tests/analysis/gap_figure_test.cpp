#include "analysis/gap_figure.h"

#include <doctest/doctest.h>

#include "formats/catalog.h"
#include "formats/error.h"

using namespace halfulp;

namespace {

const Series& series_named(const Figure& figure, const std::string& label) {
  for (const Series& series : figure.series)
    if (series.label == label) return series;
  FAIL("no series " << label);
  return figure.series.front();
}

}  // namespace

TEST_CASE("gap figure: half gaps are steps with corners at the binades, cut at the range") {
  const Figure figure = gap_figure({{"e2m1", e2m1, 1}}, {}, {1, 5});
  const Series& half = series_named(figure, "e2m1 half gap");
  CHECK(half.x == std::vector<double>{1, 2, 2, 4, 4, 5});
  CHECK(half.y == std::vector<double>{0.25, 0.25, 0.5, 0.5, 1, 1});
  CHECK(series_named(figure, "e2m1 gap").y == std::vector<double>{0.5, 0.5, 1, 1, 2, 2});
}

TEST_CASE("gap figure: update lines and the point where an additive update freezes") {
  const Figure figure =
      gap_figure({{"bf16", bf16, 1}}, {parse_update("adamw=1e-3"), parse_update("madam=0.5")}, {0.25, 1});
  CHECK(series_named(figure, "adamw 0.001 update").y == std::vector<double>{1e-3, 1e-3});
  CHECK(series_named(figure, "madam 0.5 update").y == std::vector<double>{0.125, 0.5});
  const Series& frozen = series_named(figure, "bf16: adamw 0.001 frozen above 0.5");
  CHECK(frozen.x == std::vector<double>{0.5});
  CHECK(frozen.y == std::vector<double>{1e-3});
}

TEST_CASE(
    "gap figure: an update that moves nothing is marked at the edge, one that moves everything is not") {
  CHECK(series_named(gap_figure({{"e2m1", e2m1, 1}}, {parse_update("adamw=0.1")}, {0.125, 8}),
                     "e2m1: adamw 0.1 frozen everywhere")
            .x == std::vector<double>{0.125});
  CHECK(gap_figure({{"e2m1", e2m1, 1}}, {parse_update("adamw=4")}, {0.125, 8}).series.size() == 3);
}

TEST_CASE("gap figure: empty ranges and repeated names are refused") {
  const GapSubject subject{"e2m1", e2m1, 1};
  const UpdateSize update = parse_update("adamw=1");
  CHECK_THROWS_AS(gap_figure({subject}, {}, {1, 1}), Error);
  CHECK_THROWS_AS(gap_figure({subject}, {}, {0, 1}), Error);
  CHECK_THROWS_AS(gap_figure({subject, subject}, {}, {1, 2}), Error);
  CHECK_THROWS_AS(gap_figure({subject}, {update, update}, {1, 2}), Error);
}

TEST_CASE("gap figure: the default range shows a small format whole and cuts a large one") {
  CHECK(default_range({{"e2m1", e2m1, 1}}).from == 0.125);
  CHECK(default_range({{"e2m1", e2m1, 1}}).to == 8);
  CHECK(default_range({{"bf16", bf16, 1}}).from == 0x1p-20);
  CHECK(default_range({{"bf16", bf16, 1}}).to == 0x1p10);
}

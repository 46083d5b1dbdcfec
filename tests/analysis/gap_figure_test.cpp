#include "analysis/gap_figure.h"

#include <doctest/doctest.h>

#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/value_table.h"

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

TEST_CASE("gap figure: the negative side of a table has lines of its own where it differs") {
  const GapSubject table{"t", table_format({-4, -1, 0, 1, 2, 4}, "skewed"), 1};
  const Figure figure = gap_figure({table}, {parse_update("adamw=0.75")}, {0.5, 8});
  CHECK(series_named(figure, "t half gap").y == std::vector<double>{0.5, 0.5, 1, 1});
  CHECK(series_named(figure, "t negative half gap").y == std::vector<double>{0.5, 0.5, 1.5, 1.5});
  CHECK(series_named(figure, "t: adamw 0.75 frozen above 2").x == std::vector<double>{2});
  CHECK(series_named(figure, "t negative: adamw 0.75 frozen above 1").x == std::vector<double>{1});
}

TEST_CASE("gap figure: gap and half gap differ in dash and width, and no update has the gap's dash") {
  const std::vector<UpdateSize> updates{parse_update("adamw=1"), parse_update("madam=1"),
                                        parse_update("lmd=1"), parse_update("adam=1"),
                                        parse_update("relative=1")};
  const Figure figure = gap_figure({{"e2m1", e2m1, 1}}, updates, {1, 4});
  const Series &half = series_named(figure, "e2m1 half gap"), &gap = series_named(figure, "e2m1 gap");
  CHECK(half.style == SeriesStyle::marked_line);
  CHECK(gap.style == SeriesStyle::thin_line);
  CHECK(gap.dash == 1);
  for (const UpdateSize& update : updates) CHECK(series_named(figure, update.name + " update").dash % 5 != 1);
}

TEST_CASE("gap figure: marks of frozen updates leave the legend when there are more than three") {
  const auto labels = [](const std::vector<GapSubject>& subjects) {
    int count = 0;
    for (const Series& series : gap_figure(subjects, {parse_update("adamw=1e-3")}, {0x1p-10, 8}).series)
      if (series.style == SeriesStyle::points && series.in_legend) ++count;
    return count;
  };
  const GapSubject a{"e2m1", e2m1, 1}, b{"e4m3", e4m3, 1}, c{"bf16", bf16, 1}, d{"e3m0", e3m0, 1};
  CHECK(labels({a, b, c}) == 3);
  CHECK(labels({a, b, c, d}) == 0);
}

TEST_CASE("gap figure: more gaps than pixels are drawn as the largest of groups") {
  const GapSubject fine{"lns", lns_format(16, 2048), 1};
  const Figure figure = gap_figure({fine}, {}, {0x1p-8, 0x1p8});
  const Series& gaps = series_named(figure, "lns gap");
  CHECK(gaps.x.size() <= 2 * 1024);
  CHECK(gaps.x.front() == 0x1p-8);
  const std::vector<GapStretch> stretches = gap_stretches(fine.element, 1);
  for (std::size_t i = 0; i < gaps.x.size(); i += 2) {
    double largest = 0;
    for (const GapStretch& stretch : stretches)
      if (stretch.from < gaps.x[i + 1] && stretch.to > gaps.x[i]) largest = std::max(largest, stretch.gap);
    REQUIRE(gaps.y[i] == largest);
    REQUIRE(gaps.y[i + 1] == largest);
  }
}

TEST_CASE("gap figure: the default range follows a format out of the usual magnitudes") {
  const MagnitudeRange low = default_range({{"tiny", table_format({0, 0x1p-60, 0x1p-50}, "tiny"), 1}});
  CHECK(low.from == 0x1p-62);
  CHECK(low.to == 0x1p-49);
  const MagnitudeRange high = default_range({{"huge", table_format({0, 0x1p50, 0x1p60}, "huge"), 1}});
  CHECK(high.from == 0x1p48);
  CHECK(high.to == 0x1p61);
  const MagnitudeRange both =
      default_range({{"e2m1", e2m1, 1}, {"tiny", table_format({0, 0x1p-60, 0x1p-50}, "tiny"), 1}});
  CHECK(both.from == 0x1p-62);
  CHECK(both.to == 8);
}

TEST_CASE("gap figure: the default range shows a small format whole and cuts a large one") {
  CHECK(default_range({{"e2m1", e2m1, 1}}).from == 0.125);
  CHECK(default_range({{"e2m1", e2m1, 1}}).to == 8);
  CHECK(default_range({{"bf16", bf16, 1}}).from == 0x1p-20);
  CHECK(default_range({{"bf16", bf16, 1}}).to == 0x1p10);
}

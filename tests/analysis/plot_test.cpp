#include "analysis/plot.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "formats/error.h"

using namespace halfulp;
namespace fs = std::filesystem;

namespace {

Figure small_figure() {
  return {"a title",
          {"x", AxisScale::log2},
          {"y", AxisScale::log10},
          {{"first_line", SeriesStyle::line, 1, 0, {1, 2}, {0.1, 0.2}},
           {"it's, \"quoted\"", SeriesStyle::points, 2, 1, {1, 4}, {0.001, 1e-5}}}};
}

bool has_gnuplot() { return std::system("gnuplot --version >/dev/null 2>&1") == 0; }

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// PATH set to a folder without programs, for the length of a scope.
struct EmptyPath {
  std::string kept;
  EmptyPath() : kept(::getenv("PATH") == nullptr ? "" : ::getenv("PATH")) {
    ::setenv("PATH", "/nonexistent", 1);
  }
  ~EmptyPath() { ::setenv("PATH", kept.c_str(), 1); }
};

}  // namespace

TEST_CASE("plot: CSV rows hold the shortest decimals that read back, labels quoted where needed") {
  CHECK(csv_text(small_figure(), "magnitude", "size") ==
        "index,series,magnitude,size\n"
        "1,first_line,1,0.1\n"
        "1,first_line,2,0.2\n"
        "2,\"it's, \"\"quoted\"\"\",1,0.001\n"
        "2,\"it's, \"\"quoted\"\"\",4,1e-05\n");
}

TEST_CASE("plot: a script names its data, its picture and every series") {
  const std::string script = gnuplot_script(small_figure(), PictureKind::png, "data.csv", "a'b.png");
  CHECK(script.find("set output 'a''b.png'") != std::string::npos);
  CHECK(script.find("'data.csv' using (column(1) == 2 ? column(3) : NaN):4") != std::string::npos);
  CHECK(script.find("title 'it''s, \"quoted\"' noenhanced") != std::string::npos);
  CHECK(gnuplot_script(small_figure(), PictureKind::svg, "data.csv", "").find("set output") ==
        std::string::npos);
}

TEST_CASE("plot: figures that cannot be drawn are refused") {
  Figure uneven = small_figure(), twice = small_figure(), nothing = small_figure();
  uneven.series[0].x.push_back(3);
  twice.series[1].label = twice.series[0].label;
  nothing.series.resize(1);
  nothing.series[0].y = {0, std::numeric_limits<double>::quiet_NaN()};  // a log axis shows neither
  for (const Figure& figure : {uneven, twice, nothing}) {
    CHECK_THROWS_AS(gnuplot_script(figure, PictureKind::svg, "d", ""), Error);
    CHECK_THROWS_AS(csv_text(figure, "x", "y"), Error);
  }
}

TEST_CASE("plot: the same figure gives the same SVG, ready to stand in a page") {
  if (!has_gnuplot()) {
    MESSAGE("SKIPPED: gnuplot is not installed");
    return;
  }
  const std::string svg = render_svg(small_figure());
  CHECK(svg == render_svg(small_figure()));
  CHECK(svg.rfind("<svg", 0) == 0);
  CHECK(svg.find("</svg>") != std::string::npos);
  CHECK(svg.find("first_line") != std::string::npos);
  CHECK(render_picture(small_figure(), PictureKind::png).rfind("\x89PNG\r\n", 0) == 0);
}

TEST_CASE("plot: every style is drawn, and a point that no axis can show is left out") {
  if (!has_gnuplot()) {
    MESSAGE("SKIPPED: gnuplot is not installed");
    return;
  }
  for (const SeriesStyle style : {SeriesStyle::line, SeriesStyle::thin_line, SeriesStyle::marked_line,
                                  SeriesStyle::points, SeriesStyle::line_and_points, SeriesStyle::bars}) {
    const double infinity = std::numeric_limits<double>::infinity();
    const Figure figure{
        "t", {"x"}, {"y"}, {{"s", style, 9, 9, {1, 2, 3, 4}, {1, infinity, -1, std::nan("")}}}};
    CHECK(render_svg(figure).find("</svg>") != std::string::npos);
  }
}

TEST_CASE("plot: picture, data and script stand side by side, and the script redraws the picture") {
  if (!has_gnuplot()) {
    MESSAGE("SKIPPED: gnuplot is not installed");
    return;
  }
  std::string name = fs::temp_directory_path() / "halfulp-plot-test-XXXXXX";
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  const fs::path folder = name;
  const std::vector<std::string> written = write_figure(small_figure(), folder / "p.svg", "x", "y");
  CHECK(written == std::vector<std::string>{folder / "p.svg", folder / "p.csv", folder / "p.gp"});
  const std::string picture = text_of(folder / "p.svg");
  fs::remove(folder / "p.svg");
  REQUIRE(std::system(("cd '" + name + "' && gnuplot -d p.gp").c_str()) == 0);
  CHECK(text_of(folder / "p.svg") == picture);
  CHECK_THROWS_AS(write_figure(small_figure(), folder / "p.pdf", "x", "y"), Error);
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 3);
  fs::remove_all(folder);
}

TEST_CASE("plot: without gnuplot the error says what to install, and nothing is written") {
  std::string name = fs::temp_directory_path() / "halfulp-plot-test-XXXXXX";
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  {
    const EmptyPath no_programs;
    try {
      write_figure(small_figure(), name + "/p.svg", "x", "y");
      FAIL("drawn without gnuplot");
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find("apt-get install gnuplot-nox") != std::string::npos);
    }
    CHECK(fs::is_empty(name));
    CHECK(write_figure(small_figure(), name + "/p.csv", "x", "y").size() == 1);
  }
  fs::remove_all(name);
}

#include "analysis/code_map_picture.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "analysis/code_map_layout.h"
#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/spec.h"
#include "formats/value_table.h"

using namespace halfulp;
namespace fs = std::filesystem;

namespace {

CodeMap map_of(const std::vector<std::string>& specs, std::optional<CodeAxis> axis) {
  std::vector<CodeRow> rows;
  for (const std::string& spec : specs)
    for (CodeRow& row : code_rows(spec, parse_format(spec), 1)) rows.push_back(std::move(row));
  return code_map(std::move(rows), axis);
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_gnuplot() { return std::system("gnuplot --version >/dev/null 2>&1") == 0; }

double pixels_per_unit(const CodeMap& map) {
  const PositionSpan span = axis_span(map);
  return code_map_plot_width / (span.to - span.from);
}

}  // namespace

TEST_CASE("code map picture: all values and codes of a four-bit format are written, zeros under one tick") {
  const CodeMap map = map_of({"e2m1"}, CodeAxis::linear);
  const RowLayout layout = row_layout(map, map.rows[0], pixels_per_unit(map));
  CHECK(!layout.turned);
  CHECK(layout.values.size() == 15);
  CHECK(layout.codes.size() == 15);
  bool found = false;
  for (const TickLabel& label : layout.codes) found = found || (label.position == 0 && label.text == "0,8");
  CHECK(found);
  CHECK(layout.details ==
        std::vector<std::string>{"16 codes; 15 numbers, -6 to 6, least magnitude 0.5; zero: "
                                 "0x0, 0x8; Inf: none; NaN: none"});
}

TEST_CASE("code map picture: labels never overlap, and are turned or left out instead") {
  for (const CodeAxis axis : {CodeAxis::linear, CodeAxis::log}) {
    const CodeMap map = map_of({"mxfp4", "nvfp4", "e3m0", "binary4p2se", "lns{bits=4,gamma=2}"}, axis);
    const double scale = pixels_per_unit(map);
    for (const CodeRow& row : map.rows) {
      const RowLayout layout = row_layout(map, row, scale);
      INFO(row.name);
      CHECK(!layout.values.empty());
      for (std::size_t i = 0; i < layout.values.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) {
          const double distance = std::fabs(layout.values[i].position - layout.values[k].position) * scale;
          const double letters =
              static_cast<double>(layout.values[i].text.size() + layout.values[k].text.size()) / 2;
          REQUIRE(distance >= (layout.turned ? 15 : 8 * letters));
        }
    }
  }
}

TEST_CASE("code map picture: rows of many numbers have no labels, and long details take two lines") {
  const CodeMap map = map_of({"e5m2"}, std::nullopt);
  const RowLayout layout = row_layout(map, map.rows[0], pixels_per_unit(map));
  CHECK(layout.values.empty());
  CHECK(layout.codes.empty());
  REQUIRE(layout.details.size() == 2);
  CHECK(layout.details[1] == "zero: 0x00, 0x80; Inf: 0x7c, 0xfc; NaN: 0x7d-0x7f, 0xfd-0xff");
}

TEST_CASE("code map picture: the axis shows every number and the amax") {
  const CodeMap map = map_of({"mxfp4", "e8m0"}, std::nullopt);
  const PositionSpan span = axis_span(map);
  for (const CodeRow& row : map.rows) {
    for (const double number : row.numbers()) {
      CHECK(map.position(number) > span.from);
      CHECK(map.position(number) < span.to);
    }
    if (row.amax) CHECK(map.position(*row.amax) < span.to);
  }
}

TEST_CASE("code map picture: a script names its data, its picture, its kinds and its formats") {
  const std::string script =
      code_map_script(map_of({"e5m2", "mxfp4"}, std::nullopt), PictureKind::png, "d.csv", "a'b.png");
  CHECK(script.find("set output 'a''b.png'") != std::string::npos);
  CHECK(script.find("'d.csv' skip 1 using (strcol(5) eq 'subnormal'") != std::string::npos);
  CHECK(script.find("'mxfp4, scale 0.25 (of the rule for amax 1)'") != std::string::npos);
  CHECK(script.find("title 'amax of the block'") != std::string::npos);
  const std::string plain = code_map_script(map_of({"e8m0"}, std::nullopt), PictureKind::svg, "d.csv", "");
  CHECK(plain.find("set output") == std::string::npos);
  CHECK(plain.find("'subnormal'") == std::string::npos);
  CHECK(plain.find("amax of the block") == std::string::npos);
}

TEST_CASE(
    "code map picture: picture, data and script stand side by side, and the script redraws the picture") {
  if (!has_gnuplot()) {
    MESSAGE("SKIPPED: gnuplot is not installed");
    return;
  }
  std::string name = fs::temp_directory_path() / "halfulp-codes-test-XXXXXX";
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  const fs::path folder = name;
  // a name with commas and quotes must not move the columns
  std::vector<CodeRow> rows = code_rows("a,\"b'", unscaled(e2m1), 1);
  for (CodeRow& row : code_rows("nvfp4", parse_format("nvfp4"), 1)) rows.push_back(std::move(row));
  for (const CodeAxis axis : {CodeAxis::linear, CodeAxis::log})
    for (const char* ending : {"svg", "png"}) {
      const CodeMap map = code_map(rows, axis);
      const fs::path path = folder / (std::string("p.") + ending);
      const std::vector<std::string> written = write_code_map(map, path);
      CHECK(written == std::vector<std::string>{path, folder / "p.csv", folder / "p.gp"});
      CHECK(text_of(folder / "p.csv") == code_map_csv(map));
      const std::string picture = text_of(path);
      CHECK(picture.size() > 1000);
      fs::remove(path);
      REQUIRE(std::system(("cd '" + name + "' && gnuplot -d p.gp").c_str()) == 0);
      CHECK(text_of(path) == picture);
      fs::remove(path);
    }
  CHECK_THROWS_AS(write_code_map(code_map(rows, std::nullopt), folder / "p.pdf"), Error);
  CHECK(write_code_map(code_map(rows, std::nullopt), folder / "p.csv").size() == 1);
  fs::remove_all(folder);
}

TEST_CASE("code map picture: every code of a kind has its tick in the SVG") {
  if (!has_gnuplot()) {
    MESSAGE("SKIPPED: gnuplot is not installed");
    return;
  }
  std::string name = fs::temp_directory_path() / "halfulp-codes-test-XXXXXX";
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  write_code_map(map_of({"e4m3"}, std::nullopt), name + "/t.svg");
  const std::string svg = text_of(name + "/t.svg");
  // each kind is a plot, followed by one that is its line in the legend; a tick is a move and a line
  const auto lines_of_plot = [&](int number) {
    const std::size_t begin = svg.find("gnuplot_plot_" + std::to_string(number)),
                      end = svg.find("gnuplot_plot_" + std::to_string(number + 1));
    REQUIRE(begin < end);
    int count = 0;
    for (std::size_t at = svg.find(" L", begin); at < end; at = svg.find(" L", at + 1)) ++count;
    return count;
  };
  CHECK(lines_of_plot(1) == 14);   // subnormal
  CHECK(lines_of_plot(3) == 236);  // normal
  CHECK(lines_of_plot(5) == 2);    // largest
  fs::remove_all(name);
}

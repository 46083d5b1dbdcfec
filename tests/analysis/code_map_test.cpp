#include "analysis/code_map.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "formats/block.h"
#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/p3109.h"
#include "formats/spec.h"
#include "formats/value_table.h"
#include "tests/analysis/small_formats.h"

using namespace halfulp;

namespace {

CodeRow row(const std::string& name, const ScalarFormat& f) { return code_rows(name, unscaled(f), 1).at(0); }

std::map<CodeKind, int> counts(const CodeRow& r) {
  std::map<CodeKind, int> all;
  for (const CodePoint& point : r.points) ++all[point.kind];
  return all;
}

}  // namespace

TEST_CASE("code map: the codes of e4m3 and e5m2 by kind, as OFP8 counts them") {
  const CodeRow a = row("e4m3", e4m3), b = row("e5m2", e5m2);
  CHECK(counts(a) == std::map<CodeKind, int>{{CodeKind::zero, 2},
                                             {CodeKind::subnormal, 14},
                                             {CodeKind::normal, 236},
                                             {CodeKind::largest, 2},
                                             {CodeKind::nan, 2}});
  CHECK(counts(b)[CodeKind::infinity] == 2);
  CHECK(counts(b)[CodeKind::nan] == 6);
  CHECK(a.codes_text(CodeKind::nan) == "0x7f, 0xff");
  CHECK(b.codes_text(CodeKind::nan) == "0x7d-0x7f, 0xfd-0xff");
  CHECK(b.codes_text(CodeKind::infinity) == "0x7c, 0xfc");
  CHECK(b.codes_text(CodeKind::largest) == "0x7b, 0xfb");
  CHECK(a.codes_text(CodeKind::infinity).empty());
}

TEST_CASE("code map: kinds of formats without zero, subnormals, NaN or fields") {
  CHECK(row("e8m0", e8m0).codes_text(CodeKind::zero).empty());
  CHECK(row("e8m0", e8m0).codes_text(CodeKind::largest) == "0xfe");
  CHECK(row("int8", int8).codes_text(CodeKind::subnormal).empty());
  CHECK(row("int8", int8).codes_text(CodeKind::largest) == "0x7f-0x80");
  CHECK(row("e4m3fnuz", e4m3fnuz).codes_text(CodeKind::nan) == "0x80");
  CHECK(row("binary8p3se", p3109(8, 3, true, true)).codes_text(CodeKind::infinity) == "0x7f, 0xff");
  const CodeRow table = row("t", table_format({0.5, 1, 2, 4, 8}, "five"));
  CHECK(table.points.size() == 8);  // three bits
  CHECK(table.codes_text(CodeKind::largest) == "0x4");
  CHECK(table.codes_text(CodeKind::nan) == "0x5-0x7");
}

TEST_CASE("code map: every number of every format of at most 8 bits stands in it once") {
  for (const NamedScalarFormat& known : all_scalar_formats) {
    if (known.format.bits() > 8) continue;
    INFO(known.name);
    const CodeRow r = row(std::string(known.name), known.format);
    CHECK(r.points.size() == known.format.code_count());
    CHECK(r.numbers() == test::numbers_by_codes(known.format));
    for (const CodePoint& point : r.points) {
      const double value = decode(known.format, point.code);
      CHECK((point.value == value || (std::isnan(point.value) && std::isnan(value))));
    }
  }
}

TEST_CASE("code map: a block format stands under its scale, twice and half of it") {
  const std::vector<CodeRow> rows = code_rows("mxfp4", parse_format("mxfp4"), 1);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].name == "mxfp4, scale 0.5 (twice that)");
  CHECK(rows[1].name == "mxfp4, scale 0.25 (of the rule for amax 1)");
  CHECK(rows[2].name == "mxfp4, scale 0.125 (half of it)");
  for (const CodeRow& r : rows) {
    CHECK(r.amax == 1);
    CHECK(r.numbers().back() == 6 * r.multiplier);
    CHECK(r.points.at(5).value == 3 * r.multiplier);
  }
}

TEST_CASE(
    "code map: where a scale cannot be doubled a quarter stands in, and the product of two scales is shown") {
  const std::vector<CodeRow> rows = code_rows("nvfp4", parse_format("nvfp4"), 2688);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].name == "nvfp4, scale 448 = 448 x 1 (of the rule for amax 2688)");
  CHECK(rows[1].multiplier == 224);
  CHECK(rows[2].multiplier == 112);
  // the smallest scale of all: no half, no quarter
  const std::vector<CodeRow> low = code_rows("mxfp4", parse_format("mxfp4"), 0x1p-126);
  CHECK(low.size() == 2);
}

TEST_CASE("code map: values are those that decoding a block gives") {
  const BlockFormat f = parse_format("nvfp4");
  const TensorMultiplier t = choose_tensor_scale(f, 0.7);
  const std::uint32_t scale = choose_scale(f, 0.7, t, 0);
  const CodeRow r = code_rows("nvfp4", f, 0.7).at(0);
  for (const CodePoint& point : r.points) CHECK(point.value == decode_in_block(f, point.code, scale, t));
}

TEST_CASE("code map: axes and positions") {
  CHECK(code_map({row("e2m1", e2m1)}, std::nullopt).axis == CodeAxis::linear);
  CHECK(code_map({row("e4m3", e4m3)}, std::nullopt).axis == CodeAxis::log);
  CHECK(code_map({row("e2m1", e2m1), row("e3m0", e3m0)}, std::nullopt).axis == CodeAxis::linear);
  CHECK(code_map({row("e2m1", e2m1), row("e3m2", e3m2)}, std::nullopt).axis == CodeAxis::log);
  const CodeMap map = code_map({row("e2m1", e2m1)}, CodeAxis::log);
  CHECK(map.smallest == 0.5);
  CHECK(map.position(0) == 0);
  CHECK(map.position(0.25) == 0.5);
  CHECK(map.position(0.5) == 1);
  CHECK(map.position(-1) == -2);
  CHECK(map.position(4) == 4);
  CHECK(code_map({row("e2m1", e2m1)}, CodeAxis::linear).position(-1.5) == -1.5);
}

TEST_CASE("code map: the CSV has one line a code") {
  const std::string text =
      code_map_csv(code_map({row("binary3p1se", p3109(3, 1, true, true))}, CodeAxis::linear));
  CHECK(text ==
        "row,format,multiplier,code,kind,value,position\n"
        "1,binary3p1se,1,0,zero,0,0\n"
        "1,binary3p1se,1,1,normal,0.5,0.5\n"
        "1,binary3p1se,1,2,largest,1,1\n"
        "1,binary3p1se,1,3,infinity,inf,\n"
        "1,binary3p1se,1,4,nan,nan,\n"
        "1,binary3p1se,1,5,normal,-0.5,-0.5\n"
        "1,binary3p1se,1,6,largest,-1,-1\n"
        "1,binary3p1se,1,7,infinity,-inf,\n");
  const std::string negative_zero = code_map_csv(code_map({row("a,\"b", e2m1)}, std::nullopt));
  CHECK(negative_zero.find("1,\"a,\"\"b\",1,8,zero,-0,-0\n") != std::string::npos);
}

TEST_CASE("code map: what cannot be drawn is refused, with the format's name") {
  const auto message = [](auto action) {
    try {
      action();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message([] { code_rows("bf16", unscaled(bf16), 1); }).find("bf16 (16 bits)") != std::string::npos);
  CHECK(message([] { code_rows("fp8_tensor", parse_format("fp8_tensor"), 1e-300); }).find("fp8_tensor") !=
        std::string::npos);
  CHECK(message([] {
          code_map({row("e2m1", e2m1), row("e2m1", e2m1)}, std::nullopt);
        }).find("twice") != std::string::npos);
  CHECK_THROWS_AS(code_map({}, std::nullopt), Error);
}

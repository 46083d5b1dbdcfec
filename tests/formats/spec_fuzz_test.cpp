// Whatever stands in a spec, the answer is a format or an Error.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "formats/error.h"
#include "formats/spec.h"

using namespace halfulp;

TEST_CASE("specs: every text is a format, with a spec that leads back, or an Error") {
  std::vector<std::string> seeds = format_names();
  for (const char* spec :
       {"e3m4{bias=3,inf=none,nan=all_ones,subnormals=yes}", "ue6m0{zero=no}",
        "e8m0{signed=yes,zero=yes,nan=none}", "p3109{k=8,p=4,extended}", "binary16p1ue",
        "fixed{bits=8,fraction=7}", "lns{bits=6,gamma=4}", "table{no_such_file.txt}",
        "nvfp4{16x16,four_over_six=mae,scale_floor=2^-6}",
        "block{e5m1{bias=3},16,scale=ue5m2{nan=all_ones},rule=rceil,tensor_scale=fp32,zero_block=2^-23}",
        "block{e4m3,flat256,scale=fp32,nan=ignore,inf=saturate,largest_scale=256,highest_exponent=125}",
        "mxfp4{scale_overflow=nan,scale_underflow=zero_elements,subnormal_block=flush,arithmetic=exact}"})
    seeds.emplace_back(spec);
  std::mt19937 random(11);
  const auto below = [&](std::size_t n) { return random() % n; };
  // No slash: a mutated table{FILE} shall not open devices.
  const std::string alphabet = "{},= \t0123456789xeumpk_.-^+abABns";
  std::size_t formats = 0, errors = 0;
  const auto read = [&](const std::string& text) {
    try {
      const BlockFormat f = parse_format(text);
      INFO(text);
      CHECK(parse_format(to_spec(f)) == f);
      ++formats;
    } catch (const Error& error) {
      CHECK(std::string(error.what()).rfind("format", 0) == 0);
      ++errors;
    }
  };
  for (const std::string& seed : seeds)
    for (std::size_t length = 0; length <= seed.size(); ++length) read(seed.substr(0, length));
  for (int i = 0; i < 40'000; ++i) {
    std::string text = seeds[below(seeds.size())];
    for (std::size_t n = below(3) == 0 ? 2 : 1; n > 0; --n) {
      const std::size_t at = below(text.size() + 1);
      const std::string& other = seeds[below(seeds.size())];
      const std::size_t from = below(other.size());
      switch (below(8)) {
        case 0:
          text.insert(at, 1, alphabet[below(alphabet.size())]);
          break;
        case 1:
          text.erase(at, 1 + below(3));
          break;
        case 2:
          if (at < text.size()) text[at] = alphabet[below(alphabet.size())];
          break;
        case 3:
          text.insert(at, other.substr(from, 1 + below(8)));
          break;
        case 4:
          text.resize(at);
          text += other.substr(from);
          break;
        default:  // digits stay digits: most of these are formats
          if (at < text.size() && text[at] >= '0' && text[at] <= '9')
            text[at] = static_cast<char>('0' + below(10));
          break;
      }
    }
    read(text);
  }
  for (int i = 0; i < 5'000; ++i) {
    std::string text(below(40), ' ');
    for (char& c : text) c = static_cast<char>(random());
    if (text.find("table") == std::string::npos) read(text);
  }
  MESSAGE(formats, " formats, ", errors, " errors");
  CHECK(formats > 5000);
  CHECK(errors > 10'000);
}

TEST_CASE("specs: depth costs nothing") {
  const auto repeated = [](std::string_view text) {
    std::string all;
    for (int i = 0; i < 1'000'000; ++i) all += text;
    return all;
  };
  for (const std::string part :
       {"block{", "e5m1{", "table{", "{", "block{e2m1,16,scale=", "nvfp4{scale=", "}"})
    CHECK_THROWS_AS(parse_format(repeated(part)), Error);
  CHECK_THROWS_AS(parse_format("table{" + repeated("{") + repeated("}") + "}"), Error);  // no such file
}

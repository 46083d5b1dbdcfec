// Bad specs: what the message says, and where it points.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "formats/error.h"
#include "formats/spec.h"

using namespace halfulp;

namespace {

std::string message_of(const std::string& spec) {
  try {
    parse_format(spec);
  } catch (const Error& error) {
    return error.what();
  }
  return "(accepted)";
}

/// "format: PROBLEM at position N...: given 'SPEC', allowed: ALLOWED..."
struct BadSpec {
  std::string spec;
  int position;
  std::string problem;
  std::string allowed;
};

void check(const BadSpec& bad) {
  const std::string message = message_of(bad.spec);
  INFO(message);
  CHECK(message.rfind("format: " + bad.problem, 0) == 0);
  const std::string place = " at position " + std::to_string(bad.position);
  const std::size_t at = message.find(place);
  CHECK(at != std::string::npos);
  if (at == std::string::npos) return;
  // Position 1 is no prefix of position 12.
  const char after = message[at + place.size()];
  CHECK((after == ':' || after == ' '));
  CHECK(message.find(": given '" + bad.spec + "', allowed: ") != std::string::npos);
  CHECK(message.find(bad.allowed, message.find(", allowed: ")) != std::string::npos);
}

}  // namespace

TEST_CASE("bad specs: names") {
  const std::vector<BadSpec> all{
      {"", 1, "a format's name is missing", "e4m3, e5m2"},
      {"   ", 4, "a format's name is missing", "block{ELEMENT,SHAPE,...}"},
      {"{bias=3}", 1, "a format's name is missing", "eXmY{...}"},
      {"mxfp5", 1, "no such format 'mxfp5' at position 1 (nearest is mxfp4)", "table{FILE}"},
      {"  NVFP5", 3, "no such format 'NVFP5'", "nvfp4"},
      {"float8_e4m3fm", 1, "no such format 'float8_e4m3fm' at position 1 (nearest is float8_e4m3fn)", "lns{"},
      {"blok{e2m1,16}", 1, "no such format 'blok' at position 1 (nearest is block)", "fixed{"},
      {"e4m03", 1, "no such format 'e4m03'", "ueXmY"},
      {"e4", 1, "no such format 'e4'", "e4m3"},
      {"em3", 1, "no such format 'em3'", "e4m3"},
      {"e4m3x", 1, "no such format 'e4m3x'", "e4m3"},
      {"binary8p4", 1, "no such format 'binary8p4'", "binary8p4se"},
      {"binary8p4es", 1, "no such format 'binary8p4es'", "binary8p4se"},
      {"e4m3 e5m2", 6, "text after the end of the format", "one format"},
      {"e4m3}", 5, "text after the end of the format", "one format"},
      {"e5m1{bias=3}}", 13, "text after the end of the format", "one format"},
      {"nvfp4,16", 6, "text after the end of the format", "one format"},
      {"binary8p4se{k=3}", 12, "text after the end of the format", "one format"},
  };
  for (const BadSpec& bad : all) check(bad);
  for (const std::string& name : format_names())
    CHECK(message_of("nonsense").find(name, message_of("nonsense").find("allowed")) != std::string::npos);
}

TEST_CASE("bad specs: braces, commas, keys and values") {
  const std::vector<BadSpec> all{
      {"e5m1{", 6, "a key is missing", "bias, inf"},
      {"e5m1{bias=3", 12, "',' or '}' is missing", "key=value"},
      {"e5m1{bias=3,", 13, "a key is missing", "bias, inf"},
      {"e5m1{bias=3,}", 13, "a key is missing", "negative_zero"},
      {"e5m1{,bias=3}", 6, "a key is missing", "subnormals"},
      {"e5m1{=3}", 6, "a key is missing", "subnormals"},
      {"e5m1{bias=3 4}", 13, "',' or '}' is missing", "key=value"},
      {"e5m1{bias=3{}}", 12, "',' or '}' is missing", "key=value"},
      {"e5m1{bias}", 10, "'=' is missing after bias", "bias=VALUE"},
      {"e5m1{bias=}", 11, "the value of bias is missing", "key=value"},
      {"e5m1{bias={3}}", 11, "the value of bias is missing", "key=value"},
      {"e5m1{bais=3}", 6, "no such key 'bais' at position 6 (nearest is bias)", "signed, bias, inf"},
      {"e5m1{ 3 }", 7, "no such key '3'", "signed, bias, inf"},
      {"e5m1{Bias=3}", 6, "no such key 'Bias' at position 6 (nearest is bias)", "bias"},
      {"e5m1{bias=3,inf=none,bias=3}", 22, "bias is given twice", "every key once"},
      {"e5m1{bias=x}", 11, "bias is no integer", "-39969 to 40000"},
      {"e5m1{bias=3.5}", 11, "bias is no integer", "-39969 to 40000"},
      {"e5m1{bias=+3}", 11, "bias is no integer", "-39969 to 40000"},
      {"e5m1{bias=40001}", 11, "bias is out of range", "-39969 to 40000"},
      {"e5m1{bias=-39970}", 11, "bias is out of range", "-39969 to 40000"},
      {"e5m1{bias=99999999999999999999}", 11, "bias is out of range", "-39969 to 40000"},
      {"e5m1{inf=iee}", 10, "no such value of inf 'iee' at position 10 (nearest is ieee)",
       "none, ieee, top_code"},
      {"e5m1{nan=allones}", 10, "no such value of nan 'allones' at position 10 (nearest is all_ones)",
       "none, ieee, all_ones, negative_zero"},
      {"e5m1{subnormals=true}", 17, "no such value of subnormals 'true'", "yes, no"},
      {"e5m1{zero=NO}", 11, "no such value of zero 'NO'", "yes, no"},
      {"int8{bias=2}", 5, "a fixed-point format has no fields to change", "fixed{bits=8,fraction=6}"},
      {"p3109", 6, "'{' is missing after p3109", "p3109{k=8,p=4,extended}"},
      {"p3109{k=8}", 1, "p is missing for p3109", "p3109{k=8,p=4,extended}"},
      {"p3109{p=8}", 1, "k is missing for p3109", "p3109{k=8,p=4,extended}"},
      {"p3109{k=17,p=4}", 9, "k is out of range", "3 to 16"},
      {"p3109{k=2,p=1}", 9, "k is out of range", "3 to 16"},
      {"p3109{k=8,p=0}", 13, "p is out of range", "1 to"},
      {"p3109{k=8,p=8}", 13, "p is out of range", "1 to 7"},
      {"p3109{p=9,k=8,unsigned}", 9, "p is out of range", "1 to 8"},
      {"p3109{k=8,p=4,signed,unsigned}", 22, "signed or unsigned is said twice", "one of them"},
      {"p3109{k=8,p=4,finite,extended=yes}", 22, "extended or finite is said twice", "one of them"},
      {"p3109{k=8,p=4,extendet}", 15, "no such key 'extendet' at position 15 (nearest is extended)",
       "finite"},
      {"p3109{k=8,p=4,unsigned=yes}", 15, "no such key 'unsigned' at position 15 (nearest is signed)",
       "k, p"},
      {"p3109{k,p=4}", 8, "'=' is missing after k", "k=VALUE"},
      {"binary17p1ue", 1, "k is out of range", "3 to 16"},
      {"binary999999999999p1ue", 1, "k is out of range", "3 to 16"},
      {"Binary8p8SE", 1, "p is out of range", "1 to 7"},
      {"fixed", 6, "'{' is missing after fixed", "fixed{bits=8,fraction=6}"},
      {"fixed{fraction=3}", 1, "bits is missing for fixed", "fixed{bits=8,fraction=6}"},
      {"fixed{bits=1}", 12, "bits is out of range", "2 to 25"},
      {"fixed{bits=26}", 12, "bits is out of range", "2 to 25"},
      {"fixed{bits=8,fraction=901}", 23, "fraction is out of range", "-900 to 900"},
      {"lns{8}", 1, "gamma is missing for lns", "lns{bits=8,gamma=8}"},
      {"lns{gamma=8}", 1, "bits is missing for lns", "lns{bits=8,gamma=8}"},
      {"lns{8,8,8}", 9, "no such key '8'", "bits, gamma"},
      {"lns{8,bits=8}", 7, "bits is given twice", "every key once"},
      {"lns{8,gamma=x}", 13, "gamma is no integer", "1 to 65536"},
      {"table", 6, "'{' is missing after table", "table{FILE}"},
      {"table{a.txt", 12, "'}' is missing", "a closing brace"},
      {"table{a{.txt}", 14, "'}' is missing", "a closing brace"},
      {"table{ }", 8, "the file of a table is missing", "table{FILE}"},
  };
  for (const BadSpec& bad : all) check(bad);
}

TEST_CASE("bad specs: fields that make no format") {
  const std::vector<BadSpec> all{
      {"e0m0", 1, "no exponent bits", "1 to 16 exponent bits"},
      {"e0m3", 1, "no exponent bits", "1 to 16 exponent bits"},
      {" e17m3", 2, "too many exponent bits", "1 to 16 exponent bits"},
      {"e99999999999m3", 1, "too many exponent bits", "1 to 16 exponent bits"},
      {"e5m24{bias=3}", 1, "too many fraction bits", "0 to 23 fraction bits"},
      {"e9m23", 1, "a code of 33 bits", "2 to 32 bits"},
      {"ue1m0", 1, "a code of 1 bits", "2 to 32 bits"},
      {"e5m0{inf=ieee,nan=ieee}", 15, "NaN without a code: nan=ieee needs fraction bits", "all_ones"},
      {"e5m1{nan=ieee}", 6, "inf=none with nan=ieee leaves the place of infinity", "inf=ieee with nan=ieee"},
      {"e5m1{nan=ieee,inf=top_code}", 15, "inf=top_code with nan=ieee leaves", "inf=ieee with nan=ieee"},
      {"e5m3{inf=ieee}", 6, "inf=ieee with nan=none leaves codes beyond infinity", "inf=top_code"},
      {"e5m3{inf=ieee,nan=all_ones}", 15, "inf=ieee with nan=all_ones leaves codes beyond", "inf=top_code"},
      {"e5m3{inf=ieee,nan=negative_zero}", 15, "inf=ieee with nan=negative_zero leaves", "inf=top_code"},
      {"e5m2{nan=none}", 6, "inf=ieee with nan=none leaves codes beyond infinity", "inf=top_code"},
      {"e5m0{inf=ieee,nan=all_ones}", 15, "inf=ieee with nan=all_ones gives one code", "inf=top_code"},
      {"ue5m1{nan=negative_zero}", 7, "NaN without a code: an unsigned format has no place of -0",
       "nan=none, ieee or all_ones"},
      {"e4m3fnuz{signed=no}", 10, "NaN without a code: an unsigned format", "nan=none"},
      {"e5m1{nan=negative_zero,negative_zero=yes}", 24, "one code for -0 and NaN", "negative_zero=no"},
      {"e5m1{negative_zero=yes,nan=negative_zero}", 24, "one code for -0 and NaN", "negative_zero=no"},
      {"e4m3fnuz{negative_zero=yes}", 10, "one code for -0 and NaN", "negative_zero=no"},
      {"e5m1{nan=negative_zero,subnormals=no}", 24, "flushed codes would be -0", "subnormals=yes"},
      {"e4m3fnuz{subnormals=no}", 10, "flushed codes would be -0", "subnormals=yes"},
      {"ue5m1{negative_zero=yes}", 7, "an unsigned format has no -0", "negative_zero=no"},
      {"e5m0{zero=no}", 6, "zero=no in a signed format", "an unsigned format without fraction bits"},
      {"e8m0{signed=yes}", 6, "zero=no in a signed format", "an unsigned format without fraction bits"},
      {"ue5m1{zero=no}", 7, "zero=no with fraction bits", "an unsigned format without fraction bits"},
      {"ue5m0{subnormals=yes,zero=no}", 22, "subnormals without a zero", "subnormals=no"},
      {"ue5m0{zero=no,subnormals=yes}", 15, "subnormals without a zero", "subnormals=no"},
      {"e1m3{inf=ieee,nan=ieee}", 15, "no codes left for normal numbers: inf=ieee with nan=ieee",
       "more exponent bits"},
      {"e1m0{nan=all_ones}", 6, "no codes left for normal numbers: inf=none with nan=all_ones",
       "more exponent bits"},
      {"e1m1{nan=all_ones,inf=top_code}", 19, "no codes left for normal numbers", "more exponent bits"},
  };
  for (const BadSpec& bad : all) check(bad);
}

TEST_CASE("bad specs: blocks") {
  const std::string no_nan = "NaN without a code and no policy: the scale format has no NaN";
  const std::vector<BadSpec> all{
      {"block", 6, "'{' is missing after block", "block{e2m1,16,scale=ue4m3}"},
      {"block{}", 7, "a format's name is missing", "e4m3"},
      {"block{e2m1}", 1, "a block's shape is missing", "block{e2m1,16,scale=ue4m3}"},
      {"block{e2m1,scale=e8m0}", 1, "a block's shape is missing", "block{e2m1,16"},
      {"block{e2m1 16}", 12, "',' or '}' is missing", "key=value"},
      {"block{e2m1,16,32}", 15, "no such key '32'", "shape, scale, rule"},
      {"block{e2m1,16,shape=32}", 15, "shape is given twice", "every key once"},
      {"block{e2m1,16", 14, "',' or '}' is missing", "key=value"},
      {"block{e5m1{bias=3,16}", 19, "no such key '16'", "bias"},
      {"block{16,e2m1}", 7, "no such format '16'", "e2m1"},
      {"block{block{e2m1,16},16}", 7, "a block format stands where one number is stored", "a scalar format"},
      {"block{nvfp4,16}", 7, "a block format stands where one number is stored", "a scalar format"},
      {"nvfp4{scale=mxfp4}", 13, "a block format stands where one number is stored", "a scalar format"},
      {"block{e2m1,0}", 12, "a block of length 0", "1 to 2147483647"},
      {"block{e2m1,0x32}", 12, "a block of length 0", "1 to 2147483647"},
      {"block{e2m1,32x0}", 15, "a block of length 0", "1 to 2147483647"},
      {"block{e2m1,flat0}", 16, "a block of length 0", "1 to 2147483647"},
      {"block{e2m1,2147483648}", 12, "a block's length is out of range", "1 to 2147483647"},
      {"block{e2m1,32x}", 12, "no such shape '32x'", "ROWSxCOLUMNS, row, column, flatN, tensor"},
      {"block{e2m1,1x2x3}", 12, "no such shape '1x2x3'", "flatN"},
      {"block{e2m1,flat}", 12, "no such shape 'flat'", "flatN"},
      {"nvfp4{rows}", 7, "no such shape 'rows'", "row, column"},
      {"nvfp4{shape=-16}", 13, "no such shape '-16'", "COLUMNS"},
      {"nvfp4{bias=3}", 7, "no such key 'bias'", "shape, scale, rule"},
      {"nvfp4{scale=}", 13, "a format's name is missing", "e8m0"},
      {"nvfp4{scale=ue4m4{nan=all_one}}", 23, "no such value of nan 'all_one'", "all_ones"},
      {"mxfp4{rule=amx}", 12, "no such value of rule 'amx' at position 12 (nearest is amax)",
       "ocp_floor, even"},
      {"mxfp4{rule=none}", 12, "no such value of rule 'none'", "p3109_maxabs"},
      {"mxfp4{tensor_scale=fp16}", 20, "no such value of tensor_scale 'fp16'", "none, fp32, row"},
      {"mxfp4{zero_block=2^-22}", 18, "no such value of zero_block '2^-22'",
       "smallest, one, amax_one, 2^-23"},
      {"nvfp4{scale_floor=x}", 19, "scale_floor is no number", "a decimal number or 2^N"},
      {"nvfp4{scale_floor=inf}", 19, "scale_floor is no number", "a decimal number or 2^N"},
      {"nvfp4{scale_floor=1e999}", 19, "scale_floor is no number", "a decimal number or 2^N"},
      {"nvfp4{scale_floor=2^x}", 21, "scale_floor is no integer", "-1074 to 1023"},
      {"nvfp4{scale_floor=2^1024}", 21, "scale_floor is out of range", "-1074 to 1023"},
      {"mxfp4{highest_exponent=1025}", 24, "highest_exponent is out of range", "-40000 to 1024"},
      {"mxfp4{highest_exponent=-128}", 7, "highest_exponent is out of range", "-127 to 1024"},
      // Element and scale formats.
      {"block{binary16p1ue,16}", 7, "elements too small or large for a scale", "2^-500 and 2^500"},
      {"block{e11m3,16}", 7, "elements too small or large for a scale", "2^-500 and 2^500"},
      {"block{lns{12,2},16}", 7, "elements too small or large for a scale", "2^-500 and 2^500"},
      {"block{e2m1,16,scale=binary16p1ue}", 15, "scales too small or large", "2^-500 and 2^500"},
      {"block{e2m1,16,scale=e4m3}", 15, "scales with a sign", "bf16, fp16, tf32 or fp32"},
      {"block{e2m1,16,scale=bf16{bias=126}}", 15, "scales with a sign", "bf16, fp16, tf32 or fp32"},
      {"block{e2m1,16,scale=int8}", 15, "scales with a sign", "bf16, fp16, tf32 or fp32"},
      {"block{e2m1,16,scale=lns{8,8}}", 15, "a table of scales", "bf16, fp16, tf32 or fp32"},
      {"block{e2m1,16,scale=ue2m3}", 15, no_nan, "a scale format with NaN, or nan=ignore"},
      {"nvfp4{scale=ue4m3{nan=none}}", 7, no_nan, "a scale format with NaN, or nan=ignore"},
      {"nvfp4{nan=poison,scale=ue2m3,inf=ignore}", 18, no_nan, "nan=ignore"},
      {"nvfp4{scale=ue2m3,nan=ignore}", 7, "an infinity without a code and no policy",
       "inf=saturate or inf=ignore"},
      {"nvfp4{scale=ue2m3,nan=ignore,inf=poison}", 30, "an infinity without a code and no policy",
       "inf=saturate or inf=ignore"},
      {"nvfp4{scale=ue2m3,nan=ignore,inf=ignore,scale_overflow=nan}", 41, "scale_overflow=nan",
       "scale_overflow=saturate"},
      // Conventions that the rule has no use for.
      {"nvfp4{rule=rceil,four_over_six=mse}", 18, "four_over_six chooses between the 4 and the 6",
       "rule=amax"},
      {"nvfp4_four_over_six{rule=rceil}", 21, "four_over_six chooses between the 4 and the 6", "rule=amax"},
      {"block{e3m0,16,scale=ue4m3,four_over_six=mse}", 27, "four_over_six chooses", "e2m1"},
      {"mxfp4{arithmetic=quotients}", 7, "arithmetic says how the rule amax divides", "rule=amax"},
      {"nvfp4{tensor_scale=none,arithmetic=mixed}", 25, "this arithmetic divides by a tensor scale",
       "quotients"},
      {"nvfp4{arithmetic=reciprocal,tensor_scale=none}", 29, "this arithmetic divides by a tensor scale",
       "tensor_scale=fp32 or row"},
      {"nvfp4_row{16x16}", 11, "a scale for each row, and blocks that span rows", "blocks of one row"},
      {"nvfp4_row{shape=column}", 11, "a scale for each row, and blocks that span rows", "tensor_scale=fp32"},
      {"nvfp4{flat16,tensor_scale=row}", 14, "a scale for each row, and blocks", "tensor_scale=fp32"},
      {"mxfp4{scale_rounding=up}", 7, "scale_rounding is for scales that are rounded", "rule=amax"},
      {"nvfp4{scale_floor=-1}", 7, "scale_floor is no scale", "0 to the largest scale"},
      {"nvfp4{scale_floor=449}", 7, "scale_floor is no scale", "0 to the largest scale"},
      {"nvfp4{largest_scale=449}", 7, "largest_scale is no scale", "0 to the largest scale"},
      {"nvfp4{largest_scale=-2}", 7, "largest_scale is no scale", "0 to the largest scale"},
      {"mxfp4{largest_scale=2}", 7, "largest_scale is what a tensor scale aims at",
       "tensor_scale=fp32 or row"},
      {"nvfp4{highest_exponent=3}", 7, "highest_exponent is for scales that are powers of two",
       "another rule"},
      {"nvfp4{zero_block=2^-23}", 7, "the scale format does not hold the scale of a block of zeros",
       "zero_block=smallest or amax_one"},
      {"nvfp4{zero_block=one,scale=ue4m3{bias=20}}", 22, "the scale format does not hold",
       "zero_block=smallest"},
  };
  for (const BadSpec& bad : all) check(bad);
}

TEST_CASE("bad specs: what tables and logarithms refuse keeps its place") {
  CHECK(message_of("block{lns{2,8},16}") ==
        "format at position 7: format lns{bits=2,gamma=8}: bits out of range: given '2', allowed: 3 to 16");
  const std::string missing = message_of(" table{ no such file }");
  CHECK(missing.rfind("format at position 9: format table: cannot read the file: given 'no such file'", 0) ==
        0);
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "halfulp_descending.txt";
  std::ofstream(path) << "2 1\n";
  const std::string descending = message_of("table{" + path.string() + "}");
  CHECK(descending.rfind("format at position 7: format table{" + path.string() + "}: number 2 is not larger",
                         0) == 0);
  std::filesystem::remove(path);
}

TEST_CASE("parse_scalar_format: blocks are refused whatever follows their name") {
  for (const std::string spec : {"block{e2m1,16}", "block", "mxfp4{", "NVFP4", "mxfp8"})
    CHECK_THROWS_WITH_AS(parse_scalar_format(spec),
                         doctest::Contains("a block format stands where one number is stored at position 1"),
                         Error);
}

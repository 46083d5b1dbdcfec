#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "formats/block_format.h"

namespace halfulp {

/// The format that a text names. Every place that takes a format takes such a spec, and this is its one
/// parser.
///
///   NAME                   of the catalog, or an alias, in any case: E4M3, float8_e4m3fn
///   eXmY, ueXmY            X exponent bits, Y fraction bits, signed or unsigned. A catalog name is that
///                          format; else bias 2^(X-1) - 1, no infinity, no NaN, subnormals, and -0
///                          beside 0 if signed
///   NAME{key=value,...}    that format with other fields: bias=INT, inf=none|ieee|top_code,
///                          nan=none|ieee|all_ones|negative_zero (which takes the place of -0),
///                          subnormals=yes|no, negative_zero=yes|no, zero=yes|no, signed=yes|no
///   p3109{k=8,p=4}         P3109 v4.0; unsigned and extended are flags. binary8p4se is the standard's name
///   fixed{bits=8,fraction=6}      two's complement; fraction is bits - 2 if left out
///   lns{bits=8,gamma=8}, lns{8,8}   see lns_format()
///   table{FILE}            the numbers in a file, see read_value_table()
///   block{ELEMENT,SHAPE,key=value,...}   elements of a scalar spec that share a scale
///   BLOCKNAME{SHAPE,key=value,...}       a block format of the catalog with other keys:
///                          nvfp4{four_over_six=mae}
///
/// SHAPE, or shape=SHAPE: 32 (or 1x32), 32x1, 16x16, row, column, flat256, tensor. The keys of blocks, with
/// what block{} has without them first; scale_rule.h says what they mean:
///   scale=SPEC (e8m0), rule=RULE (ocp_floor for e8m0 scales, else amax), tensor_scale=none|fp32|row,
///   scale_overflow=saturate|nan, scale_underflow=smallest|zero_elements,
///   zero_block=smallest|one|amax_one|2^-23 (one where the rule amax has bf16, fp16, tf32 or fp32 scales),
///   nan=poison|ignore, inf=poison|saturate|ignore, subnormal_block=keep|flush,
///   arithmetic=exact|reciprocal|quotients|mixed, four_over_six=none|always_four|abs_max|mae|mse,
///   scale_rounding=nearest_even|up, scale_floor=NUMBER and largest_scale=NUMBER (0; decimal or 2^N),
///   highest_exponent=INT (1024)
///
/// Blanks may stand around every word. A format that has codes without a meaning or numbers without a code is
/// refused, and so are conventions that the scale rule has no use for.
/// errors: throws Error with the position in the spec, the nearest known word and what is allowed.
BlockFormat parse_format(std::string_view spec);

/// The same, but only formats without a scale.
ScalarFormat parse_scalar_format(std::string_view spec);

/// The shortest spec that parse_format turns into this format again: a name, where there is one. For a
/// descriptor that no spec can give, the text of its fields.
std::string to_spec(const ScalarFormat& format);
std::string to_spec(const BlockFormat& format);

/// All catalog names, scalar formats first.
std::vector<std::string> format_names();

/// For whoever reads codes as double or float.
/// errors: throws Error naming the format if its elements or scales have numbers beyond double's range.
void require_double_view(const BlockFormat& format, std::string_view where);

}  // namespace halfulp

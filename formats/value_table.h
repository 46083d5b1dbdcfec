#pragma once
#include <string>
#include <vector>

#include "formats/scalar_format.h"

namespace halfulp {

/// A format whose numbers are a list: code i is the i-th of them, ascending. It has neither infinities nor NaN nor -0.
/// The numbers are kept for the life of the process, equal lists once, so that a descriptor can point at them and two
/// descriptors are equal exactly if their numbers are.
/// spec: the text that names the format (table{FILE} or lns{...}), for printing; the first one given for a list stays.
/// errors: throws Error on fewer than 2 or more than 2^16 numbers, numbers that are not finite, not ascending, neither 0
/// nor of a magnitude in [2^-900, 2^900], or of which none is positive; the message counts from 1.
ScalarFormat table_format(const std::vector<double>& values, const std::string& spec);

/// The spec that a table was made with.
/// in: f.is_table()
std::string table_spec(const ScalarFormat& f);

/// The numbers in a text file: one or more on each line, separated by blanks or commas; # starts a comment.
/// errors: throws Error with the file's name and line.
std::vector<double> read_value_table(const std::string& path);

/// The logarithmic format of `bits` bits: 0 and +-2^((k - 2^(bits-2)) / gamma) for k = 1 .. 2^(bits-1) - 1, each the
/// correctly rounded double; 1 is the middle one (the grid of LNS-Madam, arXiv 2106.13914, with a zero).
/// errors: throws Error unless 3 <= bits <= 16 and 1 <= gamma <= 2^16 and all numbers stay in [2^-900, 2^900].
ScalarFormat lns_format(int bits, int gamma);

}  // namespace halfulp

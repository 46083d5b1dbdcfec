#pragma once
#include <string>

#include "experiments/data/npy.h"

namespace halfulp {

/// The numbers that an option names: FILE.npy; FILE.csv, lines of numbers between commas (two axes if both have more
/// than one, one axis otherwise); or the numbers themselves, between commas (one axis). At least one axis.
/// option: for messages
/// errors: throws Error naming option or file, place, what was given and what is allowed
NumberArray read_numbers(const std::string& text, const std::string& option);

/// Extents of a text such as 2x8.
/// errors: throws Error unless it is a shape of `count` numbers
std::vector<std::size_t> read_shape_of(const std::string& text, std::size_t count);

/// "2x8".
std::string extents_text(const std::vector<std::size_t>& shape);

}  // namespace halfulp

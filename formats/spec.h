#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "formats/block_format.h"

namespace halfulp {

/// The format that a text names. Every place that takes a format takes such a spec, and this is its one
/// parser. A spec is a name of the catalog or an alias.
/// errors: throws Error with the nearest name and the
/// list of names.
BlockFormat parse_format(std::string_view spec);

/// The same, but only formats without a scale.
ScalarFormat parse_scalar_format(std::string_view spec);

/// A spec that parse_format turns into this format again.
std::string to_spec(const BlockFormat& format);

/// All catalog names, scalar formats first.
std::vector<std::string> format_names();

}  // namespace halfulp

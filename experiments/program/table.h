#pragma once
#include <string>
#include <vector>

namespace halfulp {

/// Rows as aligned columns, two spaces apart, one line a row; a row may be shorter than the longest.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

}  // namespace halfulp

#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace halfulp {

/// The candidate with the smallest edit distance to `given` (insert, delete, replace); the first of equals.
/// For messages: "unknown key 'optmizer', nearest is 'optimizer'".
std::string nearest_name(std::string_view given, const std::vector<std::string>& candidates);

/// The names with ", " between them: the allowed ones in a message.
std::string name_list(const std::vector<std::string>& names);

}  // namespace halfulp

#include "formats/overflow.h"

#include <string>

#include "formats/error.h"
#include "formats/nearest_name.h"

namespace halfulp {

OverflowPolicy parse_overflow(std::string_view text) {
  std::vector<std::string> names;
  for (const NamedOverflowPolicy& known : all_overflow_policies) {
    if (known.name == text) return known.policy;
    names.emplace_back(known.name);
  }
  throw Error("overflow", "no such overflow policy (nearest is " + nearest_name(text, names) + ")",
              std::string(text), name_list(names));
}

std::string_view to_string(OverflowPolicy policy) noexcept {
  for (const NamedOverflowPolicy& known : all_overflow_policies)
    if (known.policy == policy) return known.name;
  return "";
}

}  // namespace halfulp

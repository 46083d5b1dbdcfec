#include "formats/overflow.h"

#include <string>

#include "formats/error.h"

namespace halfulp {

OverflowPolicy parse_overflow(std::string_view text) {
  std::string allowed;
  for (const NamedOverflowPolicy& known : all_overflow_policies) {
    if (known.name == text) return known.policy;
    allowed += (allowed.empty() ? "" : ", ") + std::string(known.name);
  }
  throw Error("overflow", "no such overflow policy", std::string(text), allowed);
}

std::string_view to_string(OverflowPolicy policy) noexcept {
  for (const NamedOverflowPolicy& known : all_overflow_policies)
    if (known.policy == policy) return known.name;
  return "";
}

}  // namespace halfulp

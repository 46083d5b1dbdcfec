#include "formats/rounding.h"

#include <charconv>

#include "formats/error.h"
#include "formats/nearest_name.h"

namespace halfulp {
namespace {

constexpr std::string_view allowed_roundings =
    "nearest_even, nearest_away, nearest_to_zero, toward_zero, away_from_zero, up, down, odd, stochastic, "
    "stochastic_equal, stochastic_a[:N], stochastic_b[:N], stochastic_c[:N], stochastic_odd[:N] with N in "
    "1..32";

[[noreturn]] void refuse(std::string_view text) {
  std::vector<std::string> names{"stochastic"};
  for (const NamedRoundingMode& known : all_rounding_modes) names.emplace_back(known.name);
  throw Error("rounding", "no such rounding (nearest is " + nearest_name(text, names) + ")",
              std::string(text), std::string(allowed_roundings));
}

int parse_random_bits(std::string_view digits, std::string_view whole) {
  int bits = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (status != std::errc{} || end != digits.data() + digits.size() || bits < 1 || bits > 32) refuse(whole);
  return bits;
}

}  // namespace

Rounding parse_rounding(std::string_view text) {
  if (text == "stochastic") return stochastic;
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  for (const NamedRoundingMode& known : all_rounding_modes) {
    if (known.name != name) continue;
    const bool equal = known.mode == RoundingMode::stochastic_equal;
    if (!is_stochastic(known.mode) || equal) {
      if (colon != std::string_view::npos) refuse(text);
      return {known.mode, equal ? 1 : 0};
    }
    return {known.mode,
            colon == std::string_view::npos ? 16 : parse_random_bits(text.substr(colon + 1), text)};
  }
  refuse(text);
}

std::string to_string(const Rounding& rounding) {
  if (rounding == stochastic) return "stochastic";
  std::string text;
  for (const NamedRoundingMode& known : all_rounding_modes)
    if (known.mode == rounding.mode) text = known.name;
  if (is_stochastic(rounding.mode) && rounding.mode != RoundingMode::stochastic_equal)
    text.append(":").append(std::to_string(rounding.random_bits));
  return text;
}

}  // namespace halfulp

#include "analysis/gap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "formats/block.h"
#include "formats/error.h"
#include "formats/nearest_name.h"

namespace halfulp {
namespace {

enum class UpdateKind : std::uint8_t { additive, relative, both };

struct NamedUpdate {
  std::string_view name;
  UpdateKind kind;
};

constexpr std::array all_updates{
    NamedUpdate{"adam", UpdateKind::additive},     NamedUpdate{"adamw", UpdateKind::additive},
    NamedUpdate{"madam", UpdateKind::relative},    NamedUpdate{"lmd", UpdateKind::relative},
    NamedUpdate{"m+adam", UpdateKind::both},       NamedUpdate{"additive", UpdateKind::additive},
    NamedUpdate{"relative", UpdateKind::relative},
};

constexpr std::string_view allowed_updates =
    "adam=RATE, adamw=RATE, additive=RATE, madam=RATE, lmd=RATE, relative=RATE, m+adam=ETA_A,ETA_M";

UpdateKind kind_of(std::string_view name, std::string_view whole) {
  std::vector<std::string> names;
  for (const NamedUpdate& known : all_updates) {
    if (known.name == name) return known.kind;
    names.emplace_back(known.name);
  }
  throw Error("update", "no such rule (nearest is " + nearest_name(name, names) + ")", std::string(whole),
              std::string(allowed_updates));
}

double parse_rate(std::string_view text, std::string_view whole) {
  double rate = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (status != std::errc{} || end != text.data() + text.size() || !(rate > 0) || std::isinf(rate))
    throw Error("update", "the rate is not a positive number", std::string(whole),
                std::string(allowed_updates));
  return rate;
}

}  // namespace

std::vector<GapStretch> gap_stretches(const ScalarFormat& f, double scale) {
  std::vector<GapStretch> stretches;
  const auto append = [&](double from, double to) {
    const bool grows = !stretches.empty() && stretches.back().gap == to - from;
    if (grows)
      stretches.back().to = to;
    else
      stretches.push_back({from, to, to - from});
  };
  const std::uint32_t top = f.top_magnitude(), length = std::uint32_t{1} << f.fraction_bits;
  for (std::uint32_t field = 0; field <= top >> f.fraction_bits; ++field) {
    const std::uint32_t first = field * length, end = std::min(top, first + length);
    if (first == end) continue;  // the largest number alone in its binade has nothing above it
    const double from = f.magnitude_value(first), to = f.magnitude_value(end);
    if (field == 0 && f.has_zero && !f.has_subnormals) {
      append(from, to);
      continue;
    }
    append(from, f.magnitude_value(first + 1));
    stretches.back().to = to;
  }
  for (GapStretch& stretch : stretches)
    stretch = {stretch.from * scale, stretch.to * scale, stretch.gap * scale};
  return stretches;
}

double gap_above(const std::vector<GapStretch>& stretches, double magnitude) noexcept {
  for (const GapStretch& stretch : stretches)
    if (stretch.from <= magnitude && magnitude < stretch.to) return stretch.gap;
  return 0;
}

UpdateSize parse_update(std::string_view text) {
  const std::size_t equals = text.find('=');
  const UpdateKind kind = kind_of(text.substr(0, equals), text);
  if (equals == std::string_view::npos)
    throw Error("update", "the rate is missing", std::string(text), std::string(allowed_updates));
  const std::string_view name = text.substr(0, equals), rates = text.substr(equals + 1);
  switch (kind) {
    case UpdateKind::additive: {
      const double rate = parse_rate(rates, text);
      return {fmt::format("{} {}", name, rate), rate, 0};
    }
    case UpdateKind::relative: {
      const double rate = parse_rate(rates, text);
      return {fmt::format("{} {}", name, rate), 0, rate};
    }
    case UpdateKind::both:
      break;
  }
  const std::size_t comma = rates.find(',');
  if (comma == std::string_view::npos)
    throw Error("update", "two rates are needed", std::string(text), std::string(allowed_updates));
  const double additive = parse_rate(rates.substr(0, comma), text);
  const double relative = parse_rate(rates.substr(comma + 1), text);
  return {fmt::format("{} {} + {} |w|", name, additive, relative), additive, relative};
}

GapSubject gap_subject(const std::string& name, const BlockFormat& format, double amax) {
  if (!format.has_scale()) return {name, format.element, 1.0};
  const float tensor_scale = choose_tensor_scale(format, amax);
  const double scale = scale_value(format, choose_scale(format, amax, tensor_scale), tensor_scale);
  if (!(scale > 0) || std::isinf(scale))
    throw Error("gap", name + " has no scale for a block of this amax", fmt::format("{}", amax),
                "an amax within the range of its scales");
  return {fmt::format("{} (amax {})", name, amax), format.element, scale};
}

}  // namespace halfulp

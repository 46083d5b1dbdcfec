#include "analysis/gap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "analysis/prediction.h"
#include "formats/block.h"
#include "formats/error.h"
#include "formats/nearest_name.h"
#include "formats/spec.h"

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

/// Stretches in the making: two with one gap are one.
class StretchList {
 public:
  void append(double from, double to) {
    if (!stretches_.empty() && stretches_.back().gap == to - from)
      stretches_.back().to = to;
    else
      stretches_.push_back({from, to, to - from});
  }
  /// The last stretch goes on to there.
  void extend(double to) { stretches_.back().to = to; }

  std::vector<GapStretch> times(double scale) && {
    for (GapStretch& stretch : stretches_)
      stretch = {stretch.from * scale, stretch.to * scale, stretch.gap * scale};
    return std::move(stretches_);
  }

 private:
  std::vector<GapStretch> stretches_;
};

/// Magnitudes of a table on one side, ascending, zero included.
std::vector<double> magnitudes(const ScalarFormat& f, Side side) {
  std::vector<double> all;
  for (std::uint32_t i = 0; i < f.table_size; ++i) {
    const double value = f.table[i];
    if (side == Side::positive ? value >= 0 : value <= 0) all.push_back(std::fabs(value));
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

std::vector<GapStretch> gap_stretches(const ScalarFormat& f, double scale, Side side) {
  StretchList stretches;
  if (f.is_table()) {
    const std::vector<double> numbers = magnitudes(f, side);
    for (std::size_t i = 1; i < numbers.size(); ++i) stretches.append(numbers[i - 1], numbers[i]);
    return std::move(stretches).times(scale);
  }
  if (side == Side::negative && !f.is_signed) return {};
  const bool is_one_further = f.is_fixed_point && side == Side::negative;
  const std::uint32_t top = f.top_magnitude() + (is_one_further ? 1u : 0u),
                      length = std::uint32_t{1} << f.fraction_bits;
  for (std::uint32_t field = 0; field <= top >> f.fraction_bits; ++field) {
    const std::uint32_t first = field * length, end = std::min(top, first + length);
    if (first == end) continue;  // the largest number alone in its binade has nothing above it
    const double from = f.magnitude_value(first), to = f.magnitude_value(end);
    if (field == 0 && f.has_zero && !f.has_subnormals) {
      stretches.append(from, to);
      continue;
    }
    stretches.append(from, f.magnitude_value(first + 1));
    stretches.extend(to);
  }
  return std::move(stretches).times(scale);
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

double GapSubject::largest() const noexcept {
  const bool mirrored = side == Side::negative && element.is_table();
  return scale * (mirrored ? std::max(-element.lowest(), 0.0) : element.max_finite());
}

GapSubject gap_subject(const std::string& name, const BlockFormat& format, double amax) {
  require_double_view(format, "format");
  if (!format.has_scale()) return {name, format.element, 1.0};
  const TensorMultiplier tensor_scale = choose_tensor_scale(format, amax);
  const double scale = scale_value(format, choose_scale(format, amax, tensor_scale, 0), tensor_scale);
  if (!(scale > 0) || std::isinf(scale))
    throw Error("format", name + " has no scale for a block of this amax", fmt::format("{}", amax),
                "an amax within the range of its scales");
  if (std::isinf(format.element.max_finite() * scale) || format.element.min_positive() * scale < 0x1p-1022)
    throw Error("format", name + " under its scale has numbers beyond double's range",
                fmt::format("{}", amax), "an amax nearer to 1");
  return {fmt::format("{} (amax {})", name, amax), format.element, scale};
}

std::vector<GapSubject> sides_of(const GapSubject& subject) {
  const ScalarFormat& f = subject.element;
  if (!f.is_table() || magnitudes(f, Side::negative).size() < 2 ||
      magnitudes(f, Side::negative) == magnitudes(f, Side::positive))
    return {subject};
  return {subject, {subject.name + " negative", f, subject.scale, Side::negative}};
}

double frozen_above(const GapSubject& subject, double update) noexcept {
  const ScalarFormat& f = subject.element;
  if (!f.is_table()) return additive_thresholds(f, subject.scale, update).frozen_above;
  double largest = 0;
  for (std::uint32_t i = 0; i < f.table_size; ++i) {
    const double value = f.table[i];
    if (subject.side == Side::positive ? value <= 0 : value >= 0) continue;
    // A tie goes to the even one of two neighbouring codes.
    const auto moves_to = [&](std::uint32_t other) {
      const double half_gap = std::fabs(f.table[other] - value) / 2 * subject.scale;
      return update > half_gap || (update == half_gap && i % 2 != 0);
    };
    if ((i > 0 && moves_to(i - 1)) || (i + 1 < f.table_size && moves_to(i + 1)))
      largest = std::max(largest, std::fabs(value) * subject.scale);
  }
  return largest;
}

}  // namespace halfulp

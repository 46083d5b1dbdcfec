#include "analysis/verdict.h"

#include <fmt/format.h>

namespace halfulp {
namespace {

/// A short decimal as it stands; digits + 1 significant digits of any other.
std::string short_text(double x, int digits) {
  const std::string whole = fmt::format("{}", x);
  if (whole.size() <= 5) return whole;
  std::string text = fmt::format("{:.{}e}", x, digits);
  const std::size_t exponent = text.find('e') + 1;
  if (text[exponent] == '+') text.erase(exponent, 1);
  const std::size_t first = exponent + (text[exponent] == '-');
  while (first + 1 < text.size() && text[first] == '0') text.erase(first, 1);
  return text.ends_with("e0") ? text.substr(0, exponent - 1) : text;
}

std::string short_text(double x) { return short_text(x, 1); }

/// Never "1" or "0": a draw decides.
std::string probability_text(double p) {
  const std::string text = fmt::format("{:.3g}", p);
  return text == "1" ? "1 - " + short_text(1 - p) : text;
}

/// "A < NAME B", with as many digits as it takes to see why.
std::string comparison(double a, const std::string& name, double b) {
  int digits = 1;
  while (a != b && digits < 16 && short_text(a, digits) == short_text(b, digits)) ++digits;
  return fmt::format("{} {} {} {}", short_text(a, digits),
                     a < b   ? "<"
                     : a > b ? ">"
                             : "=",
                     name, short_text(b, digits));
}

std::string direction(const ElementStep& e) { return e.update > 0 ? "upwards" : "downwards"; }

/// Why an element with an update stayed.
std::string reason(const Verdict& verdict, const ElementStep& e, const SlotPlan& plan) {
  const double size = std::fabs(e.update);
  const std::string against =
      verdict.half_gap ? "|update| " + comparison(size, "half gap", *verdict.half_gap) + " " + direction(e)
                       : "|update| " + short_text(size) + " " + direction(e);
  const std::string drawn = verdict.up ? "up with probability " + probability_text(*verdict.up) : "";
  switch (*verdict.cause) {
    case StagnationCause::absorbed:
      return against + ": already before + update is before";
    case StagnationCause::saturated:
      return against + ", and no number lies " + (e.update > 0 ? "above" : "below");
    case StagnationCause::at_zero:
      if (e.has_zero_scale()) return against + ", and the scale of its block is 0";
      return drawn.empty() ? against : against + "; " + drawn;
    case StagnationCause::below_half_gap:
      return drawn.empty() ? against : against + "; " + drawn;
    case StagnationCause::random:
      return against + ", and the draw kept it" + (drawn.empty() ? "" : "; " + drawn);
    case StagnationCause::otherwise:
      if (!e.grid) return against + ": nothing of it was stored";
      if (verdict.half_gap && size == *verdict.half_gap)
        return against + ": a tie, which " + to_string(plan.rounding) + " leaves";
      return against + ", and " + to_string(plan.rounding) + " keeps it";
  }
  return against;
}

/// What an element did apart from its name: why it stayed, or that nothing was asked for.
std::string stay_text(const Verdict& verdict, const ElementStep& e, const SlotPlan& plan) {
  if (verdict.cause) return reason(verdict, e, plan);
  return e.gradient == 0 ? "no update" : "no update, though the gradient is " + short_text(e.gradient);
}

std::string text_of_kind(const Verdict& verdict, const ElementStep& e, const SlotPlan& plan) {
  const double movement = e.after - e.before;
  switch (verdict.kind) {
    case VerdictKind::nonfinite:
      return "not finite";
    case VerdictKind::trapped_at_zero:
      return "trapped at zero: " + stay_text(verdict, e, plan);
    case VerdictKind::sign_flip_refused:
      return fmt::format("sign flip refused: wanted {}, stored {}", short_text(e.wanted),
                         short_text(e.after)) +
             (verdict.cause ? "; " + reason(verdict, e, plan) : "");
    case VerdictKind::moved_by_scale:
      return "moved by its scale alone: after - before = " + short_text(movement) + "; " +
             stay_text(verdict, e, plan);
    case VerdictKind::saturated:
      return fmt::format("saturates at the {} number: ", e.update > 0 ? "largest" : "lowest") +
             reason(verdict, e, plan);
    case VerdictKind::stays:
      return (e.unmoved == 0 ? "stays at zero: " : "stays: ") + reason(verdict, e, plan);
    case VerdictKind::no_update:
      return "no update";
    case VerdictKind::moves: {
      std::string text =
          fmt::format("moves: after - before = {} (wanted {})", short_text(movement), short_text(e.update));
      if (e.unmoved != e.before) text += "; its scale alone moves it by " + short_text(e.unmoved - e.before);
      if (verdict.up) text += "; up with probability " + probability_text(*verdict.up);
      return text;
    }
  }
  return "";
}

}  // namespace

Verdict verdict_of(const ElementStep& e, const SlotPlan& plan) noexcept {
  StepCounters alone;
  alone.see(e);
  Verdict verdict{VerdictKind::moves, std::nullopt, std::nullopt, std::nullopt, alone.trapping.trapped > 0};
  if (alone.nonfinite > 0) {
    verdict.kind = VerdictKind::nonfinite;
    return verdict;
  }
  const bool updated = alone.stagnation.updated > 0;
  for (std::size_t cause = 0; cause < alone.stagnation.by_cause.size(); ++cause)
    if (alone.stagnation.by_cause[cause] > 0) verdict.cause = static_cast<StagnationCause>(cause);
  if (const std::optional<double> gap = e.gap(); updated && gap) verdict.half_gap = *gap / 2;
  if (updated) verdict.up = up_probability(e, plan);

  if (alone.trapping.trapped_at_zero > 0)
    verdict.kind = VerdictKind::trapped_at_zero;
  else if (alone.sign_flips.refused > 0)
    verdict.kind = VerdictKind::sign_flip_refused;
  else if (alone.collateral.only_by_scale > 0)
    verdict.kind = VerdictKind::moved_by_scale;
  else if (verdict.cause == StagnationCause::saturated)
    verdict.kind = VerdictKind::saturated;
  else if (verdict.cause)
    verdict.kind = VerdictKind::stays;
  else if (!updated)
    verdict.kind = VerdictKind::no_update;
  return verdict;
}

std::optional<double> up_probability(const ElementStep& e, const SlotPlan& plan) noexcept {
  const bool draws = e.stochastic && is_stochastic(plan.rounding.mode);
  if (!draws || !e.grid || !std::isfinite(e.wanted) || !e.grid->element.has_double_view())
    return std::nullopt;
  const double multiplier = e.grid->multiplier;
  // 2^-1022 and above: of a subnormal the low bits say nothing about the power.
  const bool is_power_of_two = multiplier >= 0x1p-1022 && (bits_of(multiplier) & 0x000f'ffff'ffff'ffffu) == 0;
  if (!is_power_of_two) return std::nullopt;
  const Converter convert(e.grid->element, plan.rounding, special_values(plan.overflow));
  const double wanted = e.wanted / multiplier;
  const std::uint64_t draws_in_all = std::uint64_t{1} << plan.rounding.random_bits;
  const double inner = convert.value(wanted, 0);
  const double outer = convert.value(wanted, static_cast<std::uint32_t>(draws_in_all - 1));
  if (!(std::isfinite(inner) && std::isfinite(outer)) || inner == outer) return std::nullopt;
  // Every stochastic mode goes away from zero for the largest integers: the first of them is found by halving.
  std::uint64_t stays_inner = 0, goes_outer = draws_in_all - 1;
  while (goes_outer - stays_inner > 1) {
    const std::uint64_t middle = stays_inner + (goes_outer - stays_inner) / 2;
    (convert.value(wanted, static_cast<std::uint32_t>(middle)) == inner ? stays_inner : goes_outer) = middle;
  }
  const double outward = static_cast<double>(draws_in_all - goes_outer) / static_cast<double>(draws_in_all);
  return outer > inner ? outward : 1 - outward;
}

std::string describe(const Verdict& verdict, const ElementStep& e, const SlotPlan& plan) {
  const bool near_zero = verdict.trapped && verdict.kind != VerdictKind::trapped_at_zero;
  return text_of_kind(verdict, e, plan) +
         (near_zero ? "; trapped near zero: still no more than the smallest positive number" : "");
}

}  // namespace halfulp

#include "experiments/report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/report/one_weight.h"
#include "experiments/report/result_tables.h"

namespace halfulp {
namespace {

using Groups = std::vector<const Group*>;

constexpr const char* stagnation = "/measurements/all/stagnation/share";
constexpr const char* delivered = "/measurements/all/delivery/ratio";

std::string join(const std::vector<std::string>& parts, const std::string& between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

const Group* labelled(const Groups& groups, const std::string& label) {
  for (const Group* group : groups)
    if (group->label == label) return group;
  return nullptr;
}

std::string name_on_scheme(const Group& group) { return group.label + " on " + group.scheme; }

class Findings {
 public:
  explicit Findings(const ProblemRuns& problem)
      : problem_(problem), pointer_("/result/" + problem.split + "/loss") {}

  std::vector<std::string> all() {
    for (const std::string& scheme : problem_.schemes()) best_rule(scheme);
    for (const auto& [one, other] :
         {std::pair{"m_adam", "adamw"}, std::pair{"m_adam", "adamw+sr"}, std::pair{"m_adam+sr", "adamw+sr"}})
      compare(one, other);
    explain_losses();
    extremes();
    growth();
    divergence();
    return sentences_;
  }

 private:
  double loss(const Group& group) const { return group.judged_loss(problem_.split); }
  Spread spread(const Group& group) const { return group.spread(pointer_); }

  /// How a difference of two means compares with the seeds.
  std::string against_noise(const Group& a, const Group& b) const {
    const double noise = shared_deviation(spread(a), spread(b));
    if (std::isnan(noise)) return "one seed, so nothing is known about noise";
    return fmt::format("{} seed noise {}", is_beyond_noise(a, b) ? "beyond" : "within", loss_text(noise));
  }
  bool is_beyond_noise(const Group& a, const Group& b) const {
    return std::fabs(loss(a) - loss(b)) > shared_deviation(spread(a), spread(b));
  }

  void best_rule(const std::string& scheme) {
    Groups ranked = problem_.best_of(scheme);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [&](const Group* a, const Group* b) { return loss(*a) < loss(*b); });
    if (ranked.empty() || !std::isfinite(loss(*ranked[0]))) {
      sentences_.push_back(
          fmt::format("{}: no rule finished with a finite {} loss on all seeds.", scheme, problem_.split));
      return;
    }
    std::string text = fmt::format("{}: the smallest {} loss is {} with {}", scheme, problem_.split,
                                   loss_text(loss(*ranked[0])), ranked[0]->label);
    if (ranked.size() > 1 && std::isfinite(loss(*ranked[1]))) {
      const double ahead = loss(*ranked[1]) - loss(*ranked[0]);
      text += ahead == 0 ? fmt::format(", the same as {}", ranked[1]->label)
                         : fmt::format(", {} below {} ({})", loss_text(ahead), ranked[1]->label,
                                       against_noise(*ranked[0], *ranked[1]));
    }
    sentences_.push_back(text + ".");
  }

  /// One sentence over all schemes that have both.
  void compare(const std::string& one, const std::string& other) {
    std::vector<std::string> parts;
    int below = 0, above = 0, equal = 0;
    for (const std::string& scheme : problem_.schemes()) {
      const Groups groups = problem_.best_of(scheme);
      const Group *a = labelled(groups, one), *b = labelled(groups, other);
      if (!a || !b) continue;
      if (!std::isfinite(loss(*a)) || !std::isfinite(loss(*b))) {
        const bool both = !std::isfinite(loss(*a)) && !std::isfinite(loss(*b));
        parts.push_back(scheme + (both                      ? " neither finished"
                                  : std::isfinite(loss(*a)) ? " only " + one + " finished"
                                                            : " only " + other + " finished"));
        continue;
      }
      const double change = loss(*b) != 0 ? loss(*a) / loss(*b) - 1 : NAN;
      const bool clear = is_beyond_noise(*a, *b);
      const bool one_seed = std::isnan(shared_deviation(spread(*a), spread(*b)));
      (!clear ? equal : loss(*a) < loss(*b) ? below : above) += 1;
      parts.push_back(fmt::format(
          "{} {}{}", scheme,
          std::isnan(change) ? loss_text(loss(*a)) + " against 0" : fmt::format("{:+.1f} %", 100 * change),
          clear      ? ""
          : one_seed ? " (one seed)"
                     : " (not beyond noise)"));
    }
    if (parts.empty()) return;
    sentences_.push_back(fmt::format(
        "{} against {}, {} loss: {}. Lower beyond seed noise on {} schemes, higher on {}, undecided on {}.",
        one, other, problem_.split, join(parts, "; "), below, above, equal));
  }

  /// Does the stagnation share or the delivered ratio put the losses in order?
  void explain_losses() {
    std::vector<double> losses, shares, ratios;
    for (const std::string& scheme : problem_.schemes())
      for (const Group* group : problem_.best_of(scheme)) {
        const double share = group->mean(stagnation), ratio = group->mean(delivered);
        if (!std::isfinite(loss(*group)) || std::isnan(share) || std::isnan(ratio)) continue;
        losses.push_back(loss(*group)), shares.push_back(share), ratios.push_back(ratio);
      }
    const double by_share = rank_correlation(shares, losses), by_ratio = rank_correlation(ratios, losses);
    if (std::isnan(by_share) || std::isnan(by_ratio)) return;
    // More stagnation should mean a larger loss, more delivery a smaller one.
    const char* verdict = by_share == -by_ratio  ? "neither orders the losses better"
                          : by_share < -by_ratio ? "the delivered ratio orders the losses better"
                                                 : "the stagnation share orders the losses better";
    sentences_.push_back(
        fmt::format("Rank correlation with the {} loss over {} pairs of rule and scheme: stagnation share "
                    "{:+.2f}, delivered ratio {:+.2f}; {}.",
                    problem_.split, losses.size(), by_share, by_ratio, verdict));
  }

  /// The group with the largest mean (sign = 1) or smallest (-1); nullptr if none has one.
  const Group* extreme(const char* pointer, double sign) const {
    const Group* found = nullptr;
    for (const std::string& scheme : problem_.schemes())
      for (const Group* group : problem_.best_of(scheme)) {
        const double value = sign * group->mean(pointer);
        if (!std::isnan(value) && (!found || value > sign * found->mean(pointer))) found = group;
      }
    return found;
  }

  void extremes() {
    if (const Group* most = extreme(stagnation, 1))
      sentences_.push_back(fmt::format("Largest stagnation share: {} ({}), where the delivered ratio is {}.",
                                       share_text(most->mean(stagnation)), name_on_scheme(*most),
                                       share_text(most->mean(delivered))));
    if (const Group* least = extreme(delivered, -1))
      sentences_.push_back(fmt::format("Smallest delivered ratio: {} ({}).",
                                       share_text(least->mean(delivered)), name_on_scheme(*least)));
    const auto largest = [&](const char* pointer, const char* what) {
      const Group* group = extreme(pointer, 1);
      if (group && group->mean(pointer) > 0)
        sentences_.push_back(fmt::format("Largest {}: {} ({}).", what, share_text(group->mean(pointer)),
                                         name_on_scheme(*group)));
    };
    largest("/measurements/all/trapping/zero_share", "share of elements stored as zero");
    largest("/measurements/all/trapping/trapped_at_zero_share", "share of elements trapped at zero");
    largest("/signs/excess", "sign disagreement beyond that of two fp32 twins");
    largest("/signs/failure", "sign-flip failure");
  }

  /// Root mean square of the weights at the last row of the trace over that at the first.
  void growth() {
    std::vector<std::string> parts;
    for (const std::string& scheme : problem_.schemes())
      for (const Group* group : problem_.best_of(scheme)) {
        const double own = growth_of(*group);
        if (!(own > 2)) continue;
        const Group* reference = problem_.in_fp32(*group);
        const double other = reference ? growth_of(*reference) : NAN;
        parts.push_back(fmt::format(
            "{} x{:.3g}{}", name_on_scheme(*group), own,
            scheme == "fp32" || std::isnan(other) ? "" : fmt::format(" (in fp32 x{:.3g})", other)));
      }
    if (!parts.empty())
      sentences_.push_back("Root mean square of the weights more than doubled: " + join(parts, "; ") + ".");
  }
  static double growth_of(const Group& group) {
    std::vector<double> ratios;
    for (const auto* run : group.counted_runs()) {
      const std::vector<double> rms = numbers_at(*run, "/trace/rms");
      if (rms.size() > 1 && rms.front() > 0) ratios.push_back(rms.back() / rms.front());
    }
    return spread_of(ratios).mean;
  }

  void divergence() {
    std::vector<std::string> parts;
    for (const Group& group : problem_.groups)
      if (const std::string text = divergence_text(group); !text.empty())
        parts.push_back(fmt::format("{} on {} {} ({} of {} runs)", group.row_name(), group.scheme, text,
                                    group.diverged_at().size(), group.runs.size()));
    if (!parts.empty()) sentences_.push_back("Diverged: " + join(parts, "; ") + ".");
  }

  const ProblemRuns& problem_;
  std::string pointer_;
  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<std::string> findings(const ProblemRuns& problem) { return Findings(problem).all(); }

std::vector<std::string> one_weight_findings(const std::vector<ProblemRuns>& problems) {
  struct Count {
    std::size_t runs = 0, reached = 0;
    std::vector<std::string> failures;
  };
  std::map<std::string, Count> counts;
  for (const ProblemRuns& problem : problems) {
    if (problem.kind != ProblemKind::one_weight) continue;
    for (const Group& group : problem.groups)
      for (const auto* run : group.runs) {
        Count& count = counts[group.row_name() + " on " + group.scheme];
        const WeightEnding ending = weight_ending(*run);
        ++count.runs;
        count.reached += ending.reached;
        if (ending.reached) continue;
        const std::optional<WeightCase> known = weight_case(*run);
        count.failures.push_back((known ? fmt::format("{:g} -> {:g} ", known->start, known->target) : "") +
                                 ending.verdict);
      }
  }
  std::vector<std::string> sentences;
  for (const auto& [name, count] : counts)
    sentences.push_back(fmt::format("{}: {} of {} runs reach the target{}.", name, count.reached, count.runs,
                                    count.failures.empty() ? "" : "; " + join(count.failures, "; ")));
  return sentences;
}

}  // namespace halfulp

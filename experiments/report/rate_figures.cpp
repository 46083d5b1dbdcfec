#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/report/report_figure.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

/// The rate that a rule is tuned by first.
double rate_of(const Group& group) {
  const Json& rule = group.config().at("rule");
  for (const char* name : {"eta", "eta_a", "alpha", "eta_m", "lr_factor"})
    if (rule.contains(name)) return rule.at(name).get<double>() * (std::string(name) == "lr_factor" ? 1e-3 : 1);
  return NAN;
}

/// Of each rate the group with the smallest loss: other settings are chosen for it.
std::map<double, const Group*> best_by_rate(const ProblemRuns& problem, const std::string& scheme,
                                            const std::string& label) {
  std::map<double, const Group*> best;
  for (const Group& group : problem.rates) {
    if (group.scheme != scheme || group.label != label) continue;
    const Group*& at = best[rate_of(group)];
    if (!at || group.judged_loss(problem.split) < at->judged_loss(problem.split)) at = &group;
  }
  return best;
}

std::vector<std::string> labels_of(const ProblemRuns& problem, const std::string& scheme) {
  std::vector<std::string> labels;
  for (const Group& group : problem.rates)
    if (group.scheme == scheme && (labels.empty() || labels.back() != group.label)) labels.push_back(group.label);
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

ReportFigure rate_figure(const ProblemRuns& problem, const std::string& scheme, const std::vector<std::string>& labels,
                         const std::string& part) {
  std::vector<Series> curves;
  for (std::size_t place = 0; place < labels.size(); ++place) {
    const std::string& label = labels[place];
    // By place, not by rule: up to 35 lines of one picture then differ in colour or dash.
    Series curve{label, SeriesStyle::line_and_points, static_cast<int>(1 + place % 7), static_cast<int>(place % 5),
                 {}, {}};
    std::vector<Series> bars;
    for (const auto& [rate, group] : best_by_rate(problem, scheme, label)) {
      const Spread loss = group->spread("/result/" + problem.split + "/loss");
      if (!std::isfinite(group->judged_loss(problem.split))) continue;  // a rate at which a seed diverged has no loss
      curve.x.push_back(rate);
      curve.y.push_back(loss.mean);
      if (!loss.has_deviation() || loss.deviation >= loss.mean) continue;
      Series bar{fmt::format("{} at {:g}", label, rate), SeriesStyle::thin_line, curve.colour, 0,
                 {rate, rate},
                 {loss.mean - loss.deviation, loss.mean + loss.deviation},
                 false};
      bars.push_back(std::move(bar));
    }
    if (curve.x.empty()) continue;
    curves.push_back(std::move(curve));
    curves.insert(curves.end(), bars.begin(), bars.end());
  }
  return {file_stem(problem.name + "_" + scheme + "_rates_" + part),
          fmt::format("Final loss of {} against the learning rate, weights and states stored as {}: mean over the "
                      "seeds, bars of one standard deviation. The rate is eta, eta_a or alpha (lr_factor / 1000 for "
                      "integer_madam); where a rule has a second rate, each point has the best one. Rates at which a "
                      "seed diverged are left out.",
                      problem.name, scheme),
          "rate",
          "loss",
          {fmt::format("loss against rate: {}, scheme {}, {}", problem.name, scheme, part),
           {"learning rate", AxisScale::log10, std::nullopt, std::nullopt},
           {"final loss", AxisScale::log10, std::nullopt, std::nullopt},
           std::move(curves)}};
}

}  // namespace

std::vector<ReportFigure> rate_figures(const ProblemRuns& problem) {
  std::vector<ReportFigure> figures;
  for (const std::string& scheme : problem.schemes()) {
    // Two pictures, so that lines can be told apart: what adds, and what multiplies (alone or beside).
    std::vector<std::string> additive, multiplicative;
    for (const std::string& label : labels_of(problem, scheme))
      (label.starts_with("adam") || label.starts_with("sgd") || label.starts_with("apollo") ? additive : multiplicative)
          .push_back(label);
    for (const auto& [labels, part] : {std::pair{&additive, "additive"}, std::pair{&multiplicative, "multiplicative"}}) {
      ReportFigure figure = rate_figure(problem, scheme, *labels, part);
      if (!figure.figure.series.empty()) figures.push_back(std::move(figure));
    }
  }
  return figures;
}

}  // namespace halfulp

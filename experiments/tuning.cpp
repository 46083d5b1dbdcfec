#include "experiments/tuning.h"

#include <cmath>
#include <limits>

#include "experiments/plan_config.h"
#include "formats/error.h"

namespace halfulp {
namespace {

std::string group_of(const std::string& label, const nlohmann::ordered_json& plan) {
  return label + " on " + plan.at("scheme").get<std::string>() + " " + plan.dump();
}

double judged_loss(const nlohmann::ordered_json& record) {
  const auto& result = record.at("result");
  const auto& loss = result.at(result.contains("validation") ? "validation" : "train").at("loss");
  return loss.is_number() ? loss.get<double>() : std::numeric_limits<double>::infinity();
}

}  // namespace

double Candidate::mean() const {
  if (diverged > 0 || losses.empty()) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const double loss : losses) sum += loss;
  return sum / static_cast<double>(losses.size());
}

void Winners::add(const std::string& group, const Candidate& candidate) {
  const auto [at, is_new] = best_.try_emplace(group, candidate);
  if (!is_new && candidate.mean() < at->second.mean()) at->second = candidate;
}

AnyRule Winners::of(const RunConfig& run) const {
  const std::string group = group_of(rule_label(run.rule, run.plan), to_json(run.plan));
  const auto found = best_.find(group);
  if (found == best_.end())
    throw Error("tuned_by", "no tuning record for this rule and plan", group,
                std::to_string(best_.size()) + " others");
  AnyRule rule = run.rule;
  std::visit(
      [&]<class Choice>(Choice& choice) {
        Choice::Rule::settings(choice.config,
                               [&]<class Number>(const char* key, Number& value, Number, Number) {
                                 value = found->second.rule.at(key).template get<Number>();
                               });
      },
      rule);
  return rule;
}

Winners find_winners(const std::vector<nlohmann::ordered_json>& records) {
  std::map<std::string, std::map<std::string, Candidate>> groups;
  for (const auto& record : records) {
    const auto& config = record.at("config");
    Candidate& candidate =
        groups[group_of(record.at("label").get<std::string>(), config.at("plan"))][config.at("rule").dump()];
    candidate.rule = config.at("rule");
    if (record.at("status") == "diverged")
      ++candidate.diverged;
    else
      candidate.losses.push_back(judged_loss(record));
  }
  Winners winners;
  for (const auto& [group, candidates] : groups)
    for (const auto& [rule, candidate] : candidates) winners.add(group, candidate);
  return winners;
}

}  // namespace halfulp

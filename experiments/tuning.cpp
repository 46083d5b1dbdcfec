#include "experiments/tuning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "experiments/run.h"
#include "formats/error.h"

namespace halfulp {
namespace {

/// Everything of a config but the numbers of its rule, its seed, and what is only looked at.
std::string group_of(const std::string& label, nlohmann::ordered_json config) {
  for (const char* key : {"rule", "seed", "measure", "measure_every", "trace_every", "sign_twin_eta"})
    config.erase(key);
  return label + " on " + config.at("plan").at("scheme").get<std::string>() + " " + config.dump();
}

double judged_loss(const nlohmann::ordered_json& record) {
  const auto& result = record.at("result");
  const auto& loss = result.at(result.contains("validation") ? "validation" : "train").at("loss");
  return loss.is_number() ? loss.get<double>() : std::numeric_limits<double>::infinity();
}

}  // namespace

double Candidate::mean() const {
  if (diverged > 0 || losses.empty()) return std::numeric_limits<double>::infinity();
  // In order of size: the order of the records is that of the threads that made them.
  std::vector<double> sorted = losses;
  std::sort(sorted.begin(), sorted.end());
  return std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
}

void Winners::add(const std::string& group, const Candidate& candidate) {
  const auto [at, is_new] = best_.try_emplace(group, candidate);
  if (!is_new && candidate.mean() < at->second.mean()) at->second = candidate;
}

AnyRule Winners::of(const RunConfig& run) const {
  // The double twin is there to be compared with the fp32 run, hence has its rates.
  RunConfig tuned = run;
  if (run.plan.scheme == "fp64") {
    tuned.plan = parse_scheme("fp32");
    tuned.plan.base.weights.rounding = run.plan.base.weights.rounding;
    tuned.number = NumberType::float32;
  }
  const std::string group = group_of(rule_label(tuned.rule, tuned.plan), to_json(tuned));
  const auto found = best_.find(group);
  if (found == best_.end() || !std::isfinite(found->second.mean())) {
    std::string known;
    for (const auto& [name, candidate] : best_)
      known += (known.empty() ? "" : ", ") + name.substr(0, name.find(" {"));
    throw Error("tuned_by",
                found == best_.end() ? "no tuning record for this run, on other seeds than its sweep's"
                                     : "every tuning record diverged",
                group, known.empty() ? "a folder with records" : known);
  }
  return with_settings(run.rule, found->second.rule);
}

Winners find_winners(const std::vector<nlohmann::ordered_json>& records,
                     const std::set<std::uint64_t>& judged_seeds) {
  std::map<std::string, std::map<std::string, Candidate>> groups;
  for (const auto& record : records) {
    if (record.value("bits_version", 0) != bits_version) continue;
    const auto& config = record.at("config");
    if (judged_seeds.contains(config.at("seed").get<std::uint64_t>())) continue;
    Candidate& candidate =
        groups[group_of(record.at("label").get<std::string>(), config)][config.at("rule").dump()];
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

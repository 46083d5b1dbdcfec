#include "experiments/report/groups.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "optimizers/any_rule.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

/// Place of a name in a list; behind all of it if it is not there.
template <class Names>
std::size_t place_in(const Names& names, std::string_view name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

std::size_t place_of_scheme(const std::string& scheme) {
  static constexpr std::array<std::string_view, 7> usual{"fp64",     "fp32",    "bf16/fp32", "bf16/bf16",
                                                         "bf16/fp8", "fp8/fp8", "nvfp4/fp8"};
  return place_in(usual, scheme);
}

std::string seedless(const Json& config) {
  Json copy = config;
  copy.erase("seed");
  return copy.dump();
}

double seed_of(const Json& record) { return number_at(record, "/config/seed"); }

std::string without_quotes(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Settings by path, "rule.eta" and so on, the seed left out.
std::map<std::string, std::string> flat_settings(const Json& config) {
  std::map<std::string, std::string> settings;
  const Json flat = config.flatten();
  for (const auto& [path, value] : flat.items()) {
    std::string name = path.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    if (name != "seed") settings[name] = without_quotes(value);
  }
  return settings;
}

std::string short_name(const std::string& path) {
  for (const std::string_view start : {"rule.", "problem.", "plan."})
    if (path.rfind(start, 0) == 0) return path.substr(start.size());
  return path;
}

/// Writes into each of these groups the settings that not all of them have.
void tell_apart(const std::vector<Group*>& groups) {
  std::vector<std::map<std::string, std::string>> all;
  std::set<std::string> paths;
  for (const Group* group : groups) {
    all.push_back(flat_settings(group->config()));
    for (const auto& [path, value] : all.back()) paths.insert(path);
  }
  for (const std::string& path : paths) {
    std::set<std::string> values;
    for (auto& settings : all) values.insert(settings.try_emplace(path, "default").first->second);
    if (values.size() < 2) continue;
    for (std::size_t i = 0; i < groups.size(); ++i)
      groups[i]->settings +=
          (groups[i]->settings.empty() ? "" : ", ") + short_name(path) + "=" + all[i][path];
  }
}

bool has_split(const Group& group, const std::string& split) {
  return std::any_of(group.runs.begin(), group.runs.end(), [&](const Json* run) {
    return run->contains(Json::json_pointer("/result/" + split + "/loss"));
  });
}

void choose_setting(const std::vector<Group*>& groups) {
  const bool validated = std::any_of(groups.begin(), groups.end(),
                                     [](const Group* group) { return has_split(*group, "validation"); });
  const std::string split = validated ? "validation" : "train";
  Group* best = groups.front();
  for (Group* group : groups) {
    group->is_best_setting = false;
    if (group->judged_loss(split) < best->judged_loss(split)) best = group;
  }
  best->is_best_setting = true;
}

ProblemKind kind_of(const ProblemRuns& problem) {
  if (problem.name.rfind("quadratic_1d", 0) == 0) return ProblemKind::one_weight;
  // Only what learns from data has mini-batches, or a split beside the one it is trained on.
  for (const Group& group : problem.groups)
    if (has_split(group, "test") || has_split(group, "validation") ||
        group.config().contains("sign_twin_eta") || group.config().at("problem").contains("batch_size"))
      return ProblemKind::model;
  return ProblemKind::toy;
}

/// Start of a case "quadratic_1d:4->3"; 0 for other problems.
double start_of(const ProblemRuns& problem) {
  const std::size_t colon = problem.name.find(':');
  if (problem.kind != ProblemKind::one_weight || colon == std::string::npos) return 0;
  return std::strtod(problem.name.c_str() + colon + 1, nullptr);
}

void finish(ProblemRuns& problem) {
  const std::vector<std::string> rules = rule_names();
  for (Group& group : problem.groups)
    std::stable_sort(group.runs.begin(), group.runs.end(),
                     [](const Json* a, const Json* b) { return seed_of(*a) < seed_of(*b); });
  std::map<std::pair<std::string, std::string>, std::vector<Group*>> alike;
  for (Group& group : problem.groups) alike[{group.scheme, group.label}].push_back(&group);
  for (const auto& [name, groups] : alike) {
    if (groups.size() > 1) tell_apart(groups);
    choose_setting(groups);
  }
  const auto order = [&](const Group& group) {
    return std::tuple(place_of_scheme(group.scheme), group.scheme, place_in(rules, group.rule), group.label,
                      group.settings);
  };
  std::stable_sort(problem.groups.begin(), problem.groups.end(),
                   [&](const Group& a, const Group& b) { return order(a) < order(b); });
  problem.kind = kind_of(problem);
  problem.split = "train";
  for (const Group& group : problem.groups)
    if (has_split(group, "test")) problem.split = "test";
}

}  // namespace

std::vector<std::string> Group::diverged_at() const {
  std::vector<std::string> steps;
  for (const Json* run : runs)
    if (run->at("status") == "diverged") steps.push_back(run->value("diverged_at", Json("?")).dump());
  return steps;
}

std::vector<const Json*> Group::counted_runs() const {
  std::vector<const Json*> finished;
  for (const Json* run : runs)
    if (run->at("status") != "diverged") finished.push_back(run);
  return finished.empty() ? runs : finished;
}

Spread Group::spread(const std::string& pointer) const {
  std::vector<double> values;
  for (const Json* run : counted_runs())
    if (run->contains(Json::json_pointer(pointer))) values.push_back(number_at(*run, pointer));
  return spread_of(values);
}

double Group::judged_loss(const std::string& split) const {
  const Spread loss = spread("/result/" + split + "/loss");
  const bool failed = !diverged_at().empty() || loss.not_finite > 0 || loss.count == 0;
  return failed ? std::numeric_limits<double>::infinity() : loss.mean;
}

std::vector<std::string> ProblemRuns::schemes() const {
  std::vector<std::string> names;
  for (const Group& group : groups)
    if (names.empty() || names.back() != group.scheme) names.push_back(group.scheme);
  return names;
}

std::vector<const Group*> ProblemRuns::best_of(const std::string& scheme) const {
  std::vector<const Group*> best;
  for (const Group& group : groups)
    if (group.scheme == scheme && group.is_best_setting) best.push_back(&group);
  return best;
}

const Group* ProblemRuns::in_fp32(const Group& group) const {
  const Group* same_rule = nullptr;
  for (const Group& other : groups) {
    if (other.scheme != "fp32" || other.rule != group.rule || !other.is_best_setting) continue;
    if (other.label == group.label) return &other;
    if (!same_rule) same_rule = &other;
  }
  return same_rule;
}

std::vector<ProblemRuns> group_records(const RecordSet& set) {
  std::map<std::string, std::map<std::string, Group>> found;
  for (const Json& record : set.records) {
    const Json& config = record.at("config");
    const std::string label = record.at("label").get<std::string>();
    Group& group = found[config.at("problem").at("name").get<std::string>()][label + " " + seedless(config)];
    group.scheme = config.at("plan").at("scheme").get<std::string>();
    group.rule = config.at("rule").at("name").get<std::string>();
    group.label = label;
    group.runs.push_back(&record);
  }
  std::vector<ProblemRuns> problems;
  for (auto& [name, groups] : found) {
    ProblemRuns problem{name, ProblemKind::toy, "", {}, {}};
    for (auto& [config, group] : groups)
      (group.runs.front()->contains("measurements") ? problem.groups : problem.rates).push_back(std::move(group));
    // Of nothing but results, the results are what there is to show.
    if (problem.groups.empty()) problem.groups.swap(problem.rates);
    finish(problem);
    problems.push_back(std::move(problem));
  }
  const auto order = [](const ProblemRuns& problem) {
    const double start = start_of(problem);
    return std::tuple(problem.kind, -std::fabs(start), -start);
  };
  std::stable_sort(problems.begin(), problems.end(),
                   [&](const ProblemRuns& a, const ProblemRuns& b) { return order(a) < order(b); });
  return problems;
}

}  // namespace halfulp

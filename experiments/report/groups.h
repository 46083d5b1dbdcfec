#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/report/record_set.h"
#include "experiments/report/statistics.h"

namespace halfulp {

/// Runs that differ in nothing but the seed. Points into a RecordSet, which must outlive it.
struct Group {
  std::string scheme, rule;  ///< names in the config
  std::string label;         ///< the rule's row in a table: adamw, adamw+sr, ...
  std::string settings;      ///< what tells it from other groups of this label and scheme: "eta=0.01"; or ""
  bool is_best_setting;      ///< of those groups, the one with the smallest validation (else train) loss
  std::vector<const nlohmann::ordered_json*> runs;  ///< by seed

  const nlohmann::ordered_json& config() const { return runs.front()->at("config"); }
  std::string row_name() const { return settings.empty() ? label : label + " (" + settings + ")"; }
  std::vector<std::string> diverged_at() const;  ///< the steps, one a diverged run

  /// Of the runs that finished; of all if none did.
  std::vector<const nlohmann::ordered_json*> counted_runs() const;
  Spread spread(const std::string& pointer) const;
  double mean(const std::string& pointer) const { return spread(pointer).mean; }

  /// Mean of a loss, infinite if any seed diverged or ended with a loss that is not finite.
  double judged_loss(const std::string& split) const;
};

enum class ProblemKind : std::uint8_t { one_weight, toy, model };

/// All runs of one problem: groups ordered by scheme (fp64, fp32, bf16, fp8, 4-bit), rule, label, settings.
struct ProblemRuns {
  std::string name;
  ProblemKind kind;
  std::string split;  ///< the split that it is judged by: "test" where there is one, else "train"
  std::vector<Group> groups;
  std::vector<Group> rates;  ///< of runs that recorded results alone: what rates were chosen from

  /// Many rules: figures of all their lines would show nothing.
  bool is_atlas() const { return !rates.empty(); }
  std::vector<std::string> schemes() const;
  /// One group for each label: its best setting.
  std::vector<const Group*> best_of(const std::string& scheme) const;
  /// The same rule stored in fp32, of the same label if there is one; nullptr if there is none.
  const Group* in_fp32(const Group& group) const;
};

/// Problems in alphabetical order: those with one weight first, from the largest |start|, the models last.
std::vector<ProblemRuns> group_records(const RecordSet& set);

}  // namespace halfulp

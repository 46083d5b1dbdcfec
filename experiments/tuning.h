#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "experiments/run_config.h"

namespace halfulp {

/// One setting of a rule under one plan, over its seeds.
struct Candidate {
  nlohmann::ordered_json rule;  ///< {name, setting: value, ...}
  std::vector<double> losses;   ///< validation loss of each seed ("train" where there is no validation split)
  std::size_t diverged = 0;     ///< seeds that diverged: they cost infinity
  double mean() const;
};

/// The settings of each rule and plan with the smallest mean loss over the seeds.
class Winners {
 public:
  /// The rule of `run` with the winning numbers.
  /// errors: throws Error if there is no record for this rule and plan.
  AnyRule of(const RunConfig& run) const;

  void add(const std::string& group, const Candidate& candidate);
  const std::map<std::string, Candidate>& all() const { return best_; }

 private:
  std::map<std::string, Candidate> best_;
};

/// Runs of this bits version, grouped by everything but the numbers of their rule and the seed, told apart by those
/// numbers, and averaged over seeds. Runs on the seeds that the winners are to be judged on are left out: a rate chosen by
/// them would flatter itself, and a sweep that writes into the folder it was tuned by would choose otherwise once it is
/// resumed.
Winners find_winners(const std::vector<nlohmann::ordered_json>& records,
                     const std::set<std::uint64_t>& judged_seeds = {});

}  // namespace halfulp

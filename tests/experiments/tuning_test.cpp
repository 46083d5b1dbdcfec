// Which settings of a rule win.
#include "experiments/tuning.h"

#include <doctest/doctest.h>

#include "experiments/run.h"
#include "tests/experiments/toy_configs.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;
using test::config_of;

/// A record as a run would leave it; loss nullopt: diverged.
Json record(const std::vector<std::string>& settings, std::optional<double> loss,
            const char* split = "train") {
  const RunConfig config = config_of(test::toy, settings);
  Json json{{"key", record_key(config)},
            {"bits_version", bits_version},
            {"label", rule_label(config.rule, config.plan)},
            {"config", to_json(config)},
            {"status", loss ? "finished" : "diverged"}};
  if (loss) json["result"] = {{"train", {{"loss", 99.0}}}};
  if (loss) json["result"][split] = {{"loss", *loss}};
  return json;
}

double winning_eta(const std::vector<Json>& records, const std::vector<std::string>& settings = {}) {
  const AnyRule rule = find_winners(records).of(config_of(test::toy, settings));
  return std::get<RuleChoice<AdamW>>(rule).config.eta;
}

TEST_CASE("tuning: the smallest mean loss over the seeds, on the validation split where there is one") {
  CHECK(winning_eta({record({"rule.eta=1", "seed=0"}, 1.0), record({"rule.eta=1", "seed=1"}, 3.0),
                     record({"rule.eta=2", "seed=0"}, 2.5), record({"rule.eta=2", "seed=1"}, 1.0)}) == 2);
  CHECK(winning_eta({record({"rule.eta=1"}, 2.0, "validation"), record({"rule.eta=2"}, 1.0, "validation")}) ==
        2);
  CHECK(winning_eta({record({"rule.eta=1"}, 1.0, "test"), record({"rule.eta=2"}, 98.0, "train")}) == 2);
}

TEST_CASE("tuning: a setting with a diverged seed loses against any that never diverged") {
  CHECK(winning_eta({record({"rule.eta=1", "seed=0"}, 0.1), record({"rule.eta=1", "seed=1"}, std::nullopt),
                     record({"rule.eta=2", "seed=0"}, 50.0), record({"rule.eta=2", "seed=1"}, 60.0)}) == 2);
  // A loss that is no number, as a record on disk has it.
  Json null_loss = record({"rule.eta=1"}, 0.0);
  null_loss["result"]["train"]["loss"] = nullptr;
  CHECK(winning_eta({null_loss, record({"rule.eta=2"}, 50.0)}) == 2);
}

TEST_CASE("tuning: the order of the records does not matter, ties included") {
  std::vector<Json> records{record({"rule.eta=1", "seed=0"}, 0.1), record({"rule.eta=1", "seed=1"}, 0.2),
                            record({"rule.eta=1", "seed=2"}, 0.3), record({"rule.eta=2", "seed=0"}, 0.3),
                            record({"rule.eta=2", "seed=1"}, 0.2), record({"rule.eta=2", "seed=2"}, 0.1)};
  const double first = winning_eta(records);
  std::sort(records.begin(), records.end());
  do {
    if (winning_eta(records) != first) FAIL("another winner");
  } while (std::next_permutation(records.begin(), records.end()));
}

TEST_CASE("tuning: each rule, plan, problem and length by itself") {
  const std::vector<Json> records{record({"rule.eta=1"}, 5.0),
                                  record({"rule.eta=2"}, 6.0),
                                  record({"rule.eta=3", "plan.scheme=fp8/fp8"}, 1.0),
                                  record({"rule.eta=4", "plan.weights.rounding=stochastic"}, 1.0),
                                  record({"rule.eta=5", "steps=13"}, 1.0),
                                  record({"rule.eta=6", "problem.size=601"}, 1.0),
                                  record({"rule.eta=7", "problem=zero_initialized"}, 1.0),
                                  record({"rule.eta=8", "schedule=cosine"}, 1.0),
                                  record({"rule={name: madam, eta: 9}"}, 1.0)};
  CHECK(winning_eta(records) == 1);
  CHECK(winning_eta(records, {"plan.scheme=fp8/fp8"}) == 3);
  CHECK(winning_eta(records, {"plan.weights.rounding=stochastic"}) == 4);
  CHECK(winning_eta(records, {"steps=13"}) == 5);
  CHECK(winning_eta(records, {"problem.size=601"}) == 6);
  CHECK(winning_eta(records, {"schedule=cosine"}) == 8);
  const AnyRule madam = find_winners(records).of(config_of(test::toy, {"rule=madam"}));
  CHECK(std::get<RuleChoice<Madam>>(madam).config.eta == 9);
  // The double twin takes the numbers of the fp32 run.
  CHECK(winning_eta({record({"rule.eta=1", "plan={scheme: fp32}"}, 1.0), record({"rule.eta=2"}, 0.5)},
                    {"plan={scheme: fp64}"}) == 1);
  // How a run is looked at and its seed are nothing to tune for.
  CHECK(winning_eta(records, {"seed=9", "measure_every=3", "trace_every=7", "sign_twin_eta=1e-2"}) == 1);
}

TEST_CASE(
    "tuning: runs on the seeds to be judged choose nothing, so that a resumed sweep chooses as it began") {
  const std::vector<Json> tuning{record({"rule.eta=1", "seed=100"}, 1.0),
                                 record({"rule.eta=2", "seed=100"}, 2.0)};
  std::vector<Json> resumed = tuning;
  resumed.push_back(record({"rule.eta=1", "seed=0"}, 9.0));  // judged worse than it was tuned
  const auto eta = [](const Winners& winners) {
    return std::get<RuleChoice<AdamW>>(winners.of(config_of(test::toy, {}))).config.eta;
  };
  CHECK(eta(find_winners(tuning, {0, 1})) == 1);
  CHECK(eta(find_winners(resumed)) == 2);
  CHECK(eta(find_winners(resumed, {0, 1})) == 1);
  CHECK(test::contains(test::error_of([&] {
                         eta(find_winners(resumed, {0, 100}));
                       }),
                       {"no tuning record", "other seeds"}));
}

TEST_CASE("tuning: every number of the winner is taken, doubles and counts") {
  const AnyRule rule = find_winners({record({"rule={name: lmd, alpha: 0.3, sigma: 0.25, samples: 3}"}, 1.0)})
                           .of(config_of(test::toy, {"rule=lmd"}));
  const Lmd::Config& lmd = std::get<RuleChoice<Lmd>>(rule).config;
  CHECK(lmd.alpha == 0.3);
  CHECK(lmd.sigma == 0.25);
  CHECK(lmd.samples == 3);
}

TEST_CASE("tuning: no record for the rule and plan, another bits version, or all diverged: an error") {
  const auto error = [](const std::vector<Json>& records) {
    return test::error_of([&] { winning_eta(records); });
  };
  Json old = record({"rule.eta=1"}, 1.0);
  old["bits_version"] = bits_version + 1;
  CHECK(test::contains(error({}), {"tuned_by", "no tuning record", "adamw on bf16/fp8", "allowed: "}));
  CHECK(test::contains(error({record({"rule=madam"}, 1.0)}), {"no tuning record", "madam on bf16/fp8"}));
  CHECK(test::contains(error({old}), {"no tuning record"}));
  CHECK(test::contains(error({record({"rule.eta=1"}, std::nullopt)}), {"diverged"}));
}

}  // namespace
}  // namespace halfulp

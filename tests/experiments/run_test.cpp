// One run: the same bytes every time, divergence as a result, measurements only where something was measured.
#include "experiments/run.h"

#include <doctest/doctest.h>

#include "tests/experiments/toy_configs.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;
using test::config_of;

Json record_of(const RunConfig& config, ThreadPool* pool = nullptr) {
  SharedWork shared;
  return run(config, shared, pool, nullptr);
}
Json toy_record(const std::vector<std::string>& settings) {
  return record_of(config_of(test::toy, settings));
}

TEST_CASE("run: the same bytes again, and with any number of threads, every rule and scheme") {
  ThreadPool two(2), three(3);
  for (const std::string& rule : rule_names())
    for (const char* scheme : {"fp32", "bf16/bf16", "fp8/fp8", "nvfp4/fp8", "mxfp4/fp32"}) {
      CAPTURE(rule);
      CAPTURE(std::string(scheme));
      const RunConfig config =
          config_of("{problem: {name: ill_conditioned, size: 600}, steps: 8, trace_every: 3}",
                    {"rule=" + rule, std::string("plan=") + scheme});
      const std::string once = record_of(config).dump();
      CHECK(record_of(config).dump() == once);
      CHECK(record_of(config, &two).dump() == once);
      CHECK(record_of(config, &three).dump() == once);
    }
}

TEST_CASE("run: a record carries its key, version, config, results, measurements, trace and hash") {
  const RunConfig config = config_of(test::toy);
  const Json record = record_of(config);
  CHECK(record.at("key") == record_key(config));
  CHECK(record.at("bits_version") == bits_version);
  CHECK(record.at("status") == "finished");
  CHECK(record.at("label") == "adamw");
  CHECK(record.at("config").dump() == to_json(config).dump());
  CHECK(record.at("result").at("train").at("loss").is_number());
  CHECK(record.at("signs").at("failure").is_number());
  CHECK(record.at("trace").at("step") == Json({5, 10, 12}));
  for (const char* column : {"loss", "stagnation", "delivered", "zero_share", "rms"})
    CHECK(record.at("trace").at(column).size() == 3);
  const Json& all = record.at("measurements").at("all");
  CHECK(all.at("trapping").at("elements") == 600 * 12);
  CHECK(record.at("measurements").at("last_tenth").at("trapping").at("elements") == 600 * 2);
  CHECK(all.at("stagnation").at("stayed").get<std::uint64_t>() <= all.at("stagnation").at("updated"));
  CHECK_FALSE(record.contains("final_weights"));
}

TEST_CASE("run: seed, rule, format and schedule reach the stored bytes; measuring does not") {
  const std::string hash = toy_record({}).at("hash");
  for (const char* setting : {"rule.eta=2e-2", "plan.scheme=bf16/fp32", "plan.weights.rounding=stochastic",
                              "schedule=cosine", "steps=11", "problem.size=601"})
    CHECK(toy_record({setting}).at("hash") != hash);
  CHECK(toy_record({"measure_every=5"}).at("hash") == hash);
  CHECK(toy_record({"trace_every=1"}).at("hash") == hash);
  const std::string drawn = toy_record({"plan.weights.rounding=stochastic"}).at("hash");
  CHECK(toy_record({"plan.weights.rounding=stochastic", "seed=1"}).at("hash") != drawn);
}

TEST_CASE("run: what was not measured is null, not zero") {
  const Json rare = toy_record({"measure_every=10", "steps=9", "trace_every=3"});
  CHECK(rare.at("measurements").at("last_tenth").is_null());
  CHECK(rare.at("measurements").at("all").at("trapping").at("elements") == 600);
  const Json trace = Json::parse(rare.dump()).at("trace").at("stagnation");
  CHECK(trace.at(0).is_number());
  CHECK(trace.at(1).is_null());
  CHECK(trace.at(2).is_null());
}

TEST_CASE("run: divergence is a result with its step, in float, double and every scheme") {
  // w0 = 0: the first step makes |w| about 1e6, each further one multiplies it by the decay's 1e12; the loss
  // squares it.
  const auto diverged_at = [](const std::vector<std::string>& settings) {
    const Json record = record_of(config_of(test::diverging, settings));
    CHECK(record.at("status") == "diverged");
    CHECK_FALSE(record.contains("result"));
    CHECK_FALSE(record.contains("signs"));
    CHECK(Json::parse(record.dump()).at("key") == record.at("key"));  // infinities do not break the line
    return record.at("diverged_at").get<int>();
  };
  CHECK(diverged_at({}) ==
        4);  // before step 4 |w| is 1e30, and 1e60 > 3.4e38; before step 3 1e18, 1e36 is not
  CHECK(diverged_at({"plan.scheme=fp64"}) == 15);  // 1e6 1e12^13 = 1e162, and 1e324 > 1.8e308; 1e300 is not
  CHECK(diverged_at({"plan={scheme: bf16/fp32, weights: {overflow: ieee}}"}) == 4);
  // m_adam at absurd rates, whatever happens: finished or diverged, never an exception.
  for (const char* scheme : {"fp32", "bf16/bf16", "fp8/fp8", "nvfp4/fp8"}) {
    const Json record = record_of(config_of(test::diverging, {"rule={name: m_adam, eta_a: 1e6, eta_m: 1e6}",
                                                              std::string("plan.scheme=") + scheme}));
    CHECK((record.at("status") == "diverged" || record.at("status") == "finished"));
  }
}

TEST_CASE("run: one weight is followed from its start to its end") {
  const Json record =
      record_of(config_of("{problem: 'quadratic_1d:4->3', rule: {name: adamw, eta: 1e-3}, "
                          "plan: bf16/fp32, number: float64, steps: 20, trace_every: 10}"));
  CHECK(record.at("trace").at("weights") == Json({{4.0}, {4.0}, {4.0}}));
  CHECK(record.at("final_weights") == Json({4.0}));
  // Half the gap of bf16 below 4 is 2^-7 > 1e-3: every step stays.
  CHECK(record.at("measurements").at("all").at("stagnation").at("share") == 1.0);
  CHECK(record.at("measurements").at("all").at("stagnation").at("by_cause").at("below_half_gap") == 20);
  CHECK(record.at("measurements").at("changed_steps") == 0);
}

TEST_CASE("run: an override that matches no tensor, and missing data, are found before the run") {
  const auto error = [](const std::vector<std::string>& settings) {
    return test::error_of([&] {
      SharedWork shared;
      shared.prepare(config_of(test::toy, settings));
    });
  };
  CHECK(error({}) == "");
  CHECK(test::contains(error({"plan.overrides=[{match: '*bias*', weights: {format: fp16}}]"}),
                       {"*bias*", "allowed: "}));
  CHECK(test::contains(error({"problem={name: fashion_mlp, data_set: /nonexistent}"}), {"/nonexistent"}));
}

}  // namespace
}  // namespace halfulp

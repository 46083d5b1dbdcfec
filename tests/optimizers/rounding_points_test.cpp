// The points of a step, in order, of plans that have every kind of them.
#include "optimizers/rounding_points.h"

#include <doctest/doctest.h>

#include "formats/catalog.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {
namespace {

const TensorInfo matrix{"w", 0, {6, 10}, 0};

/// The beginnings of the points, up to the first of ",;:".
template <class Rule>
std::vector<std::string> points(const TensorPlan& plan, const typename Rule::Config& config = {},
                                const TensorInfo& tensor = matrix) {
  std::vector<std::string> all;
  for (const std::string& point : rounding_points(RuleChoice<Rule>{config}, plan, tensor, "float32"))
    all.push_back(point.substr(0, point.find_first_of(",;:")));
  return all;
}

TensorPlan scheme(const char* name) { return parse_scheme(name).of(matrix); }

const std::vector<std::string> beginning{"betas", "weights and states read",
                                         "forward and backward at the stored weight",
                                         "gradient of each sample and micro-batch", "accumulated gradient"};
std::vector<std::string> after_beginning(const std::vector<std::string>& rest) {
  std::vector<std::string> all = beginning;
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

TEST_CASE("rounding points: states are stored before the weight") {
  CHECK(points<AdamW>(scheme("bf16/bf16")) ==
        after_beginning({"new states from the states just read",
                         "increment u from the new states as they were before they are stored",
                         "wanted = before + u", "store m", "store v", "store w"}));
}

TEST_CASE("rounding points: scales that span the tensor come before what they scale") {
  TensorPlan plan = scheme("fp8/bf16");
  plan.first_moment = state_slot(parse_format("fp8_tensor"));
  CHECK(points<AdamW>(plan) ==
        after_beginning({"new states from the states just read", "scale of all of m",
                         "increment u from the new states as they were before they are stored",
                         "wanted = before + u", "scale of all of w", "store m", "store v", "store w"}));
}

TEST_CASE("rounding points: increments from stored states come after their roundings") {
  TensorPlan plan = scheme("bf16/bf16");
  plan.states_used = StatesUsed::rounded;
  CHECK(points<AdamW>(plan) == after_beginning({"new states from the states just read", "store m", "store v",
                                                "increment u from the new states as they were stored",
                                                "wanted = before + u", "store w"}));
}

TEST_CASE("rounding points: Kahan with decay of its own rounding") {
  TensorPlan plan = scheme("bf16/bf16");
  plan.compensation = Compensation::kahan;
  plan.decay = DecayPlacement::own_rounding;
  AdamW::Config decaying;
  decaying.weight_decay = 0.1;
  CHECK(
      points<AdamW>(plan, decaying) ==
      after_beginning({"new states from the states just read",
                       "increment u from the new states as they were before they are stored", "weight decay",
                       "wanted = decayed + u", "k = compensation + u", "to be stored", "store m", "store v",
                       "store w", "store compensation of w = k - (stored - decayed)"}));
  // Without decay there is nothing to round on its own.
  CHECK(points<AdamW>(plan).size() == points<AdamW>(plan, decaying).size() - 1);
}

TEST_CASE("rounding points: every operation of Collage") {
  TensorPlan plan = scheme("bf16/bf16");
  plan.compensation = Compensation::collage_plus;
  CHECK(points<AdamW>(plan) ==
        after_beginning({"new states from the states just read",
                         "increment u from the new states as they were before they are stored",
                         "wanted = before + u", "step = u", "a = before + step", "a - before",
                         "missed = step - (a - before)", "r = compensation + missed", "to be stored",
                         "store m", "store v", "store what v lost", "store w", "stored weight - a",
                         "store compensation of w = r - (stored - a)"}));
}

TEST_CASE("rounding points: low-rank states are stored before anything else") {
  CHECK(points<Apollo>(scheme("bf16/bf16")) ==
        after_beginning({"projection or factors of the whole tensor", "store m", "store v",
                         "new states from the states just read",
                         "increment u from the new states as they were before they are stored",
                         "wanted = before + u", "store w"}));
  const auto e = rounding_points(RuleChoice<MAdamApolloE>{}, scheme("bf16/bf16"), matrix, "float32");
  CHECK(e[5].find("[4 x 10], used before they are rounded") != std::string::npos);
  CHECK(e[6] == "store v_e, one rounding: bf16, nearest_even, saturate");
  const auto of_vector = points<MAdamApolloE>(scheme("bf16/bf16"), {}, {"b", 0, {10}, 0});
  CHECK(of_vector[5] == "nothing to project in a vector");
}

TEST_CASE("rounding points: what is rounded says so, and what is not") {
  TensorPlan plan = scheme("bf16/bf16");
  plan.gradient = state_slot(unscaled(bf16));
  const auto with = rounding_points(RuleChoice<Lmd>{}, plan, matrix, "float32");
  CHECK(with[2] == "forward and backward at 1 noisy sample(s) of the weight, in float32");
  CHECK(with[3] == "gradient of each sample and micro-batch: one rounding: bf16, nearest_even, saturate");
  CHECK(with[4] == "accumulated gradient, sum of share times gradient: float32, not rounded");
  const auto without = rounding_points(RuleChoice<AdamW>{}, scheme("fp64"), matrix, "float64");
  CHECK(without.back() == "store w, no rounding: the number type of the rule");
  // IntegerMadam's k stays an integer whatever the plan.
  bool found = false;
  for (const std::string& point :
       rounding_points(RuleChoice<IntegerMadam>{}, scheme("bf16/fp8"), matrix, "float32"))
    found = found || point == "store k, no rounding: the number type of the rule";
  CHECK(found);
}

TEST_CASE("rounding points: a compensation that cannot serve is an error") {
  TensorPlan plan = scheme("nvfp4/bf16");
  plan.compensation = Compensation::collage_light;
  CHECK_THROWS_AS(points<AdamW>(plan), Error);
}

}  // namespace
}  // namespace halfulp

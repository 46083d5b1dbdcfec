// Every rule under every compensation: it runs, the bytes do not depend on threads, and Kahan's sum of weight and
// compensation follows the unrounded trajectory where the weight alone cannot.
#include <doctest/doctest.h>

#include <cmath>

#include "optimizers/tensor_optimizer.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

constexpr std::size_t rows = 24, columns = 32, size = rows * columns;
const TensorInfo matrix{"w", 0, {rows, columns}, 0};

struct Trained {
  std::vector<std::uint8_t> bytes;
  std::vector<double> weights;
};

Trained train(const AnyRule& rule, const TensorPlan& plan, ThreadPool* pool) {
  std::vector<double> start(size);
  for (std::size_t i = 0; i < size; ++i) start[i] = test::log_spread(60, 0, i, 5);
  const auto tensor = make_tensor_optimizer<double>(rule, matrix, plan, start, 3);
  for (std::uint64_t t = 1; t <= 30; ++t) {
    std::vector<double> d(size);
    for (std::size_t i = 0; i < size; ++i) d[i] = test::log_spread(61, static_cast<std::uint32_t>(t), i, 5);
    const StepInfo now{t, 1.0, 3};
    TensorOptimizer<double>::Gradients gradients;
    tensor->pull_back(now, *tensor->look(now, tensor->samples() > 0 ? 0 : -1), d, 1.0, 0, gradients);
    tensor->step(now, gradients, pool, nullptr);
  }
  Trained trained;
  tensor->for_each_slot([&](const Slot<double>& slot) {
    slot.visit_bytes([&](const std::uint8_t* bytes, std::size_t count) {
      trained.bytes.insert(trained.bytes.end(), bytes, bytes + count);
    });
  });
  trained.weights = tensor->look({31, 1.0, 3}, -1)->weights();
  return trained;
}

template <class F>
void for_every_rule(F test_rule) {
  std::apply(
      [&](auto... rule) {
        (test_rule(AnyRule(RuleChoice<decltype(rule)>{})), ...);
      },
      AllRules{});
}

TEST_CASE("compensation: every rule runs under every one, with the same bytes for one and two threads") {
  ThreadPool two(2);
  for_every_rule([&](const AnyRule& rule) {
    for (const Compensation kind : {Compensation::none, Compensation::kahan, Compensation::collage_light,
                                    Compensation::collage_plus}) {
      CAPTURE(std::string(rule_name(rule)));
      CAPTURE(static_cast<int>(kind));
      TensorPlan plan = parse_scheme("bf16/bf16").base;
      plan.compensation = kind;
      for (const StatesUsed used : {StatesUsed::unrounded, StatesUsed::rounded}) {
        plan.states_used = used;
        const Trained once = train(rule, plan, nullptr);
        CHECK(once.bytes == train(rule, plan, &two).bytes);
        for (const double w : once.weights) CHECK(std::isfinite(w));
      }
    }
  });
}

TEST_CASE("compensation: no rule is the same with it as without, but where nothing is lost") {
  for_every_rule([&](const AnyRule& rule) {
    CAPTURE(std::string(rule_name(rule)));
    TensorPlan plan = parse_scheme("bf16/fp32").base;
    const std::vector<double> plain = train(rule, plan, nullptr).weights;
    plan.compensation = Compensation::kahan;
    CHECK(train(rule, plan, nullptr).weights != plain);
    // Numbers of the rule itself lose nothing that a compensation could keep.
    TensorPlan unrounded = parse_scheme("fp64").base;
    const std::vector<double> exact = train(rule, unrounded, nullptr).weights;
    unrounded.compensation = Compensation::kahan;
    const std::vector<double> kept = train(rule, unrounded, nullptr).weights;
    for (std::size_t i = 0; i < size; ++i) CHECK(std::fabs(kept[i] - exact[i]) <= 0x1p-44 * (1 + std::fabs(exact[i])));
  });
}

}  // namespace
}  // namespace halfulp

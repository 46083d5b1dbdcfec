#include "optimizers/memory.h"

#include <doctest/doctest.h>

#include "emulation/tensor.h"
#include "formats/catalog.h"
#include "formats/spec.h"
#include "optimizers/tensor_optimizer.h"

namespace halfulp {
namespace {

const TensorInfo matrix{"w", 0, {64, 128}, 0};
constexpr std::size_t size = 64 * 128;

template <class Rule>
StoredBytes bytes(const std::string& scheme, const TensorChange& change = {},
                  const TensorInfo& tensor = matrix, int micro_batches = 1,
                  const typename Rule::Config& config = {}) {
  TensorPlan plan = parse_scheme(scheme).of(tensor);
  change.apply_to(plan);
  return stored_bytes(RuleChoice<Rule>{config}, plan, tensor, scheme == "fp64" ? 8 : 4, micro_batches);
}

TEST_CASE("memory: of a format it is what a tensor says, for every named format and ragged shapes") {
  std::vector<BlockFormat> formats{unscaled(bf16), unscaled(e2m1), unscaled(e3m2), unscaled(fp32)};
  for (const NamedBlockFormat& known : all_block_formats) formats.push_back(known.format);
  for (const BlockFormat& format : formats)
    for (const std::vector<std::size_t>& shape : std::vector<std::vector<std::size_t>>{
             {1}, {31}, {33}, {300}, {64, 128}, {17, 33}, {33, 17}, {2, 3, 50}, {1, 257}, {257, 1}}) {
      CAPTURE(to_spec(format));
      CAPTURE(shape);
      CHECK(stored_bytes(format, shape) == Tensor(format, shape).stored_bytes());
    }
}

TEST_CASE("memory: weights, states and gradients by hand") {
  const StoredBytes adamw = bytes<AdamW>("bf16/fp32");
  CHECK(adamw.weights == 2 * size);
  CHECK(adamw.states == 2 * 4 * size);
  CHECK(adamw.gradient == 4 * size);
  CHECK(adamw.low_rank + adamw.compensation + adamw.accumulator == 0);
  CHECK(adamw.total() == 14 * size);
  CHECK(bytes<AdamW>("fp64").total() == 8 * 4 * size);
  // 6 bits and a byte for 32: 6.25 bits. Of the second moment 8 bits and a float for 256.
  const StoredBytes lmd = bytes<Lmd>("mxfp6_e2m3/fp8");
  CHECK(lmd.weights == 2 * (size * 6 / 8 + size / 32));
  CHECK(lmd.states == 2 * (size + 4 * size / 256));
  CHECK(lmd.gradient == 2 * 4 * size);
  // A code of 4 bits, a byte for 16, one float.
  CHECK(bytes<MAdam>("nvfp4/fp8").weights == size / 2 + size / 16 + 4);
  // k is an integer and stays a float.
  CHECK(bytes<IntegerMadam>("bf16/bf16").states == (4 + 2) * size);
}

TEST_CASE("memory: gradients and their sum in the formats that the plan gives them") {
  const TensorChange change{.gradient = {unscaled(bf16), {}, {}, {}},
                            .accumulator = {parse_format("mxfp8_e5m2"), {}, {}, {}}};
  CHECK(bytes<AdamW>("bf16/bf16", change).gradient == 2 * size);
  CHECK(bytes<AdamW>("bf16/bf16", change).accumulator == 0);  // a single part is its own sum
  CHECK(bytes<AdamW>("bf16/bf16", change, matrix, 2).accumulator == size + size / 32);
  CHECK(bytes<AdamW>("bf16/bf16", {}, matrix, 2).accumulator == 4 * size);
  Lmd::Config two_samples;
  two_samples.samples = 2;
  CHECK(bytes<Lmd>("bf16/bf16", {}, matrix, 1, two_samples).accumulator == 2 * 4 * size);
}

TEST_CASE("memory: compensation by hand") {
  const auto with = [](Compensation kind) { return TensorChange{.compensation = kind}; };
  CHECK(bytes<AdamW>("bf16/bf16", with(Compensation::kahan)).compensation == 2 * size);
  CHECK(bytes<AdamW>("nvfp4/bf16", with(Compensation::kahan)).compensation ==
        2 * size);  // bf16: no scales there
  CHECK(bytes<AdamW>("bf16/bf16", with(Compensation::collage_light)).compensation == 2 * size);
  CHECK(bytes<AdamW>("bf16/bf16", with(Compensation::collage_plus)).compensation == 4 * size);  // and v
  CHECK(bytes<MAdam>("bf16/bf16", with(Compensation::collage_plus)).compensation == 6 * size);  // v and v_e
  CHECK(bytes<Lmd>("bf16/bf16", with(Compensation::kahan)).compensation == 4 * size);
  TensorChange wide = with(Compensation::kahan);
  wide.compensation_slot.format = unscaled(fp32);
  CHECK(bytes<AdamW>("bf16/bf16", wide).compensation == 4 * size);
}

TEST_CASE("memory: low-rank states by hand") {
  // 4 + 2 r / min(rows, columns) bytes of states for each parameter in bf16, and one double.
  const StoredBytes apollo_e = bytes<MAdamApolloE>("bf16/bf16");
  CHECK(apollo_e.states == 4 * size);
  CHECK(apollo_e.low_rank == 2 * 4 * 128 + 8);
  CHECK(apollo_e.low_rank - 8 == 2 * 4 * size / 64);
  MAdamApolloE::Config factored;
  factored.low_rank = MAdamApolloE::LowRank::factored;
  CHECK(bytes<MAdamApolloE>("bf16/bf16", {}, matrix, 1, factored).low_rank == 2 * (64 + 128) + 8);
  CHECK(bytes<MAdamApolloE>("bf16/bf16", {}, {"b", 0, {128}, 0}).low_rank ==
        2 * 128 + 8);  // a vector: each element
  Apollo::Config rank_16;
  rank_16.rank = 16;
  CHECK(bytes<Apollo>("bf16/fp32", {}, matrix, 1, rank_16).low_rank == 2 * 4 * 16 * 128 + 8);
  CHECK(bytes<Apollo>("bf16/fp32").low_rank == 2 * 4 * 64 * 128 + 8);  // rank 256 of a side of 64
  CHECK(bytes<ApolloMini>("bf16/fp32").low_rank == 2 * 4 * 128 + 8);
  CHECK(bytes<ApolloMini>("bf16/fp32").states == 0);
}

/// What an optimizer really holds in its slots.
std::size_t held(const AnyRule& rule, const TensorPlan& plan, const TensorInfo& tensor) {
  const auto optimizer =
      make_tensor_optimizer<float>(rule, tensor, plan, std::vector<double>(tensor.size(), 0.5), 1);
  std::size_t all = 0;
  optimizer->for_each_slot([&](const Slot<float>& slot) {
    all += slot.is_native() ? sizeof(float) * slot.size() : slot.tensor().stored_bytes();
  });
  return all;
}

template <class... Rules>
std::vector<AnyRule> every_rule(std::tuple<Rules...>*) {
  return {RuleChoice<Rules>{}...};
}

TEST_CASE("memory: of every rule under every scheme and compensation it is what the optimizer holds") {
  for (const AnyRule& rule : every_rule(static_cast<AllRules*>(nullptr)))
    for (const char* scheme : {"fp32", "bf16/bf16", "bf16/fp8", "fp8/fp8", "nvfp4/fp8", "mxfp6_e3m2/bf16"})
      for (const Compensation kind : {Compensation::none, Compensation::kahan, Compensation::collage_plus})
        for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{9, 34}, {300}}) {
          const TensorInfo tensor{"w", 0, shape, 0};
          TensorPlan plan = parse_scheme(scheme).of(tensor);
          plan.compensation = kind;
          const bool has_scales = plan.weights.format->has_scale() || plan.second_moment.format->has_scale();
          if (kind == Compensation::collage_plus && has_scales) continue;
          CAPTURE(rule_name(rule));
          CAPTURE(scheme);
          const StoredBytes counted = stored_bytes(rule, plan, tensor, 4);
          // The one double of a low-rank rule is in no slot.
          const std::size_t memory = counted.low_rank == 0 ? 0 : 8;
          CHECK(counted.weights + counted.states + counted.low_rank + counted.compensation ==
                held(rule, plan, tensor) + memory);
        }
}

TEST_CASE("memory: sums") {
  StoredBytes sum{1, 2, 3, 4, 5, 6};
  sum += {10, 20, 30, 40, 50, 60};
  CHECK(sum == StoredBytes{11, 22, 33, 44, 55, 66});
  CHECK(sum.total() == 231);
}

}  // namespace
}  // namespace halfulp

// The phases of a step: tiles, what a probe is shown, and errors at the edge.
#include "optimizers/step.h"

#include <doctest/doctest.h>

#include <tuple>

#include "formats/error.h"
#include "formats/spec.h"
#include "optimizers/all_rules.h"
#include "tests/optimizers/additive_rule.h"
#include "tests/optimizers/gradients.h"

namespace halfulp {
namespace {

const std::vector<std::string> schemes{"fp64",           "fp32",    "bf16/fp32", "bf16/bf16",
                                       "bf16/fp8",       "fp8/fp8", "nvfp4/fp8", "mxfp4_rceil/fp8",
                                       "mxfp6_e2m3/bf16"};
const std::vector<std::vector<std::size_t>> shapes{{1},       {7},      {16},     {255},    {256},   {257},
                                                   {3, 10},   {10, 10}, {785},    {2, 785}, {5, 48}, {64, 64},
                                                   {2, 3, 5}, {4096},   {33, 31}, {100, 16}};

TEST_CASE("tiles: whole blocks of every slot, or the whole tensor") {
  for (const std::string& scheme : schemes)
    for (const auto& shape : shapes) {
      const TensorInfo info{"w", 0, shape, 0};
      const TensorPlan plan = parse_scheme(scheme).of(info);
      const OptimizedTensor<MAdam, float> tensor(info, plan, std::vector<double>(info.size(), 0.5));
      const std::size_t tile = tensor.tile_length();
      CAPTURE(scheme);
      CAPTURE(tile);
      CHECK(tile >= 1);
      CHECK((tile >= 256 || tile == info.size()));
      CHECK(tile <= info.size());
      for (const SlotPlan* slot : {&plan.weights, &plan.first_moment, &plan.second_moment}) {
        if (!slot->format) continue;
        const Tensor layout(*slot->format, shape);
        for (std::size_t begin = tile; begin < info.size(); begin += tile) {
          // A tile begins a byte of codes, and a block unless the block is the tensor.
          CHECK(begin * static_cast<std::size_t>(storage_bits(slot->format->element)) % 8 == 0);
          if (slot->format->shape.axis != BlockAxis::tensor)
            CHECK(layout.block_of(begin) != layout.block_of(begin - 1));
        }
      }
    }
}

TEST_CASE("tiles: a probe sees every element once, in order, with spans of one length") {
  for (const std::string& scheme : schemes)
    for (const auto& shape : shapes) {
      const TensorInfo info{"w", 0, shape, 0};
      OptimizedTensor<AdamW, float> tensor(info, parse_scheme(scheme).of(info),
                                           std::vector<double>(info.size(), 0.5));
      std::vector<float> gradient(info.size());
      for (std::size_t i = 0; i < gradient.size(); ++i)
        gradient[i] = static_cast<float>(test::uniform(1, 1, i));
      std::vector<float> before(info.size()), after(info.size());
      tensor.weight(0).load(0, std::span(before));
      test::Recorder<float> seen;
      ThreadPool pool(2);
      tensor.step({}, {1, 1.0, 1}, {gradient}, &pool, seen);
      tensor.weight(0).load(0, std::span(after));
      std::size_t next = 0;
      for (const auto& tile : seen.tiles) {
        REQUIRE(tile.slot == 0);
        REQUIRE(tile.first == next);
        for (const std::size_t length : {tile.update.size(), tile.wanted.size(), tile.after.size(),
                                         tile.unmoved.size(), tile.multiplier.size()})
          REQUIRE(length == tile.before.size());
        for (std::size_t i = 0; i < tile.before.size(); ++i, ++next) {
          CHECK(tile.before[i] == before[next]);
          CHECK(tile.wanted[i] == tile.before[i] + tile.update[i]);
          CHECK(tile.after[i] == after[next]);
        }
      }
      CHECK(next == info.size());
    }
}

TEST_CASE("step: phases 2 and 3 see the same numbers under every scale policy of a tensor-wide scale") {
  // before, as the probe is shown it, is what load() gave before the step, whatever becomes of the scale.
  for (const char* format : {"fp8_tensor", "nvfp4"})
    for (const char* policy : {"recompute", "lazy{headroom=0}", "lazy", "delayed", "keep"}) {
      CAPTURE(format);
      CAPTURE(policy);
      SlotPlan plan = weight_slot(parse_format(format));
      plan.scale = parse_scale_policy(policy);
      test::Stored<float> w(plan, {2, 16}, std::vector<double>(32, 0.75));
      for (int t = 1; t <= 8; ++t) {
        const std::vector<float> before = w.values();
        std::vector<float> change(32, 0.0f);
        change[3] = t % 2 ? 3.0f : -2.5f;
        const auto seen = w.add(change);
        CHECK(seen.before == before);
        CHECK(seen.after == w.values());
      }
    }
}

TEST_CASE("step: initial weights of another size are an error that names the tensor") {
  const TensorInfo info{"layer.weight", 0, {3}, 0};
  const TensorPlan plan = parse_scheme("fp32").of(info);
  using Optimized = OptimizedTensor<AdamW, float>;
  CHECK_THROWS_WITH(Optimized(info, plan, std::vector<double>(2, 1.0)),
                    "tensor layer.weight: wrong number of initial weights: given '2', allowed: 3");
}

TEST_CASE("step: gradients and pulled gradients of another size are errors") {
  const TensorInfo info{"w", 0, {3}, 0};
  OptimizedTensor<AdamW, float> tensor(info, parse_scheme("fp32").of(info), std::vector<double>(3, 1.0));
  NoProbe probe;
  std::vector<float> small(2);
  std::array<std::vector<float>, 1> gradients;
  CHECK_THROWS_AS(tensor.step({}, {1, 1.0, 1}, {small}, nullptr, probe), Error);
  CHECK_THROWS_AS(tensor.pull_back({}, {1, 1.0, 1}, tensor.look({}, {1, 1.0, 1}, 0), small, 1.0f, 0, gradients), Error);
}

TEST_CASE("step: states start at zero and weights at the initial values, rounded once") {
  const TensorInfo info{"w", 0, {4}, 0};
  const OptimizedTensor<MAdam, float> tensor(info, parse_scheme("bf16/fp8").of(info),
                                             std::vector<double>{1.00390625, -1.01171875, 0.1, 0});
  std::vector<float> w(4), state(4);
  tensor.weight(0).load(0, std::span(w));
  CHECK(w == std::vector<float>{1.0f, -1.015625f, 0.10009765625f, 0.0f});
  for (std::size_t slot = 0; slot < 3; ++slot) {
    tensor.state(slot).load(0, std::span(state));
    CHECK(state == std::vector<float>(4, 0.0f));
  }
}

TEST_CASE("view and pull_back: a plain weight is viewed as it is stored and pulls the gradient as it is") {
  const TensorInfo info{"w", 0, {3}, 0};
  OptimizedTensor<AdamW, float> tensor(info, parse_scheme("bf16/fp32").of(info), std::vector<double>{1, 2, 0.1});
  const auto view = tensor.look({}, {1, 1.0, 1}, 0);
  CHECK(view.weights == std::vector<float>{1, 2, 0.10009765625f});
  std::array<std::vector<float>, 1> gradients{std::vector<float>{1, 1, 1}};
  tensor.pull_back({}, {1, 1.0, 1}, view, std::vector<float>{4, 8, -2}, 0.5f, 0, gradients);
  CHECK(gradients[0] == std::vector<float>{3, 5, 0});
}

TEST_CASE("view and pull_back: lmd without noise is the difference of the parts") {
  const TensorInfo info{"w", 0, {2}, 0};
  OptimizedTensor<Lmd, double> tensor(info, parse_scheme("fp64").of(info), std::vector<double>{0.3, -0.4});
  std::vector<double> plus(2), minus(2);
  tensor.weight(0).load(0, std::span(plus));
  tensor.weight(1).load(0, std::span(minus));
  const auto view = tensor.look({}, {1, 1.0, 1}, -1);
  for (std::size_t i = 0; i < 2; ++i) CHECK(view.weights[i] == plus[i] - minus[i]);
  std::array<std::vector<double>, 2> gradients;
  tensor.pull_back({}, {1, 1.0, 1}, view, std::vector<double>{2, 4}, 1.0, 0, gradients);
  CHECK(gradients[0] == std::vector<double>{plus[0] * 2, plus[1] * 4});
  CHECK(gradients[1] == std::vector<double>{-(minus[0] * 2), -(minus[1] * 4)});
}

TEST_CASE("probe: a rule that stores parts shows each part, then the weight they make") {
  const TensorInfo info{"w", 0, {40}, 0};
  OptimizedTensor<Lmd, float> tensor(info, parse_scheme("bf16/fp32").of(info), std::vector<double>(40, 0.3));
  const std::vector<float> before = tensor.look({}, {1, 1.0, 1}, -1).weights;
  test::Recorder<float> seen;
  tensor.step({}, {1, 1.0, 1}, {std::vector<float>(40, 1.0f), std::vector<float>(40, -1.0f)}, nullptr, seen);
  const std::vector<float> after = tensor.look({}, {1, 1.0, 1}, -1).weights;
  REQUIRE(seen.tiles.size() == 3);
  for (std::size_t record = 0; record < 3; ++record) CHECK(seen.tiles[record].slot == record);
  const auto& [plus, minus, whole] = std::tie(seen.tiles[0], seen.tiles[1], seen.tiles[2]);
  CHECK(whole.before == before);
  CHECK(whole.after == after);
  CHECK(whole.multiplier.empty());
  for (std::size_t i = 0; i < 40; ++i) {
    CHECK(whole.update[i] == whole.wanted[i] - whole.before[i]);
    CHECK(whole.wanted[i] == plus.wanted[i] - minus.wanted[i]);
    CHECK(whole.unmoved[i] == whole.before[i]);
  }
}

TEST_CASE(
    "view: lmd noise depends on step, sample and seed, and the pulled gradient belongs to the same noise") {
  const TensorInfo info{"w", 0, {64}, 0};
  OptimizedTensor<Lmd, double> tensor(info, parse_scheme("fp64").of(info), std::vector<double>(64, 0.3));
  const auto view = [&](std::uint64_t step, int sample, std::uint64_t seed) {
    return tensor.look({}, {step, 1.0, seed}, sample).weights;
  };
  CHECK(view(1, 0, 1) == view(1, 0, 1));
  CHECK(view(1, 0, 1) != view(2, 0, 1));
  CHECK(view(1, 0, 1) != view(1, 1, 1));
  CHECK(view(1, 0, 1) != view(1, 0, 2));
  // With d = 1, U+ + U- is exactly the view: m+ e+ - m- e-.
  std::array<std::vector<double>, 2> gradients;
  tensor.pull_back({}, {1, 1.0, 1}, tensor.look({}, {1, 1.0, 1}, 0), std::vector<double>(64, 1.0), 1.0, 0,
                   gradients);
  const std::vector<double> seen = view(1, 0, 1);
  for (std::size_t i = 0; i < 64; ++i) CHECK(gradients[0][i] + gradients[1][i] == seen[i]);
}

}  // namespace
}  // namespace halfulp

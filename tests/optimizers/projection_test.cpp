#include "optimizers/projection.h"

#include <doctest/doctest.h>

#include <limits>

#include "optimizers/channel_scaling.h"
#include "optimizers/norm_growth_limiter.h"

namespace halfulp {
namespace {

TensorInfo tensor(std::vector<std::size_t> shape) { return {"w", 0, std::move(shape), 0}; }

TEST_CASE("projection: shapes") {
  const auto check = [](std::vector<std::size_t> shape, std::size_t rank, bool vector, bool wide,
                        std::vector<std::size_t> projected) {
    const ProjectedShape s(tensor(shape), rank);
    CAPTURE(shape);
    CHECK(s.is_vector == vector);
    CHECK(s.is_wide() == wide);
    CHECK(s.projected() == projected);
  };
  check({6, 10}, 4, false, true, {4, 10});
  check({10, 6}, 4, false, false, {10, 4});
  check({7, 7}, 4, false, false, {7, 4});  // as many rows as columns: columns are projected
  check({2, 3, 5}, 4, false, false, {6, 4});
  check({2, 2, 5}, 9, false, true, {4, 5});  // rank 9 of a side of 4
  check({1, 9}, 4, false, true, {1, 9});
  check({9, 1}, 4, false, false, {9, 1});
  check({9}, 4, true, true, {9});
}

TEST_CASE("projection: which element belongs to which channel") {
  const ProjectedShape wide(tensor({2, 3}), 1), tall(tensor({3, 2}), 1);
  const std::vector<std::size_t> of_wide{0, 1, 2, 0, 1, 2}, of_tall{0, 0, 1, 1, 2, 2};
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(wide.channel_of(i) == of_wide[i]);
    CHECK(tall.channel_of(i) == of_tall[i]);
  }
}

TEST_CASE("projection: an interval is projection_gap steps, from step 1 on") {
  CHECK(projection_interval(1, 200) == 0);
  CHECK(projection_interval(200, 200) == 0);
  CHECK(projection_interval(201, 200) == 1);
  CHECK(projection_interval(401, 200) == 2);
  CHECK(projection_interval(5, 1) == 4);
}

TEST_CASE_TEMPLATE("projection: entries have mean 0 and variance 1 / rank", R, double, float) {
  // 4 intervals of 64 x 1000 entries: n = 256,000; the mean has standard deviation 1 / sqrt(n rank), the mean
  // square sqrt(2 / n) / rank. Five of them.
  const ProjectedShape shape(tensor({1000, 2000}), 64);
  double total = 0, squares = 0, n = 0;
  for (std::uint32_t interval = 0; interval < 4; ++interval)
    for (const R x : random_projection<R>(shape, 5, 7, interval)) {
      total += static_cast<double>(x), squares += static_cast<double>(x) * static_cast<double>(x);
      ++n;
    }
  CHECK(n == 256000);
  CHECK(std::fabs(total / n) < 5 / std::sqrt(n * 64));
  CHECK(std::fabs(squares / n - 1.0 / 64) < 5 * std::sqrt(2 / n) / 64);
}

TEST_CASE("projection: differs between tensors, intervals and seeds, and is the same asked again") {
  const ProjectedShape shape(tensor({8, 20}), 4);
  const auto p = random_projection<double>(shape, 1, 2, 3);
  CHECK(p.size() == 4 * 8);
  CHECK(p == random_projection<double>(shape, 1, 2, 3));
  for (const auto& other :
       {random_projection<double>(shape, 2, 2, 3), random_projection<double>(shape, 1, 3, 3),
        random_projection<double>(shape, 1, 2, 4)})
    for (std::size_t k = 0; k < p.size(); ++k) CHECK(p[k] != other[k]);
}

TEST_CASE("projection: keeps lengths on average") {
  // |P x|^2 / |x|^2 is chi-squared(rank) / rank: mean 1, standard deviation sqrt(2 / rank); 400 channels of
  // rank 8, not independent since they share P, but of orthogonal x: sqrt(2 / 8 / 400) = 0.025.
  const ProjectedShape shape(tensor({400, 400}), 8);
  std::vector<double> g(400 * 400);
  for (std::size_t i = 0; i < 400; ++i) g[401 * i] = 3;
  const auto h = project(shape, g, 1, 0, 0);
  CHECK(std::fabs(square_norm(std::span<const double>(h)) / (9 * 400) - 1) < 5 * 0.025);
}

TEST_CASE("channel scaling: by hand") {
  // Channels of a wide matrix are columns: (3, 4) and (0, 0); adapted (6, 8) and (1, 0).
  const ProjectedShape wide(tensor({2, 3}), 2);
  const std::vector<double> plain{3, 0, 1, 4, 0, 0}, adapted{6, 1, 5, 8, 0, 12};
  const auto factors = scaling_factors(wide, ScaleType::channel, adapted, plain, 0);
  CHECK(factors == std::vector<double>{2, 0, 13});  // 10 / 5, 1 / 0 by the rule for zeros, 13 / 1
  const auto guarded = scaling_factors(wide, ScaleType::channel, adapted, plain, 1);
  CHECK(guarded == std::vector<double>{10 / 6.0, 1, 6.5});
  const auto of_all = scaling_factors(wide, ScaleType::tensor, adapted, plain, 0);
  CHECK(of_all == std::vector<double>{std::sqrt(270.0) / std::sqrt(26.0)});
  CHECK(scaled_by_channel(wide, factors, std::vector<double>{1, 1, 1, 2, 2, 2}) ==
        std::vector<double>{2, 0, 13, 4, 0, 26});
}

TEST_CASE("norm-growth limiter: by hand") {
  double last = 0;
  std::vector<double> u{3, 4};
  limit_norm_growth(u, true, last);  // the first is as it is
  CHECK(last == 5);
  CHECK(u == std::vector<double>{3, 4});
  limit_norm_growth(u = {3, 4}, false, last);  // no growth: untouched
  CHECK(u == std::vector<double>{3, 4});
  CHECK(last == 5);
  limit_norm_growth(u = {30, 40}, false, last);  // ten times as long: 5.05 and a trace of 1e-8
  CHECK(std::fabs(last - 1.01 * (5 + 1e-8)) < 1e-14);
  CHECK(std::fabs(u[0] - 3.03) < 1e-7);
  CHECK(std::fabs(u[1] - 4.04) < 1e-7);
  limit_norm_growth(u = {0, 0}, false, last);  // shrinking is free
  CHECK(last == 0);
  CHECK(u == std::vector<double>{0, 0});
  int steps = 0;
  while (last < 1) {  // and growing again from nothing is slow
    limit_norm_growth(u = {3, 4}, false, last);
    ++steps;
  }
  CHECK(steps == 1388);
}

TEST_CASE("norm-growth limiter: a NaN is not hidden") {
  double last = 1;
  std::vector<float> u{std::numeric_limits<float>::quiet_NaN(), 1};
  limit_norm_growth(u, false, last);
  CHECK(last != last);
  CHECK(u[1] != u[1]);
}

}  // namespace
}  // namespace halfulp

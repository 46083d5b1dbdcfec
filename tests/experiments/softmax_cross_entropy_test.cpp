#include "experiments/models/softmax_cross_entropy.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace halfulp;

TEST_CASE("softmax cross-entropy: hand-worked logits") {
  std::vector<double> gradient(2);
  // p = (1/2, 1/2): loss log 2, gradient p - onehot.
  CHECK(softmax_cross_entropy<double>(std::vector<double>{5, 5}, 1, gradient) == elementary::log(2.0));
  CHECK(gradient == std::vector<double>{0.5, -0.5});
  // Label 0 leads by log 3 to rounding: p = (3/4, 1/4), loss log(4/3).
  const double loss = softmax_cross_entropy<double>(std::vector<double>{std::log(3.0), 0}, 0, gradient);
  CHECK(loss == doctest::Approx(std::log(4.0 / 3)).epsilon(1e-15));
  CHECK(gradient[0] == doctest::Approx(-0.25).epsilon(1e-15));
  CHECK(gradient[1] == doctest::Approx(0.25).epsilon(1e-15));
}

TEST_CASE("softmax cross-entropy: huge logits stay finite, NaN and infinity make the loss NaN") {
  std::vector<float> gradient(2);
  const float infinity = std::numeric_limits<float>::infinity(),
              nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(softmax_cross_entropy<float>(std::vector<float>{3e38f, 0}, 0, gradient) == 0);
  CHECK(softmax_cross_entropy<float>(std::vector<float>{3e38f, 0}, 1, gradient) == 3e38f);
  CHECK(gradient == std::vector<float>{1, -1});
  for (const float bad : {nan, infinity}) {
    CHECK(std::isnan(softmax_cross_entropy<float>(std::vector<float>{bad, 0}, 1, gradient)));
    CHECK(std::isnan(softmax_cross_entropy<float>(std::vector<float>{0, bad}, 1, gradient)));
  }
}

TEST_CASE("softmax cross-entropy: logits name the first of the largest, and none where one is NaN") {
  const std::vector<float> tied{1, 2, 2, 0};
  CHECK_FALSE(names_label<float>(tied, 0));
  CHECK(names_label<float>(tied, 1));
  CHECK_FALSE(names_label<float>(tied, 2));
  const std::vector<float> with_nan{1, 2, std::numeric_limits<float>::quiet_NaN()};
  for (std::size_t label = 0; label < 3; ++label) CHECK_FALSE(names_label<float>(with_nan, label));
}

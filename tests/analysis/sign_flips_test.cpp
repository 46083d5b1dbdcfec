// Wanted and refused sign flips, and sign failure against a known optimum.
#include "analysis/sign_flips.h"

#include <doctest/doctest.h>

#include "tests/analysis/representable.h"

namespace halfulp {
namespace {

using test::moved;

SignFlips after_one(const ElementStep& e) {
  SignFlips flips;
  flips.see(e);
  return flips;
}

TEST_CASE("sign flips: wanted where wanted has the other sign, refused where the stored sign stays") {
  const SignFlips done = after_one(moved(e2m1, 0.5, -1, -0.5));
  CHECK(done.wanted == 1);
  CHECK(done.refused == 0);
  const SignFlips refused = after_one(moved(e2m1, 0.5, -0.7, 0.5));
  CHECK(refused.wanted == 1);
  CHECK(refused.refused == 1);
  CHECK(after_one(moved(e2m1, -0.5, 0.7, -0.5)).refused == 1);
  // To zero of either sign is neither the old sign nor refused.
  CHECK(after_one(moved(e2m1, 0.5, -0.7, 0)).refused == 0);
  CHECK(after_one(moved(e2m1, 0.5, -0.7, -0.0)).refused == 0);
  CHECK(after_one(moved(e2m1, -0.5, 0.7, -0.0)).refused == 0);
  CHECK(after_one(moved(e2m1, 0.5, -0.7, -0.0)).wanted == 1);
}

TEST_CASE("sign flips: zero has no sign to flip, and the product of two small numbers is not needed") {
  CHECK(after_one(moved(e2m1, 0, -0.7, 0)).wanted == 0);
  CHECK(after_one(moved(e2m1, -0.0, 0.7, 0.5)).wanted == 0);
  CHECK(after_one(moved(e2m1, 0.5, -0.5, 0)).wanted == 0);
  CHECK(after_one(moved(bf16, 0x1p-133, -0x1p-132, 0x1p-133)).refused == 1);
  CHECK(after_one(moved(fp32, 5e-324, -1e-323, 5e-324)).refused == 1);
  SignFlips sum = after_one(moved(e2m1, 0.5, -0.7, 0.5));
  sum.join(after_one(moved(e2m1, 0.5, -1, -0.5)));
  CHECK(sum.wanted == 2);
  CHECK(sum.refused == 1);
}

TEST_CASE("sign failure: the share of those that started with another sign than the optimum's") {
  const std::vector<double> optimum{1, 1, 1, -1, -1, 0, 2};
  const std::vector<double> start{-1, 0, 1, 1, -1, 5, -3};
  //                               wrong, none (counts as wrong), right, wrong, right, no optimum sign, wrong
  CHECK(sign_flip_failure(start, std::vector<double>{-1, 0, 1, 1, -1, 5, -3}, optimum) == 1);
  CHECK(sign_flip_failure(start, std::vector<double>{1, 1, -1, -1, 1, -5, 0.1}, optimum) == 0);
  CHECK(sign_flip_failure(start, std::vector<double>{0, 1, 1, -0.0, -1, 5, 3}, optimum) == 0.5);
  CHECK(sign_flip_failure(optimum, optimum, optimum) == 0);
  CHECK(sign_flip_failure({}, {}, {}) == 0);
}

TEST_CASE("sign disagreement: zero is a sign of its own, whatever its own sign") {
  CHECK(sign_disagreement(std::vector<double>{1, -1, 0, 0}, std::vector<double>{2, -3, -0.0, 1}) == 0.25);
  CHECK(sign_disagreement(std::vector<double>{1}, std::vector<double>{-1}) == 1);
  CHECK(sign_disagreement({}, {}) == 0);
}

}  // namespace
}  // namespace halfulp

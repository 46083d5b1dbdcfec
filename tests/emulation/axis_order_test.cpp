#include "emulation/axis_order.h"

#include <doctest/doctest.h>

#include <numeric>

#include "formats/error.h"

namespace halfulp {
namespace {

TEST_CASE("axis order: the chosen axis runs fastest, the others keep their order") {
  const std::vector<std::size_t> shape{2, 3, 4};
  for (int axis = -3; axis < 3; ++axis) {
    const AxisOrder order = axis_last(shape, axis);
    const int place = axis < 0 ? axis + 3 : axis;
    std::vector<std::size_t> others;
    for (int i = 0; i < 3; ++i)
      if (i != place) others.push_back(static_cast<std::size_t>(i));
    std::size_t next = 0, index[3];
    const auto last = static_cast<std::size_t>(place);
    for (index[others[0]] = 0; index[others[0]] < shape[others[0]]; ++index[others[0]])
      for (index[others[1]] = 0; index[others[1]] < shape[others[1]]; ++index[others[1]])
        for (index[last] = 0; index[last] < shape[last]; ++index[last])
          CHECK(order.from[next++] == (index[0] * 3 + index[1]) * 4 + index[2]);
    CHECK(next == 24);
    CHECK(order.shape == std::vector<std::size_t>{shape[others[0]], shape[others[1]], shape[last]});
  }
}

TEST_CASE("axis order: the last axis changes nothing") {
  const AxisOrder order = axis_last({5, 7}, -1);
  std::vector<double> numbers(35);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  CHECK(reordered<double>(order, numbers) == numbers);
  CHECK(order.shape == std::vector<std::size_t>{5, 7});
}

TEST_CASE("axis order: an axis that is not there is an error") {
  CHECK_THROWS_AS(axis_last({2, 3}, 2), Error);
  CHECK_THROWS_AS(axis_last({2, 3}, -3), Error);
}

}  // namespace
}  // namespace halfulp

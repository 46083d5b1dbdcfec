#include "emulation/axis_order.h"

#include <string>

#include "formats/error.h"

namespace halfulp {

AxisOrder axis_last(const std::vector<std::size_t>& shape, int axis) {
  const int rank = static_cast<int>(shape.size());
  const int counted = axis < 0 ? axis + rank : axis;
  if (counted < 0 || counted >= rank)
    throw Error("axis", "no such axis", std::to_string(axis),
                std::to_string(-rank) + " to " + std::to_string(rank - 1));
  const auto place = static_cast<std::size_t>(counted);
  // Seen from the axis the tensor is [outer, length, inner]; the new order is [outer, inner, length].
  std::size_t outer = 1, inner = 1;
  for (std::size_t i = 0; i < place; ++i) outer *= shape[i];
  for (std::size_t i = place + 1; i < shape.size(); ++i) inner *= shape[i];
  const std::size_t length = shape[place];

  AxisOrder order{shape, {}};
  order.shape.erase(order.shape.begin() + counted);
  order.shape.push_back(length);
  order.from.reserve(outer * length * inner);
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i)
      for (std::size_t k = 0; k < length; ++k) order.from.push_back((o * length + k) * inner + i);
  return order;
}

}  // namespace halfulp

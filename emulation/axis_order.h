#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace halfulp {

/// The order of elements in which one axis runs fastest, as blocks along it need: row-major of the shape with that axis
/// moved to the end. Quantising along an axis is quantising in this order, which is also how kernels store a copy for
/// the other operand of a product.
struct AxisOrder {
  std::vector<std::size_t> shape;  ///< the axis last
  std::vector<std::size_t> from;   ///< element i of this order is element from[i] of the given one
};

/// in:     axis counted from 0, negative ones from the end.
/// errors: throws Error on an axis that the shape does not have.
AxisOrder axis_last(const std::vector<std::size_t>& shape, int axis);

/// The elements in this order.
template <class T>
std::vector<T> reordered(const AxisOrder& order, std::span<const T> elements) {
  std::vector<T> moved;
  moved.reserve(elements.size());
  for (const std::size_t i : order.from) moved.push_back(elements[i]);
  return moved;
}

}  // namespace halfulp

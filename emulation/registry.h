#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace halfulp {

/// One named tensor of a model. Plans, checkpoints and random bits refer to it by `id` and to its elements by
/// their row-major index in the whole tensor, so neither shards nor threads change anything.
struct TensorInfo {
  std::string name;                ///< for example "hidden.weight"; plans match it with patterns
  std::uint32_t id;                ///< stable: position of registration
  std::vector<std::size_t> shape;  ///< row-major; the last axis is contiguous
  std::size_t offset;              ///< of element 0, counted over all tensors registered before

  std::size_t size() const {
    std::size_t product = 1;
    for (const std::size_t extent : shape) product *= extent;
    return product;
  }
  /// Extent of the last axis: the row that blocks are cut from.
  std::size_t row_length() const { return shape.empty() ? 1 : shape.back(); }
};

/// The tensors of a model in a fixed order.
class TensorRegistry {
 public:
  /// Returns a copy of what was registered.
  /// errors: throws Error on an empty name, a name already taken, a shape with an extent of 0 or too many
  /// elements,
  ///         or beyond 65,536 tensors (the random-bit map has 16 bits for the id).
  TensorInfo add(std::string name, std::vector<std::size_t> shape);

  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  /// Elements of all tensors together.
  std::size_t total_size() const { return total_; }

 private:
  std::vector<TensorInfo> tensors_;
  std::size_t total_ = 0;
};

}  // namespace halfulp

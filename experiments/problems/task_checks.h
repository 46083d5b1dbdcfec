#pragma once
#include <cmath>
#include <cstddef>
#include <string>

#include "emulation/registry.h"
#include "experiments/task.h"
#include "formats/error.h"

namespace halfulp {

/// errors: Error, naming `where` and the tensor, unless `weights` holds one buffer per tensor, of its size
template <class R>
void check_shapes(const std::string& where, const TensorRegistry& registry, const TensorList<R>& weights) {
  const auto& tensors = registry.tensors();
  if (weights.size() != tensors.size())
    throw Error(where, "wrong number of weight tensors", std::to_string(weights.size()),
                std::to_string(tensors.size()));
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (weights[i].size() != tensors[i].size())
      throw Error(where + ", " + tensors[i].name, "wrong number of weights",
                  std::to_string(weights[i].size()), std::to_string(tensors[i].size()));
}

/// Gives `list` one buffer per tensor, of its size; what it held is unspecified.
template <class R>
void resize_like(const TensorRegistry& registry, TensorList<R>& list) {
  const auto& tensors = registry.tensors();
  list.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) list[i].resize(tensors[i].size());
}

/// errors: Error, naming `where`, unless the value is finite
inline void check_finite(const std::string& where, double value) {
  if (!std::isfinite(value))
    throw Error(where, "not a number to work with", std::to_string(value), "a finite number");
}

/// Returns `count`.
/// errors: Error, naming `where`, unless it is in 1..most
inline std::size_t checked_count(const std::string& where, std::size_t count, std::size_t most) {
  if (count == 0 || count > most)
    throw Error(where, "count out of range", std::to_string(count), "1.." + std::to_string(most));
  return count;
}

/// errors: Error on a split other than "train", the only one that a toy problem has
inline void check_toy_split(const std::string& where, const std::string& split) {
  if (split != "train") throw Error(where + ", split", "a toy problem has one split", split, "train");
}

}  // namespace halfulp

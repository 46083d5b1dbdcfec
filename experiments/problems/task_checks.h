#pragma once
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

/// errors: Error on a split other than "train", the only one that a toy problem has
inline void check_toy_split(const std::string& where, const std::string& split) {
  if (split != "train") throw Error(where + ", split", "a toy problem has one split", split, "train");
}

}  // namespace halfulp

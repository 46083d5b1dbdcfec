#include "emulation/registry.h"

#include <algorithm>

#include "formats/error.h"

namespace halfulp {

const TensorInfo& TensorRegistry::add(std::string name, std::vector<std::size_t> shape) {
  const auto same_name = [&](const TensorInfo& known) { return known.name == name; };
  if (name.empty() || std::ranges::any_of(tensors_, same_name))
    throw Error("tensor registry", "a tensor needs a name of its own", name, "a name not used before");
  if (shape.empty() || std::ranges::find(shape, std::size_t{0}) != shape.end())
    throw Error("tensor registry, " + name, "empty tensor", "a shape with no elements",
                "extents of at least 1");
  tensors_.push_back(
      {std::move(name), static_cast<std::uint32_t>(tensors_.size()), std::move(shape), total_});
  total_ += tensors_.back().size();
  return tensors_.back();
}

}  // namespace halfulp

#include "emulation/registry.h"

#include <algorithm>

#include "formats/error.h"

namespace halfulp {

TensorInfo TensorRegistry::add(std::string name, std::vector<std::size_t> shape) {
  const auto same_name = [&](const TensorInfo& known) { return known.name == name; };
  if (name.empty() || std::ranges::any_of(tensors_, same_name))
    throw Error("tensor registry", "a tensor needs a name of its own", name, "a name not used before");
  if (shape.empty() || std::ranges::find(shape, std::size_t{0}) != shape.end())
    throw Error("tensor registry, " + name, "empty tensor", "a shape with no elements",
                "extents of at least 1");
  if (tensors_.size() > 0xffff) throw Error("tensor registry", "too many tensors", name, "at most 65536");
  for (std::size_t product = 1; const std::size_t extent : shape) {
    if (extent > static_cast<std::size_t>(-1) / product)
      throw Error("tensor registry, " + name, "too many elements", std::to_string(extent),
                  "a size below 2^64");
    product *= extent;
  }
  tensors_.push_back(
      {std::move(name), static_cast<std::uint32_t>(tensors_.size()), std::move(shape), total_});
  total_ += tensors_.back().size();
  return tensors_.back();
}

}  // namespace halfulp

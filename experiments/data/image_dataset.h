#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/error.h"

namespace halfulp {

/// Labelled images of one split.
struct ImageSplit {
  std::vector<float> pixels;         ///< [size(), image_size] row-major, in [0, 1]
  std::vector<std::uint8_t> labels;  ///< [size()], each below the data set's number of classes

  std::size_t size() const { return labels.size(); }
};

/// A data set for classification; runs share one as std::shared_ptr<const ImageDataset>.
struct ImageDataset {
  std::size_t image_size = 0;  ///< pixels of one image
  std::size_t classes = 0;
  ImageSplit train, validation, test;

  /// errors: Error on a name other than "train", "validation", "test"
  const ImageSplit& split(const std::string& name) const {
    if (name == "train") return train;
    if (name == "validation") return validation;
    if (name == "test") return test;
    throw Error("split", "unknown name", name, "train, validation, test");
  }
};

}  // namespace halfulp

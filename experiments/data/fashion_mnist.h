#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "experiments/data/image_dataset.h"

namespace halfulp {

/// Where Debian's package dataset-fashion-mnist puts its four files.
inline constexpr const char* fashion_mnist_directory = "/usr/share/datasets/fashion-mnist";

/// Returns Fashion-MNIST at 16 x 16: 55,000 training images (the first of the training file), 5,000 for
/// validation (its last), 10,000 for test (the t10k file).
/// errors: Error on a file that is missing, damaged, of another size, or holds a label above 9
/// source: Xiao, Rasul, Vollgraf 2017, "Fashion-MNIST: a Novel Image Dataset for Benchmarking"
std::shared_ptr<const ImageDataset> load_fashion_mnist(
    const std::filesystem::path& directory = fashion_mnist_directory);

/// Writes the 16 x 16 area average of one 28 x 28 image, scaled from [0, 255] to [0, 1].
/// out: each pixel is the area-weighted mean of the 1.75 x 1.75 input square under it: an exact integer
///      divided once, so correctly rounded
void area_average_28_to_16(std::span<const std::uint8_t, 784> image, std::span<float, 256> out) noexcept;

}  // namespace halfulp

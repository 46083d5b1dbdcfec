#include "experiments/data/fashion_mnist.h"

#include <algorithm>
#include <array>

#include "experiments/data/idx.h"
#include "formats/error.h"

namespace halfulp {
namespace {

constexpr std::size_t file_side = 28, side = 16;
constexpr std::size_t file_pixels = file_side * file_side, pixels = side * side;
constexpr std::size_t training_file_size = 60000, train_size = 55000, test_size = 10000;
constexpr std::size_t class_count = 10;
constexpr const char* remedy = "apt-get install dataset-fashion-mnist provides it";

/// One axis of the average, in quarters of an input pixel: output j covers [7j, 7j + 7), input i [4i, 4i +
/// 4). So an output sees at most 3 inputs, and its weights sum to 7.
struct Coverage {
  std::size_t first;
  std::array<unsigned, 3> weight;
};

constexpr std::array<Coverage, side> coverage_table() {
  std::array<Coverage, side> table{};
  for (std::size_t j = 0; j < side; ++j) {
    const std::size_t begin = 7 * j, end = begin + 7;
    // Started one input earlier where input first + 2 would lie outside; its weight is then 0.
    table[j].first = std::min(begin / 4, file_side - 3);
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t low = std::max(begin, 4 * (table[j].first + d));
      const std::size_t high = std::min(end, 4 * (table[j].first + d) + 4);
      table[j].weight[d] = high > low ? static_cast<unsigned>(high - low) : 0;
    }
  }
  return table;
}

constexpr auto coverage = coverage_table();

constexpr bool weights_sum_to_seven() {
  for (const Coverage& c : coverage)
    if (c.weight[0] + c.weight[1] + c.weight[2] != 7 || c.first + 2 >= file_side) return false;
  return true;
}
static_assert(weights_sum_to_seven());

ImageSplit make_split(std::span<const std::uint8_t> images, std::span<const std::uint8_t> labels) {
  ImageSplit split;
  split.labels.assign(labels.begin(), labels.end());
  split.pixels.resize(labels.size() * pixels);
  const std::span<float> out = split.pixels;
  for (std::size_t i = 0; i < labels.size(); ++i)
    area_average_28_to_16(images.subspan(i * file_pixels).first<file_pixels>(),
                          out.subspan(i * pixels).first<pixels>());
  return split;
}

std::vector<std::uint8_t> read_labels(const std::filesystem::path& path, std::size_t count) {
  auto labels = read_idx_gz(path, {count}, remedy);
  for (const std::uint8_t label : labels)
    if (label >= class_count)
      throw Error(path.string(), "label out of range", std::to_string(label),
                  std::string("0..9 (") + remedy + ")");
  return labels;
}

}  // namespace

void area_average_28_to_16(std::span<const std::uint8_t, 784> image, std::span<float, 256> out) noexcept {
  std::array<std::array<unsigned, side>, file_side> rows;
  for (std::size_t y = 0; y < file_side; ++y)
    for (std::size_t x = 0; x < side; ++x) {
      const std::uint8_t* in = &image[y * file_side + coverage[x].first];
      const auto& weight = coverage[x].weight;
      rows[y][x] = weight[0] * in[0] + weight[1] * in[1] + weight[2] * in[2];
    }
  // 49 sixteenths cover the square; 49 * 255 < 2^24, so numerator and denominator are exact in float.
  constexpr float full = 49 * 255;
  for (std::size_t y = 0; y < side; ++y)
    for (std::size_t x = 0; x < side; ++x) {
      const auto& [first, weight] = coverage[y];
      const unsigned total =
          weight[0] * rows[first][x] + weight[1] * rows[first + 1][x] + weight[2] * rows[first + 2][x];
      out[y * side + x] = static_cast<float>(total) / full;
    }
}

std::shared_ptr<const ImageDataset> load_fashion_mnist(const std::filesystem::path& directory) {
  auto data = std::make_shared<ImageDataset>();
  data->image_size = pixels;
  data->classes = class_count;
  {
    const auto labels = read_labels(directory / "train-labels-idx1-ubyte.gz", training_file_size);
    const auto images = read_idx_gz(directory / "train-images-idx3-ubyte.gz",
                                    {training_file_size, file_side, file_side}, remedy);
    const std::span<const std::uint8_t> all_images = images, all_labels = labels;
    data->train = make_split(all_images.first(train_size * file_pixels), all_labels.first(train_size));
    data->validation =
        make_split(all_images.subspan(train_size * file_pixels), all_labels.subspan(train_size));
  }
  const auto labels = read_labels(directory / "t10k-labels-idx1-ubyte.gz", test_size);
  const auto images =
      read_idx_gz(directory / "t10k-images-idx3-ubyte.gz", {test_size, file_side, file_side}, remedy);
  data->test = make_split(images, labels);
  return data;
}

}  // namespace halfulp

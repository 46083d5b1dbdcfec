#include "experiments/data/fashion_mnist.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <string>

#include "experiments/data/batch_order.h"
#include "experiments/data/idx.h"

using namespace halfulp;

namespace {

/// A folder of this process, removed at the end of the test.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("halfulp_idx_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }

  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
    return path / name;
  }
};

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

/// gzip of 00 00 08 01 00 00 00 03 07 08 09: three labels, 7 8 9.
const std::string three_labels =
    bytes({0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x63, 0x60, 0xe0, 0x60, 0x64, 0x60,
           0x60, 0x60, 0x66, 0xe7, 0xe0, 0x04, 0x00, 0xad, 0x98, 0x0a, 0xba, 0x0b, 0x00, 0x00, 0x00});

std::string message_of(const std::filesystem::path& path, const std::vector<std::size_t>& shape) {
  try {
    read_idx_gz(path, shape, "apt-get install it");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The area average by its definition, in double: overlaps of the output's square with each input pixel.
double area_average(const std::array<std::uint8_t, 784>& image, int row, int column) {
  const auto overlap = [](int out, int in) {
    return std::max(0.0, std::min(1.75 * out + 1.75, in + 1.0) - std::max(1.75 * out, 1.0 * in));
  };
  double total = 0;
  for (int y = 0; y < 28; ++y)
    for (int x = 0; x < 28; ++x)
      total += overlap(row, y) * overlap(column, x) * image[static_cast<std::size_t>(28 * y + x)];
  return total / (1.75 * 1.75) / 255;
}

}  // namespace

TEST_CASE("idx: the elements after the header come back in order") {
  const Folder folder;
  const auto path = folder.write("labels.gz", three_labels);
  CHECK(read_idx_gz(path, {3}, "") == std::vector<std::uint8_t>{7, 8, 9});
}

TEST_CASE("idx: a wrong file is an error that names path, finding, expectation and remedy") {
  const Folder folder;
  const auto good = folder.write("good.gz", three_labels);
  const auto check = [](const std::string& message, const std::string& path, const std::string& problem) {
    INFO(message);
    CHECK(contains(message, path));
    CHECK(contains(message, problem));
    CHECK(contains(message, "apt-get install it"));
  };
  check(message_of(folder.path / "none.gz", {3}), "none.gz", "no such file");
  check(message_of(folder.path, {3}), folder.path.string(), "no such file");
  check(message_of(good, {4}), "good.gz", "wrong IDX size: given '3', allowed: 4");
  check(message_of(good, {3, 1}), "good.gz", "truncated IDX header: given '11 bytes', allowed: 12 bytes");
  for (const std::size_t kept : {12u, 22u, 27u, 30u}) {  // in the data, at their end, in checksum and length
    CAPTURE(kept);
    check(message_of(folder.write("cut.gz", three_labels.substr(0, kept)), {3}), "cut.gz",
          "truncated gzip stream");
  }
  std::string flipped = three_labels;
  flipped[24] ^= 1;  // a bit of the checksum
  check(message_of(folder.write("flipped.gz", flipped), {3}), "flipped.gz", "damaged gzip stream");

  const auto plain = [&](std::initializer_list<int> values) {
    return folder.write("plain.gz", bytes(values));
  };
  check(message_of(plain({0, 0, 8, 3, 0, 0, 0, 2, 1, 2}), {2}), "plain.gz",
        "wrong IDX magic: given '2051', allowed: 2049");
  check(message_of(plain({0, 0, 8, 1, 0, 0, 0, 2, 1}), {2}), "plain.gz",
        "truncated: given '1 elements', allowed: 2 elements");
  check(message_of(plain({0, 0, 8, 1, 0, 0, 0, 2, 1, 2, 3}), {2}), "plain.gz", "longer than its header says");
}

TEST_CASE("fashion_mnist: a folder without the files names the first and the package that has them") {
  const Folder folder;
  std::string message;
  try {
    load_fashion_mnist(folder.path);
  } catch (const Error& error) {
    message = error.what();
  }
  INFO(message);
  CHECK(contains(message, (folder.path / "train-labels-idx1-ubyte.gz").string()));
  CHECK(contains(message, "apt-get install dataset-fashion-mnist"));
}

TEST_CASE("area average: hand-worked pixels") {
  std::array<std::uint8_t, 784> image{};
  std::array<float, 256> out;
  // Row 1 covers quarters 4..8: 3 of them in output row 0, 1 in row 1. Column 0 gives 4 quarters to column 0.
  image[28 * 1 + 0] = 255;
  area_average_28_to_16(image, out);
  CHECK(out[0] == 12.0f / 49);
  CHECK(out[16] == 4.0f / 49);
  CHECK(std::count(out.begin(), out.end(), 0.0f) == 254);
  // The last pixel lies wholly in the last square.
  image = {};
  image[783] = 255;
  area_average_28_to_16(image, out);
  CHECK(out[255] == 16.0f / 49);
  CHECK(std::count(out.begin(), out.end(), 0.0f) == 255);
}

TEST_CASE("area average: a constant image stays constant, white is exactly 1") {
  for (const int value : {0, 1, 77, 128, 254, 255}) {
    std::array<std::uint8_t, 784> image;
    image.fill(static_cast<std::uint8_t>(value));
    std::array<float, 256> out;
    area_average_28_to_16(image, out);
    for (const float pixel : out) CHECK(pixel == static_cast<float>(value) / 255.0f);
  }
}

TEST_CASE("area average: any image agrees with the overlaps computed in double") {
  std::array<std::uint8_t, 784> image;
  unsigned state = 12345;
  for (std::uint8_t& pixel : image) {
    state = state * 1664525u + 1013904223u;
    pixel = static_cast<std::uint8_t>(state >> 24);
  }
  std::array<float, 256> out;
  area_average_28_to_16(image, out);
  // The library's value is within half a float ulp of a number below 1, so within 2^-25 (the witness adds
  // 2^-45).
  for (int i = 0; i < 256; ++i)
    CHECK(std::abs(out[static_cast<std::size_t>(i)] - area_average(image, i / 16, i % 16)) <= 0x1.0001p-25);
}

TEST_CASE("fashion_mnist: splits of the real files have their sizes, known labels and balanced classes") {
  if (!std::filesystem::exists(fashion_mnist_directory)) {
    MESSAGE("SKIPPED: ", fashion_mnist_directory, " is missing (apt-get install dataset-fashion-mnist)");
    return;
  }
  const auto data = load_fashion_mnist();
  CHECK(data->image_size == 256);
  CHECK(data->classes == 10);
  CHECK(data->train.size() == 55000);
  CHECK(data->validation.size() == 5000);
  CHECK(data->test.size() == 10000);
  std::array<int, 10> of_training_file{}, of_test{};
  for (const ImageSplit* split : {&data->train, &data->validation, &data->test}) {
    CHECK(split->pixels.size() == 256 * split->size());
    CHECK(*std::min_element(split->pixels.begin(), split->pixels.end()) == 0.0f);
    CHECK(*std::max_element(split->pixels.begin(), split->pixels.end()) == 1.0f);
    for (const std::uint8_t label : split->labels)
      ++(split == &data->test ? of_test : of_training_file)[label];
  }
  for (int c = 0; c < 10; ++c) {
    CHECK(of_training_file[static_cast<std::size_t>(c)] == 6000);
    CHECK(of_test[static_cast<std::size_t>(c)] == 1000);
  }
  // The published order starts: ankle boot, T-shirt, T-shirt, dress, T-shirt; ankle boot, pullover, trouser.
  CHECK(std::vector<std::uint8_t>(data->train.labels.begin(), data->train.labels.begin() + 5) ==
        std::vector<std::uint8_t>{9, 0, 0, 3, 0});
  CHECK(std::vector<std::uint8_t>(data->test.labels.begin(), data->test.labels.begin() + 3) ==
        std::vector<std::uint8_t>{9, 2, 1});
  const auto raw = read_idx_gz(std::filesystem::path(fashion_mnist_directory) / "train-images-idx3-ubyte.gz",
                               {60000, 28, 28}, "");
  std::array<std::uint8_t, 784> last;
  std::copy_n(raw.end() - 784, 784, last.begin());
  for (int i = 0; i < 256; ++i)
    CHECK(std::abs(data->validation.pixels[4999 * 256 + static_cast<std::size_t>(i)] -
                   area_average(last, i / 16, i % 16)) <= 0x1.0001p-25);
}

TEST_CASE("batch order: an epoch visits no sample twice, another epoch and another seed in another order") {
  BatchOrder order(7, 103, 10);
  CHECK(order.steps_per_epoch() == 10);
  const auto epoch = [](BatchOrder& source, std::uint64_t number) {
    std::vector<std::uint32_t> all;
    for (std::uint64_t step = 10 * number; step < 10 * number + 10; ++step)
      for (const std::uint32_t index : source.indices(step)) all.push_back(index);
    return all;
  };
  const auto first = epoch(order, 0), second = epoch(order, 1);
  for (const auto& visited : {first, second}) {
    CHECK(visited.size() == 100);
    CHECK(std::set<std::uint32_t>(visited.begin(), visited.end()).size() == 100);
    CHECK(*std::max_element(visited.begin(), visited.end()) < 103);
    CHECK_FALSE(std::is_sorted(visited.begin(), visited.end()));
  }
  CHECK(first != second);
  BatchOrder other(8, 103, 10);
  CHECK(epoch(other, 0) != first);
}

TEST_CASE("batch order: a step's batch does not depend on what was asked before") {
  BatchOrder order(7, 103, 10), fresh(7, 103, 10);
  order.indices(3);
  order.indices(57);
  const auto again = order.indices(3), alone = fresh.indices(3);
  CHECK(std::vector<std::uint32_t>(again.begin(), again.end()) ==
        std::vector<std::uint32_t>(alone.begin(), alone.end()));
}

TEST_CASE("batch order: a batch that is no part of the samples is an error") {
  CHECK_THROWS_AS(BatchOrder(0, 10, 0), Error);
  CHECK_THROWS_AS(BatchOrder(0, 10, 11), Error);
  CHECK_NOTHROW(BatchOrder(0, 10, 10));
}

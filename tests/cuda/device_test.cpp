#include "emulation/cuda/device.h"

#include <doctest/doctest.h>

#include "emulation/cuda/on_device.h"
#include "formats/catalog.h"
#include "tests/cuda/kernel_orders.h"

namespace halfulp::cuda {
namespace {

TEST_SUITE("unit") {
  TEST_CASE("there is a device, or a sentence that says why not") {
    const std::optional<DeviceInfo> device = find_device();
    CHECK(why_no_device().empty() == device.has_value());
    if (device) {
      CHECK(!device->name.empty());
      CHECK(device->major >= 8);
      CHECK(device->runtime_version <= device->driver_version);
      return;
    }
    CHECK_THROWS_WITH(Stream(), doctest::Contains(why_no_device().c_str()));
    CHECK_THROWS_WITH(DeviceBuffer(4), doctest::Contains(why_no_device().c_str()));
    float number = 1;
    CHECK_THROWS_WITH(
        quantize_on_device(e4m3, to_nearest(), std::span<const float>(&number, 1), {&number, 1}),
        doctest::Contains("no device"));
  }

  TEST_CASE("a device gives the host emulator's bits") {
    if (!find_device()) {
      MESSAGE("SKIPPED: ", why_no_device());
      return;
    }
    const std::vector<float> x = mixed_numbers(100'003, 21);
    for (const int bits : {0, 16}) {
      const Quantization how{bits == 0 ? nearest_even : stochastic, special_values(OverflowPolicy::saturate),
                             draws_of({1, 2, 3, 0, RandomPurpose::rounding, 0}, bits)};
      std::vector<float> on_host(x.size()), here(x.size());
      emulate(quantize_kernel(e4m3, how, x.data(), on_host.data(), x.size()));
      quantize_on_device(e4m3, how, x, here);
      CHECK(same_bits(here, on_host));
      const PackedNumbers packed = encode_on_device(nvfp4, 1, x.size(), 0x1p-6f, how, x);
      PackedNumbers expected{std::vector<std::uint8_t>(packed.codes.size()),
                             std::vector<std::uint8_t>(packed.scales.size())};
      emulate(encode_kernel(nvfp4, 1, x.size(), 0x1p-6f, how, x.data(), expected.codes.data(),
                            expected.scales.data(), on_host.data()));
      CHECK(packed.codes == expected.codes);
      CHECK(packed.scales == expected.scales);
      decode_on_device(nvfp4, 1, x.size(), 0x1p-6f, packed, here);
      CHECK(same_bits(here, on_host));
    }
  }
}

}  // namespace
}  // namespace halfulp::cuda

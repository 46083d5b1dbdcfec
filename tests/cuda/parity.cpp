// Runs on a machine with a device: every kernel against the emulator or the host's functions, then rates. Prints one JSON
// object; status 0: all equal, 1: a difference, 2: bad usage or an error, 77: no device.
#include <set>

#include "tests/cuda/parity_floats.h"
#include "tests/cuda/parity_speed.h"

namespace {

using namespace halfulp;
using namespace halfulp::cuda;

void run(const std::set<std::string>& parts, ParityReport& report) {
  if (parts.contains("kernels")) {
    for (const std::size_t size : {1, 31, 33, 257, 1000, 1025, 5000}) compare_format_kernels(report, size);
    compare_model_kernels<float>(report, "float");
    compare_model_kernels<double>(report, "double");
    compare_float_kernels(report);
  }
  if (parts.contains("steps"))
    for (const std::size_t size : {1, 257, 3001}) {
      compare_steps<AdamW>(report, size);
      compare_steps<Madam>(report, size);
      compare_steps<MAdam>(report, size);
      compare_steps<Lmd>(report, size);
    }
  if (parts.contains("floats"))
    for (const auto& [name, format] : {NamedScalarFormat{"e4m3", e4m3}, NamedScalarFormat{"e5m2", e5m2},
                                       NamedScalarFormat{"bf16", bf16}, NamedScalarFormat{"e2m1", e2m1}})
      compare_all_floats(report, std::string(name), format);
  if (parts.contains("speed")) measure_speed(report);
}

}  // namespace

int main(int argc, char** argv) {
  const std::set<std::string> known{"kernels", "steps", "floats", "speed"};
  std::set<std::string> parts(argv + 1, argv + argc);
  if (parts.empty()) parts = known;
  for (const std::string& part : parts)
    if (!known.contains(part)) {
      std::fprintf(stderr, "parity: unknown part '%s', allowed: floats, kernels, speed, steps\n",
                   part.c_str());
      return 2;
    }
  const auto device = find_device();
  if (!device) {
    std::fprintf(stderr, "parity: no device: %s\n", why_no_device().c_str());
    return 77;
  }
  try {
    ParityReport report;
    run(parts, report);
    std::printf("%s\n", report.json(device->name).c_str());
    return report.differing() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "parity: %s\n", error.what());
    return 2;
  }
}

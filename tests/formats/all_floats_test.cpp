// Every float there is, in every named format of at most 8 bits and bf16, against the oracle's breakpoints.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "formats/catalog.h"
#include "formats/conformance/oracle.h"
#include "formats/converter.h"

using namespace halfulp;

namespace {

constexpr SpecialValues policy = special_values(OverflowPolicy::ieee);

/// Floats of one sign from this magnitude on have this code, until the next stretch.
struct Stretch {
  std::uint32_t first_bits, code;
};

/// Conversion of one sign as stretches: the oracle is asked where the code changes, by bisection, which sees every
/// change because codes follow the order of the numbers (or are constant, as for negatives of unsigned formats).
class Breakpoints {
 public:
  Breakpoints(const ScalarFormat& f, RoundingMode mode, std::uint32_t sign)
      : oracle_(f), mode_(mode), sign_(sign) {
    constexpr std::uint32_t infinity = 0x7f80'0000;
    stretches_.push_back({0, code(0)});
    bisect(0, code(0), infinity, code(infinity));
    stretches_.push_back({infinity, code(infinity)});
    stretches_.push_back({infinity + 1, code(infinity + 1)});
  }
  const std::vector<Stretch>& stretches() const { return stretches_; }

 private:
  std::uint32_t code(std::uint32_t magnitude) const {
    return oracle_.convert(real_of(magnitude | sign_), {mode_, 0}, policy, 0);
  }
  void bisect(std::uint32_t low, std::uint32_t low_code, std::uint32_t high, std::uint32_t high_code) {
    if (low_code == high_code) return;
    if (high - low == 1) return stretches_.push_back({high, high_code});
    const std::uint32_t middle = low + (high - low) / 2, middle_code = code(middle);
    bisect(low, low_code, middle, middle_code);
    bisect(middle, middle_code, high, high_code);
  }

  oracle::Oracle oracle_;
  RoundingMode mode_;
  std::uint32_t sign_;
  std::vector<Stretch> stretches_;
};

/// Mismatches among the floats [first, first + count) of a stretch; each is converted.
std::uint64_t mismatches(const Converter& convert, std::uint32_t sign, std::uint64_t first, std::uint64_t end,
                         std::uint32_t code) {
  constexpr std::size_t chunk = 2048;
  std::array<double, chunk> x, got;
  const double value = decode(convert.format(), code);
  const std::uint64_t expected = bits_of(value);
  const bool expects_nan = value != value;
  std::uint64_t wrong = encode(convert.format(), value) == code ? 0 : end - first;
  for (std::uint64_t at = first; at < end; at += chunk) {
    const std::size_t count = std::min<std::uint64_t>(chunk, end - at);
    for (std::size_t i = 0; i < count; ++i) x[i] = real_of(static_cast<std::uint32_t>(at + i) | sign);
    convert.values(std::span<const double>(x.data(), count), {}, std::span(got.data(), count));
    std::uint64_t different = 0;
    for (std::size_t i = 0; i < count; ++i)
      different += (bits_of(got[i]) != expected &&
                    !(expects_nan && got[i] != got[i] && sign_bit_of(got[i]) == sign_bit_of(value)))
                       ? 1
                       : 0;
    wrong += different;
  }
  return wrong;
}

std::uint64_t check_all_floats(const ScalarFormat& f, RoundingMode mode) {
  struct Task {
    std::uint32_t sign, code;
    std::uint64_t first, end;
  };
  std::vector<Task> tasks;
  for (const std::uint32_t sign : {0u, 0x8000'0000u}) {
    const Breakpoints breakpoints(f, mode, sign);
    const std::vector<Stretch>& stretches = breakpoints.stretches();
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      const std::uint64_t end = i + 1 < stretches.size() ? stretches[i + 1].first_bits : 0x8000'0000u;
      for (std::uint64_t at = stretches[i].first_bits; at < end; at += 1u << 24)
        tasks.push_back({sign, stretches[i].code, at, std::min<std::uint64_t>(at + (1u << 24), end)});
    }
  }
  const Converter convert(f, {mode, 0}, policy);
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> wrong{0}, seen{0};
  const auto work = [&] {
    for (std::size_t i; (i = next++) < tasks.size();) {
      wrong += mismatches(convert, tasks[i].sign, tasks[i].first, tasks[i].end, tasks[i].code);
      seen += tasks[i].end - tasks[i].first;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  CHECK(seen == std::uint64_t{1} << 32);
  return wrong;
}

}  // namespace

TEST_SUITE("exhaustive") {
  TEST_CASE("all floats: 2^32 of them in every named format of at most 8 bits and in bf16") {
    for (const NamedScalarFormat& named : all_scalar_formats) {
      if (named.format.bits() > 8 && named.format != bf16) continue;
      for (const RoundingMode mode : {RoundingMode::nearest_even, RoundingMode::up}) {
        const std::uint64_t wrong = check_all_floats(named.format, mode);
        MESSAGE(std::string(named.name), " ", to_string(Rounding{mode, 0}), ": 4294967296 floats, ", wrong,
                " mismatches");
        CHECK(wrong == 0);
      }
    }
  }
}

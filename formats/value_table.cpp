#include "formats/value_table.h"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <charconv>
#include <cmath>
#include <deque>
#include <fstream>
#include <mutex>

#include "formats/error.h"

namespace halfulp {
namespace {

struct Interned {
  std::vector<double> values;
  std::string spec;
};

/// All lists seen so far. Nothing in it ever changes or goes away, so no result depends on who came first.
struct Store {
  std::mutex mutex;
  std::deque<Interned> lists;  // addresses stay
};

Store& store() {
  static Store instance;
  return instance;
}

void require_table(const std::vector<double>& values, const std::string& spec) {
  const auto refuse = [&](const std::string& problem, const std::string& given, const std::string& allowed) {
    throw Error("format " + spec, problem, given, allowed);
  };
  if (values.size() < 2 || values.size() > 65536)
    refuse("wrong number of numbers in a table", std::to_string(values.size()), "2 to 65536");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double magnitude = std::fabs(values[i]);
    const std::string place = "number " + std::to_string(i + 1);
    if (!(magnitude == 0 || (magnitude >= 0x1p-900 && magnitude <= 0x1p900)))
      refuse(place + " is out of range", std::to_string(values[i]), "0 or a magnitude in [2^-900, 2^900]");
    if (i > 0 && !(values[i - 1] < values[i]))
      refuse(place + " is not larger than the one before", std::to_string(values[i]),
             "an ascending list of distinct numbers");
  }
  if (!(values.back() > 0))
    refuse("no positive number in a table", std::to_string(values.back()), "at least one");
}

/// 2^(numerator / gamma). The irrational ones come from 200 bits, far more than can lie between a root of a power of two
/// of this size and a midpoint of doubles; exponents without a rest are exact.
double root_of_power(int numerator, int gamma) {
  if (numerator % gamma == 0) return std::ldexp(1.0, numerator / gamma);
  using Wide = boost::multiprecision::number<
      boost::multiprecision::cpp_bin_float<200, boost::multiprecision::digit_base_2>>;
  return static_cast<double>(pow(Wide(2), Wide(numerator) / gamma));
}

}  // namespace

ScalarFormat table_format(const std::vector<double>& values, const std::string& spec) {
  require_table(values, spec);
  std::vector<double> kept = values;
  bool has_zero = false;
  for (double& value : kept)
    if (value == 0) value = 0.0, has_zero = true;  // -0 in a file is the one zero
  Store& all = store();
  const std::lock_guard lock(all.mutex);
  const Interned* found = nullptr;
  for (const Interned& list : all.lists)
    if (list.values == kept) found = &list;
  if (found == nullptr) found = &all.lists.emplace_back(Interned{std::move(kept), spec});
  ScalarFormat f;
  f.is_signed = found->values.front() < 0;
  f.has_negative_zero = false;
  f.has_zero = has_zero;
  f.has_subnormals = false;
  f.table = found->values.data();
  f.table_size = static_cast<std::uint32_t>(found->values.size());
  return f;
}

std::string table_spec(const ScalarFormat& f) {
  Store& all = store();
  const std::lock_guard lock(all.mutex);
  for (const Interned& list : all.lists)
    if (list.values.data() == f.table) return list.spec;
  return "table";
}

std::vector<double> read_value_table(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error("format table", "cannot read the file", path, "a text file of ascending numbers");
  std::vector<double> values;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    line = line.substr(0, line.find('#'));
    for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r,", at)) != std::string::npos;) {
      const std::size_t end = std::min(line.find_first_of(" \t\r,", at), line.size());
      double value = 0;
      const char *first = line.data() + at, *last = line.data() + end;
      const auto [stop, status] = std::from_chars(first, last, value);
      if (status != std::errc{} || stop != last)
        throw Error("format table " + path + ", line " + std::to_string(number), "not a number",
                    line.substr(at, end - at),
                    "decimal numbers, blanks or commas between them, # before a comment");
      values.push_back(value);
      at = end;
    }
  }
  return values;
}

ScalarFormat lns_format(int bits, int gamma) {
  const std::string spec = "lns{bits=" + std::to_string(bits) + ",gamma=" + std::to_string(gamma) + "}";
  if (bits < 3 || bits > 16)
    throw Error("format " + spec, "bits out of range", std::to_string(bits), "3 to 16");
  if (gamma < 1 || gamma > 65536)
    throw Error("format " + spec, "gamma out of range", std::to_string(gamma), "1 to 65536");
  const int count = (1 << (bits - 1)) - 1, middle = 1 << (bits - 2);
  if (middle / gamma >= 900)
    throw Error("format " + spec, "numbers beyond 2^900", "gamma " + std::to_string(gamma),
                "gamma of at least " + std::to_string(middle / 900 + 1));
  std::vector<double> values;
  for (int k = count; k >= 1; --k) values.push_back(-root_of_power(k - middle, gamma));
  values.push_back(0);
  for (int k = 1; k <= count; ++k) values.push_back(root_of_power(k - middle, gamma));
  return table_format(values, spec);
}

}  // namespace halfulp

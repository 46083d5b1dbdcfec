#include "experiments/problems/problem_settings.h"

#include <algorithm>
#include <cmath>

#include "formats/error.h"

namespace halfulp {

double ProblemSettings::number(const std::string& name, double otherwise) {
  const auto found = given_.find(name);
  const double value = found == given_.end() ? otherwise : found->second;
  known_.push_back({name, value});
  return value;
}

std::size_t ProblemSettings::count(const std::string& name, std::size_t otherwise) {
  const double value = number(name, static_cast<double>(otherwise));
  if (!(value >= 0 && value <= 0x1p32) || value != std::floor(value))
    throw Error(where_ + ", " + name, "not a count", std::to_string(value), "an integer in 0..4294967296");
  return static_cast<std::size_t>(value);
}

bool ProblemSettings::yes_or_no(const std::string& name, bool otherwise) {
  const double value = number(name, otherwise ? 1 : 0);
  if (value != 0 && value != 1)
    throw Error(where_ + ", " + name, "neither yes nor no", std::to_string(value), "0 or 1");
  return value == 1;
}

void ProblemSettings::check_all_known() const {
  for (const auto& [name, value] : given_) {
    const auto same_name = [&name = name](const Known& known) { return known.name == name; };
    if (std::any_of(known_.begin(), known_.end(), same_name)) continue;
    std::string allowed;
    for (const Known& known : known_) allowed += (allowed.empty() ? "" : ", ") + known.name;
    throw Error(where_, "unknown setting", name, allowed.empty() ? "no settings" : allowed);
  }
}

}  // namespace halfulp

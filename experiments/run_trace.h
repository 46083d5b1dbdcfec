#pragma once
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace halfulp {

/// What is written down on the way: one row every trace_every steps, in named columns. A number that is not known in a
/// row is NaN there, null in the record.
class RunTrace {
 public:
  void start_row(std::uint64_t step) {
    step_.push_back(step);
    for (auto& column : columns_) column.second.push_back(NAN);
  }
  /// Sets a number of the row last started.
  void set(const std::string& column, double value) {
    for (auto& [name, values] : columns_)
      if (name == column) return void(values.back() = value);
    columns_.emplace_back(column, std::vector<double>(step_.size(), NAN)).second.back() = value;
  }
  void add_weights(const std::vector<double>& weights) { weights_.push_back(weights); }

  nlohmann::ordered_json to_json() const {
    nlohmann::ordered_json json{{"step", step_}};
    for (const auto& [name, values] : columns_) json[name] = values;
    if (!weights_.empty()) json["weights"] = weights_;
    return json;
  }

 private:
  std::vector<std::uint64_t> step_;
  std::vector<std::pair<std::string, std::vector<double>>> columns_;  // in the order of their first number
  std::vector<std::vector<double>> weights_;
};

}  // namespace halfulp

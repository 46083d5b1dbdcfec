#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace halfulp {

/// The records that a report is about, ordered by key: of the newest bits version, each key once.
struct RecordSet {
  std::vector<nlohmann::ordered_json> records;
  int bits_version = 0;
  std::vector<std::string> notes;  ///< what was left out, and why
};

/// The same set whatever the order of the records.
/// errors: throws Error if there is none, or one lacks what a run writes (it names the entry).
RecordSet choose_records(std::vector<nlohmann::ordered_json> all);

/// The number at a JSON pointer; NaN where there is nothing, or null, which stands for a number that is not
/// finite.
double number_at(const nlohmann::ordered_json& record, const std::string& pointer);

/// The numbers of an array, null as NaN; empty where there is none.
std::vector<double> numbers_at(const nlohmann::ordered_json& record, const std::string& pointer);

}  // namespace halfulp

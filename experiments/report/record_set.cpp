#include "experiments/report/record_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/error.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

const Json* find(const Json& record, const std::string& pointer) {
  const Json::json_pointer path(pointer);
  return record.contains(path) ? &record.at(path) : nullptr;
}

double number_or_nan(const Json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

void require(const Json& record) {
  const auto refuse = [&](const std::string& what) {
    const Json* key = record.is_object() ? find(record, "/key") : nullptr;
    throw Error("records", "a record lacks " + what, key ? key->dump() : record.dump().substr(0, 60),
                "records that `halfulp run` or `halfulp sweep` wrote");
  };
  if (!record.is_object()) refuse("everything");
  for (const char* text :
       {"/key", "/label", "/status", "/config/problem/name", "/config/rule/name", "/config/plan/scheme"})
    if (const Json* value = find(record, text); !value || !value->is_string()) refuse(text);
  for (const char* object : {"/measurements", "/trace"})
    if (const Json* value = find(record, object); value && !value->is_object()) refuse(object);
  if (const Json* version = find(record, "/bits_version"); !version || !version->is_number_integer())
    refuse("/bits_version");
}

/// Keeps the first record of each key. in: sorted, so that records of one key are neighbours
void drop_repeated(RecordSet& set) {
  std::size_t repeated = 0;
  std::vector<Json> kept;
  for (Json& record : set.records) {
    const bool known = !kept.empty() && kept.back().at("key") == record.at("key");
    if (!known) {
      kept.push_back(std::move(record));
      continue;
    }
    ++repeated;
    if (kept.back().value("hash", Json()) != record.value("hash", Json()))
      set.notes.push_back("warning: two records of key " + record.at("key").get<std::string>() +
                          " hold different bytes (commits " + kept.back().value("commit", "?") + " and " +
                          record.value("commit", "?") + "); the first in order of text is used");
  }
  if (repeated > 0) set.notes.push_back(fmt::format("{} repeated records were left out", repeated));
  set.records = std::move(kept);
}

}  // namespace

RecordSet choose_records(std::vector<Json> all) {
  if (all.empty())
    throw Error("records", "there is none", "an empty folder",
                "a folder with records*.jsonl, as `halfulp sweep CONFIG --out DIR` makes it");
  RecordSet set;
  set.bits_version = std::numeric_limits<int>::min();
  for (const Json& record : all) {
    require(record);
    set.bits_version = std::max(set.bits_version, record.at("bits_version").get<int>());
  }
  std::vector<std::pair<std::string, Json>> ordered;
  for (Json& record : all) {
    if (record.at("bits_version").get<int>() != set.bits_version) continue;
    std::string order = record.at("key").get<std::string>() + " " + record.dump();
    ordered.emplace_back(std::move(order), std::move(record));
  }
  if (const std::size_t older = all.size() - ordered.size(); older > 0)
    set.notes.push_back(fmt::format("{} records of older bits versions were left out; version {} is used",
                                    older, set.bits_version));
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [order, record] : ordered) set.records.push_back(std::move(record));
  drop_repeated(set);
  return set;
}

double number_at(const Json& record, const std::string& pointer) {
  const Json* value = find(record, pointer);
  return value ? number_or_nan(*value) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> numbers_at(const Json& record, const std::string& pointer) {
  std::vector<double> numbers;
  const Json* values = find(record, pointer);
  if (!values || !values->is_array()) return numbers;
  for (const Json& value : *values) numbers.push_back(number_or_nan(value));
  return numbers;
}

}  // namespace halfulp

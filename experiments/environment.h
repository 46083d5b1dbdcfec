#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace halfulp {

/// Where and how fast a run went, kept beside its record because none of it may change the record's bytes:
/// compiler, flags, processor, host load, time.
nlohmann::ordered_json describe_environment(const std::string& key, double seconds, unsigned threads);

}  // namespace halfulp

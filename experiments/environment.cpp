#include "experiments/environment.h"

#include <cstdlib>
#include <ctime>
#include <fstream>

#include "experiments/version.h"

namespace halfulp {
namespace {

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

nlohmann::ordered_json describe_environment(const std::string& key, double seconds, unsigned threads) {
  double load[1] = {0};
  getloadavg(load, 1);
  return {{"key", key},           {"finished", now_utc()},    {"seconds", seconds}, {"threads", threads},
          {"device", "cpu"},      {"processor", processor()}, {"load", load[0]},    {"compiler", compiler},
          {"flags", build_flags}, {"version", version},       {"commit", commit}};
}

}  // namespace halfulp

#include "formats/conformance/report.h"

namespace halfulp {

std::string to_string(const CounterExample& example) {
  std::string text = example.input;
  if (!example.interval.empty()) text += " in [" + example.interval + "]";
  if (!example.setting.empty()) text += ", " + example.setting;
  return text + ": got " + example.got + ", expected " + example.expected;
}

bool ConformanceReport::holds() const {
  for (const PropertyReport& property : properties)
    if (!property.holds()) return false;
  return true;
}

const PropertyReport* ConformanceReport::find(const std::string& name) const {
  for (const PropertyReport& property : properties)
    if (property.name == name) return &property;
  return nullptr;
}

std::string to_string(Coverage coverage) {
  switch (coverage) {
    case Coverage::exhaustive:
      return "proved (exhaustive)";
    case Coverage::sampled:
      return "sampled";
    case Coverage::not_applicable:
      return "does not apply";
  }
  return "";
}

std::string failure_text(const PropertyReport& property) {
  std::string text = property.name + ": " + std::to_string(property.failures) + " of " +
                     std::to_string(property.cases) + " cases fail\n";
  for (const CounterExample& example : property.examples) text += "  " + to_string(example) + "\n";
  return text;
}

}  // namespace halfulp

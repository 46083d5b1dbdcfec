#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/program/command.h"
#include "experiments/program/progress.h"
#include "experiments/program/table.h"
#include "formats/conformance/conformance.h"
#include "formats/error.h"
#include "formats/rounding.h"
#include "formats/spec.h"
#include "formats/special_values.h"

namespace halfulp {
namespace {

struct Options {
  std::string spec;
  std::vector<std::string> roundings, specials;
  std::size_t examples = 5;
  bool json = false;
};

std::string coverage_word(Coverage coverage) {
  switch (coverage) {
    case Coverage::exhaustive:
      return "exhaustive";
    case Coverage::sampled:
      return "sampled";
    case Coverage::not_applicable:
      return "not_applicable";
  }
  return "";
}

std::string json_of(const ConformanceReport& report) {
  nlohmann::ordered_json properties = nlohmann::json::array();
  for (const PropertyReport& property : report.properties) {
    nlohmann::ordered_json examples = nlohmann::json::array();
    for (const CounterExample& example : property.examples)
      examples.push_back({{"input", example.input},
                          {"interval", example.interval},
                          {"setting", example.setting},
                          {"got", example.got},
                          {"expected", example.expected}});
    properties.push_back({{"name", property.name},
                          {"coverage", coverage_word(property.coverage)},
                          {"scope", property.scope},
                          {"cases", property.cases},
                          {"failures", property.failures},
                          {"counter_examples", examples}});
  }
  const nlohmann::ordered_json object{
      {"format", report.format}, {"holds", report.holds()}, {"properties", properties}};
  return object.dump() + "\n";
}

/// One line a property, then the counter-examples of those that fail.
std::string text_of(const ConformanceReport& report) {
  std::vector<std::vector<std::string>> rows{{"property", "coverage", "cases", "failures"}};
  std::string failures;
  std::size_t failed = 0;
  for (const PropertyReport& property : report.properties) {
    rows.push_back({property.name, to_string(property.coverage), fmt::format("{}", property.cases),
                    fmt::format("{}", property.failures)});
    if (property.holds()) continue;
    ++failed;
    failures += "\n" + failure_text(property);
  }
  const std::string verdict = failed == 0
                                  ? "every property holds"
                                  : fmt::format("{} of {} properties fail", failed, report.properties.size());
  return fmt::format("{}: {}\n\n{}{}", report.format, verdict, aligned(rows), failures);
}

void run_check(const Options& options) {
  ConformanceOptions what{.most_examples = options.examples};
  for (const std::string& text : options.roundings) what.roundings.push_back(parse_rounding(text));
  for (const std::string& text : options.specials) what.specials.push_back(parse_special_values(text));
  ProgressBar bar("checking");
  what.progress = [&bar](std::size_t done, std::size_t total) { bar.show(done, total); };
  const ConformanceReport report = check_conformance(options.spec, what);
  print_result(options.json ? json_of(report) : text_of(report));
  if (!report.holds()) throw FailedCheck{};
}

}  // namespace

void add_check_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "check", "Prove that a format rounds, overflows and comes back as it should; counter-examples if not");
  const auto options = std::make_shared<Options>();
  command->add_option("SPEC", options->spec, "format to check; `halfulp formats` lists the named ones")
      ->required();
  command
      ->add_option("--rounding", options->roundings,
                   "modes to check, again for more (stochastic_a:8, up, ...); all of them if left out")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--overflow", options->specials,
          "policies to check, again for more (saturate, \"ocp{nan_sign=drop}\", ...); all of them, and "
          "every switch, if left out")
      ->allow_extra_args(false);
  command->add_option("--examples", options->examples,
                      "counter-examples printed for each property (default 5)");
  command->add_flag("--json", options->json,
                    "one JSON object: format, holds, properties (name, coverage, scope, cases, failures, "
                    "counter_examples)");
  command->footer(
      "`proved (exhaustive)`: every code, and both sides of every place where the answer may change, were "
      "tried.\n"
      "`sampled`: formats of more than 16 bits, and what has too many cases.\n"
      "Examples:\n"
      "  halfulp check e4m3\n"
      "  halfulp check \"e3m4{bias=5}\" --rounding nearest_even --overflow saturate\n"
      "  halfulp check nvfp4 --json");
  command->callback([options] { run_check(*options); });
}

}  // namespace halfulp

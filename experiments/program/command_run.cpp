#include <fmt/format.h>

#include "experiments/program/command.h"
#include "experiments/program/progress.h"
#include "experiments/program/table.h"
#include "experiments/sweep.h"
#include "formats/error.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

struct RunOptions {
  std::string config, device = "cpu";
  std::optional<std::string> out;
  std::vector<std::string> settings;
  unsigned threads = 1;
  bool json = false;
};

std::string number(const Json& value) {
  return value.is_number() ? fmt::format("{:.6g}", value.get<double>()) : "not finite";
}

/// What each tensor lost, where there are several.
std::string tensor_table(const Json& tensors) {
  std::vector<std::vector<std::string>> rows{
      {"tensor", "stagnation", "delivered", "trapped", "refused flips", "scale growth", "frozen states"}};
  for (const auto& [name, counted] : tensors.items()) {
    std::string frozen;
    for (const auto& [state, share] : counted.at("frozen_states").items())
      frozen += (frozen.empty() ? "" : ", ") + state + " " + fmt::format("{:.3g}", share.get<double>());
    rows.push_back({name});
    for (const char* what : {"stagnation", "delivered", "trapped_share", "refused_flips", "scale_growth"})
      rows.back().push_back(fmt::format("{:.3g}", counted.at(what).get<double>()));
    rows.back().push_back(frozen.empty() ? "-" : frozen);
  }
  return aligned(rows);
}

/// The record in a few lines that a person reads.
std::string summary(const Json& record) {
  const Json& config = record.at("config");
  std::string text =
      fmt::format("{} on {}, weights and states {}: {}", record.at("label").get<std::string>(),
                  config.at("problem").at("name").get<std::string>(),
                  config.at("plan").at("scheme").get<std::string>(), record.at("status").get<std::string>());
  text +=
      record.contains("diverged_at") ? fmt::format(" at step {}\n", record.at("diverged_at").dump()) : "\n";
  if (record.contains("result"))
    for (const auto& [split, result] : record.at("result").items())
      text += fmt::format("  {:<38}{}{}\n", "loss (" + split + ")", number(result.at("loss")),
                          result.contains("accuracy") ? ", accuracy " + number(result.at("accuracy")) : "");
  if (!record.contains("measurements"))
    return text + fmt::format("  {:<38}{}\n", "hash of all stored bytes", record.at("hash").get<std::string>());
  const Json& all = record.at("measurements").at("all");
  const auto line = [&](const char* what, const Json& value) {
    text += fmt::format("  {:<38}{}\n", what, number(value));
  };
  line("stagnation share", all.at("stagnation").at("share"));
  line("delivered ratio", all.at("delivery").at("ratio"));
  line("trapped near zero, share", all.at("trapping").at("trapped_share"));
  line("refused sign flips, share", all.at("sign_flips").at("refused_share"));
  line("moved by a scale alone", all.at("collateral").at("only_by_scale"));
  line("steps that changed something", record.at("measurements").at("changed_steps"));
  if (record.contains("signs"))
    for (const auto& [what, value] : record.at("signs").items()) line(("signs, " + what).c_str(), value);
  line("growth by scales alone", all.at("scale_runaway").at("growth"));
  line("steps ten times the usual", all.at("exploding_steps").at("exploding"));
  for (const auto& [state, counted] : all.at("states").items())
    line(("frozen, " + state).c_str(), counted.at("frozen_share"));
  if (all.at("weight_decay").at("elements") != 0) line("weight decay lost, share", all.at("weight_decay").at("lost_share"));
  const Json& measurements = record.at("measurements");
  if (measurements.contains("harmful_stagnation"))
    for (const Json& slot : measurements.at("harmful_stagnation"))
      if (!slot.at("harmful_share").empty())
        line(("harmful, last window, " + slot.at("tensor").get<std::string>()).c_str(), slot.at("harmful_share").back());
  if (measurements.contains("dwell"))
    for (const Json& slot : measurements.at("dwell"))
      line(("longest near zero, " + slot.at("tensor").get<std::string>()).c_str(), slot.at("near_zero").at("longest"));
  if (record.contains("final_weights"))
    text += fmt::format("  {:<38}{}\n", "final weights", record.at("final_weights").dump());
  text += fmt::format("  {:<38}{}\n", "hash of all stored bytes", record.at("hash").get<std::string>());
  if (record.at("measurements").contains("tensors")) text += "\n" + tensor_table(record.at("measurements").at("tensors"));
  return text;
}

void run_command(const RunOptions& options) {
  if (options.device != "cpu")
    throw Error("--device", "this build has no such device", options.device, "cpu");
  if (options.out && options.out->empty()) throw Error("--out", "no folder", "", "a folder");
  const YAML::Node node = load_yaml(options.config);
  for (const std::string& setting : options.settings) apply_setting(node, setting);
  const RunConfig config = parse_run_config(node, options.config);
  Json record;
  {
    ProgressBar bar(rule_label(config.rule, config.plan));
    const auto progress = [&](std::uint64_t step) { bar.show(step, config.steps); };
    if (!options.out) {
      SharedWork shared;
      ThreadPool pool(options.threads);
      record = run(config, shared, options.threads > 1 ? &pool : nullptr, progress);
    } else {
      record = run_into(config, *options.out, options.threads, progress);
    }
  }
  if (record.at("status") == "diverged")
    print_message("warning: the run diverged at step " + record.at("diverged_at").dump() +
                  "; recorded as such");
  print_result(options.json ? record.dump() + "\n" : summary(record));
}

}  // namespace

void add_run_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("run", "train once on weights stored in a format, and measure what rounding did");
  auto options = std::make_shared<RunOptions>();
  command->add_option("config", options->config, "YAML file of the run")->required();
  command->add_option("--set", options->settings, "KEY=VALUE, over the file; may be repeated")->take_all();
  command->add_option("--out", options->out,
                      "folder that gets records.jsonl; a record already there is not made again");
  command->add_option("--device", options->device, "cpu");
  command->add_option("--threads", options->threads, "threads of this run; the bytes do not depend on them")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--json", options->json, "print the whole record");
  command->footer(
      "Example:\n  halfulp run experiments/configs/one_weight.yaml --set rule.name=madam --set "
      "plan=bf16/fp32");
  command->callback([options] { run_command(*options); });
}

}  // namespace halfulp

#include "experiments/report/result_tables.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/report/stored_format.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

std::string measured(const Group& group, const std::string& name) {
  return share_text(group.mean("/measurements/all/" + name));
}

/// The loss, or at which steps every run diverged.
std::string loss_cell(const Group& group, const std::string& split) {
  const Spread loss = group.spread("/result/" + split + "/loss");
  if (group.diverged_at().size() == group.runs.size()) return divergence_text(group);
  return spread_text(loss);
}

std::string accuracy_cell(const Group& group, const std::string& split) {
  const Spread accuracy = group.spread("/result/" + split + "/accuracy");
  if (accuracy.count == 0) return "-";
  const std::string mean = fmt::format("{:.3f}", accuracy.mean);
  return accuracy.has_deviation() ? mean + fmt::format("+-{:.3f}", accuracy.deviation) : mean;
}

/// Loss over the loss of the same rule in fp32.
std::string relative_cell(const ProblemRuns& problem, const Group& group) {
  const Group* reference = problem.in_fp32(group);
  if (!reference) return "-";
  const double own = group.judged_loss(problem.split), other = reference->judged_loss(problem.split);
  return std::isfinite(own) && std::isfinite(other) && other != 0 ? fmt::format("{:.3f}", own / other) : "-";
}

/// Runs; of how many, where some diverged or ended with a loss that is not finite.
std::string runs_cell(const Group& group, const std::string& split) {
  const std::vector<std::string> diverged = group.diverged_at();
  const std::size_t all = group.runs.size();
  const std::size_t not_finite = group.spread("/result/" + split + "/loss").not_finite;
  if (diverged.size() == all) return fmt::format("0/{}", all);
  if (!diverged.empty())
    return fmt::format("{}/{}, diverged at {}{}", all - diverged.size(), all, diverged[0],
                       diverged.size() > 1 ? ".." : "");
  return not_finite == 0 ? std::to_string(all) : fmt::format("{}/{} finite", all - not_finite, all);
}

std::string text_of(const Json& object, const std::string& pointer) {
  const Json::json_pointer path(pointer);
  if (!object.contains(path)) return "-";
  const Json& value = object.at(path);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string slot_text(const Json& config, const std::string& slot) {
  std::string text = text_of(config, "/plan/" + slot + "/format");
  const std::string rounding = text_of(config, "/plan/" + slot + "/rounding");
  if (rounding != "-" && rounding != "nearest_even") text += " " + rounding;
  const std::string scale = text_of(config, "/plan/" + slot + "/scale");
  return scale == "-" ? text : text + ", scale " + scale;
}

}  // namespace

const char* const model_table_key =
    "loss, accuracy: mean+-standard deviation over seeds. /fp32: loss over the loss of the same rule stored "
    "in "
    "fp32.\nstagn: share of updates that left the stored number as it was. deliv: <movement, update> / "
    "|update|^2.\nzero: share of elements that had a gradient and stayed at zero. refused: share of wanted "
    "sign "
    "changes that did not\nhappen. signs: disagreement with an fp32 AdamW twin, less that of two such "
    "twins.\n";

const char* const toy_table_key =
    "loss: mean+-standard deviation over seeds, at the end. sign fail: of the elements that started with "
    "another sign than\nthe optimum's, the share that still has it. zeros: share of elements stored as zero. "
    "stagn, deliv: as above.\n";

std::string divergence_text(const Group& group) {
  std::string text;
  for (const std::string& step : group.diverged_at()) text += (text.empty() ? "diverged at " : ", ") + step;
  return text;
}

Table model_table(const ProblemRuns& problem, const std::string& scheme) {
  Table table{{"rule", problem.split + " loss", "accuracy", "train loss", "/fp32", "stagn", "deliv", "zero",
               "refused", "signs", "runs"},
              {}};
  double best = INFINITY;
  for (const Group& group : problem.groups) {
    if (group.scheme != scheme) continue;
    if (const double loss = group.judged_loss(problem.split); loss < best) {
      best = loss;
      table.strong_rows = {table.rows.size()};
    }
    table.rows.push_back(
        {group.row_name(), loss_cell(group, problem.split), accuracy_cell(group, problem.split),
         loss_text(group.mean("/result/train/loss")), relative_cell(problem, group),
         measured(group, "stagnation/share"), measured(group, "delivery/ratio"),
         measured(group, "trapping/trapped_at_zero_share"), measured(group, "sign_flips/refused_share"),
         signed_text(group.mean("/signs/excess")), runs_cell(group, problem.split)});
  }
  return table;
}

Table toy_table(const ProblemRuns& problem) {
  Table table{{"scheme", "rule", "loss", "sign fail", "zeros", "stagn", "deliv", "runs"}, {}, {0, 1}};
  for (const Group& group : problem.groups)
    table.rows.push_back({group.scheme, group.row_name(), loss_cell(group, problem.split),
                          share_text(group.mean("/signs/failure")), measured(group, "trapping/zero_share"),
                          measured(group, "stagnation/share"), measured(group, "delivery/ratio"),
                          runs_cell(group, problem.split)});
  return table;
}

const char* const tensor_table_key =
    "Means over the seeds. scales: growth by scales alone of weights without an outward update. explode: share of updates "
    "beyond ten usual ones. frozen v: share of the wanted changes of the second moment that are rounded away.";

Table tensor_table(const ProblemRuns& problem) {
  Table table{{"scheme", "rule", "tensor", "stagn", "deliv", "trapped", "refused", "scales", "explode", "frozen v"},
              {},
              {0, 1, 2}};
  for (const std::string& scheme : problem.schemes())
    for (const Group* group : problem.best_of(scheme)) {
      const Json::json_pointer tensors("/measurements/tensors");
      if (!group->runs.front()->contains(tensors)) continue;
      for (const auto& [name, counted] : group->runs.front()->at(tensors).items()) {
        const auto mean = [group, tensor = std::string(name)](const char* what) {
          return group->mean("/measurements/tensors/" + tensor + "/" + what);
        };
        table.rows.push_back({scheme, group->row_name(), name, share_text(mean("stagnation")),
                              share_text(mean("delivered")), share_text(mean("trapped_share")),
                              share_text(mean("refused_flips")), weight_text(mean("scale_growth")),
                              share_text(mean("exploding")), share_text(mean("frozen_states/v"))});
      }
    }
  return table;
}

Table settings_table(const ProblemRuns& problem) {
  Table table{{"scheme", "rule", "rates", "weights", "first moment", "second moment", "steps", "seeds"},
              {},
              {0, 1, 2, 3, 4, 5, 7}};
  for (const Group& group : problem.groups) {
    const Json& config = group.config();
    std::string seeds;
    for (const Json* run : group.runs) seeds += (seeds.empty() ? "" : ", ") + text_of(*run, "/config/seed");
    table.rows.push_back({group.scheme, group.row_name(), rates_text(config), slot_text(config, "weights"),
                          slot_text(config, "first_moment"), slot_text(config, "second_moment"),
                          text_of(config, "/steps") + " " + text_of(config, "/schedule"), seeds});
  }
  return table;
}

Table record_table(const RecordSet& set) {
  Table table{{"key", "problem", "scheme", "rule", "seed", "status", "hash of stored bytes", "commit"},
              {},
              {0, 1, 2, 3, 5, 6, 7}};
  for (const Json& record : set.records) {
    const std::string step = text_of(record, "/diverged_at");
    table.rows.push_back({text_of(record, "/key"), text_of(record, "/config/problem/name"),
                          text_of(record, "/config/plan/scheme"), text_of(record, "/label"),
                          text_of(record, "/config/seed"),
                          text_of(record, "/status") + (step == "-" ? "" : " at " + step),
                          text_of(record, "/hash"), text_of(record, "/commit").substr(0, 12)});
  }
  return table;
}

}  // namespace halfulp

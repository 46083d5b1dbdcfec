#include "experiments/report/prediction_table.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/prediction.h"
#include "experiments/report/octave_counts.h"
#include "experiments/report/one_weight.h"
#include "experiments/report/stored_format.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

class Rows {
 public:
  Rows(Table& table, const ProblemRuns& problem, const Group& group)
      : table_(table), problem_(problem), group_(group), config_(group.config()) {}

  void add_all() {
    const std::optional<ScalarFormat> format = plain_weight_format(config_);
    const std::string spec = update_spec(config_);
    if (format && rounds_to_nearest(config_) && !spec.empty()) {
      const UpdateSize update = parse_update(spec);
      if (problem_.kind == ProblemKind::one_weight)
        one_weight(*format, update);
      else if (update.relative == 0)
        additive(*format, update.additive);
      else if (update.additive == 0)
        relative(*format, update.relative);
    }
    for (const char* moment : {"second_moment", "first_moment"}) moving_average(moment);
  }

 private:
  void add(const std::string& what, const std::string& predicted, const std::string& measured) {
    table_.rows.push_back({problem_.name, group_.scheme, group_.row_name(), what, predicted, measured});
  }

  /// Where an additive update must stop, and whether the run did.
  void one_weight(const ScalarFormat& format, const UpdateSize& update) {
    const std::optional<WeightCase> known = weight_case(*group_.runs.front());
    const std::vector<double> final = numbers_at(*group_.runs.front(), "/final_weights");
    if (!known || final.size() != 1) return;
    const std::string ended = "ends at " + weight_text(final[0]);
    if (update.additive == 0) {
      if (known->start == 0) add("update of zero is zero", "stays at 0", ended);
      if (known->start * known->target < 0) add("factors do not change a sign", "does not cross 0", ended);
    }
    if (update.relative != 0) return;
    const AdditiveThresholds t = additive_thresholds(format, 1, update.additive);
    if (std::fabs(known->start) > t.frozen_above)
      return add(fmt::format("start is above {}, where all freezes", weight_text(t.frozen_above)),
                 "stays at " + weight_text(known->start), ended);
    const bool passes =
        known->start * known->target < 0 || std::fabs(known->target) > std::fabs(known->start);
    if (!passes) return;
    const bool is_stuck = weight_ending(*group_.runs.front()).verdict.find("stuck") != std::string::npos;
    add("smallest |w| that can stop a step of the peak rate", weight_text(t.free_below),
        ended +
            (is_stuck && std::fabs(final[0]) < t.free_below ? ", by steps smaller than the peak rate" : ""));
  }

  void additive(const ScalarFormat& format, double size) {
    const AdditiveThresholds t = additive_thresholds(format, 1, size);
    add(fmt::format("unchanged share where |w| > {}", weight_text(t.frozen_above)), "1",
        share_text(unchanged_share(group_, t.frozen_above, INFINITY)));
    add(fmt::format("unchanged share where |w| < {}", weight_text(t.free_below)),
        "0 while |u| is the peak rate", share_text(unchanged_share(group_, 0, t.free_below)));
  }

  void relative(const ScalarFormat& format, double rate) {
    const RelativeThresholds t = relative_thresholds(format);
    const char* predicted = rate < t.smallest  ? "1 while |u|/|w| is the peak rate"
                            : rate > t.largest ? "0 while |u|/|w| is the peak rate"
                                               : "between 0 and 1: depends on the fraction";
    add(fmt::format("unchanged share; relative half gap {:.3g} to {:.3g}", t.smallest, t.largest), predicted,
        share_text(group_.mean("/measurements/all/stagnation/share")));
  }

  /// Of the steps that should have shrunk a moment, the share that did not.
  std::string frozen_on_the_way_down(const std::string& moment) const {
    const std::string state = moment == "second_moment" ? "v" : "m";
    const Spread share = group_.spread("/measurements/all/states/" + state + "/frozen_decaying_share");
    if (share.count == 0) return "not counted in these records";
    return share_text(share.mean) + " of the shrinking steps of " + state + " frozen";
  }

  /// A moving average in a format without scale, rounded to nearest.
  void moving_average(const std::string& moment) {
    const Json::json_pointer format_at("/plan/" + moment + "/format"),
        rounding_at("/plan/" + moment + "/rounding");
    const double decay = number_at(config_, moment == "second_moment" ? "/rule/beta2" : "/rule/beta1");
    if (std::isnan(decay) || !config_.contains(format_at) || !config_.contains(rounding_at) ||
        config_.at(rounding_at) != "nearest_even" || config_.at(format_at) == "unrounded")
      return;
    const std::string spec = config_.at(format_at).get<std::string>();
    try {
      const BlockFormat format = parse_format(spec);
      const double limit = ema_freezing_decay(format.element);
      if (format.has_scale() || decay <= limit) return;
      add(fmt::format("decay {} of the {} in {}", decay,
                      moment == "second_moment" ? "second moment" : "first moment", spec),
          fmt::format("cannot shrink (decay above {:.6g})", limit), frozen_on_the_way_down(moment));
    } catch (const Error&) {  // a format that this build does not know
    }
  }

  Table& table_;
  const ProblemRuns& problem_;
  const Group& group_;
  const Json& config_;
};

}  // namespace

Table prediction_table(const std::vector<ProblemRuns>& problems) {
  Table table{{"problem", "scheme", "rule", "quantity", "predicted", "measured"}, {}, {0, 1, 2, 3, 4}};
  for (const ProblemRuns& problem : problems)
    for (const Group& group : problem.groups)
      if (group.is_best_setting) Rows(table, problem, group).add_all();
  return table;
}

}  // namespace halfulp

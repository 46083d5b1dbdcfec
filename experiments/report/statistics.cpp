#include "experiments/report/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace halfulp {
namespace {

std::vector<double> mean_ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t i = first; i < end; ++i)
      ranks[order[i]] = static_cast<double>(first + end - 1) / 2;  // ranks from 0
    first = end;
  }
  return ranks;
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  double sum = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      ++spread.not_finite;
      continue;
    }
    ++spread.count;
    sum += value;
  }
  if (spread.count == 0) return spread;
  spread.mean = sum / static_cast<double>(spread.count);
  if (spread.count < 2) return spread;
  double squares = 0;
  for (const double value : values)
    if (std::isfinite(value)) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / static_cast<double>(spread.count - 1));
  return spread;
}

double shared_deviation(const Spread& a, const Spread& b) {
  if (!a.has_deviation()) return b.deviation;
  if (!b.has_deviation()) return a.deviation;
  return std::sqrt((a.deviation * a.deviation + b.deviation * b.deviation) / 2);
}

double rank_correlation(const std::vector<double>& x, const std::vector<double>& y) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (x.size() < 3) return none;
  const std::vector<double> a = mean_ranks(x), b = mean_ranks(y);
  const double middle = static_cast<double>(x.size() - 1) / 2;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - middle) * (b[i] - middle);
    aa += (a[i] - middle) * (a[i] - middle);
    bb += (b[i] - middle) * (b[i] - middle);
  }
  return aa == 0 || bb == 0 ? none : ab / std::sqrt(aa * bb);
}

std::string loss_text(double loss) {
  if (std::isnan(loss)) return "-";
  const double size = std::fabs(loss);
  return size != 0 && (size >= 100 || size < 1e-3) ? fmt::format("{:.3e}", loss)
                                                   : fmt::format("{:.4f}", loss);
}

std::string share_text(double share) {
  if (std::isnan(share)) return "-";
  if (share > 0 && share < 0.0005) return "<.001";
  return fmt::format("{:.3f}", share);
}

std::string signed_text(double share) { return std::isnan(share) ? "-" : fmt::format("{:+.3f}", share); }

std::string percent_text(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.1f} %", 100 * share);
}

std::string weight_text(double weight) {
  if (std::isnan(weight)) return "-";
  if (weight == 0) return "0";
  const std::string text = fmt::format("{:.4g}", weight);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string spread_text(const Spread& spread) {
  if (spread.count == 0) return spread.not_finite == 0 ? "-" : "not finite";
  const std::string mean = loss_text(spread.mean);
  if (!spread.has_deviation()) return mean;
  const bool is_fixed = mean.find('e') == std::string::npos;
  return mean + "+-" + (is_fixed ? fmt::format("{:.4f}", spread.deviation) : loss_text(spread.deviation));
}

}  // namespace halfulp

#pragma once
#include "tests/reference/low_rank_reference.h"

namespace halfulp::reference {

/// M+Adam of one tensor with its v_e in low rank.
template <class Real>
class MAdamApolloEReference {
 public:
  struct Settings {
    double eta_a, eta_m, beta1, beta2, eps, g_bound;
    std::size_t rank;
    std::uint64_t gap;
    bool factored, by_tensor, limited;
  };

  MAdamApolloEReference(const Settings& settings, const std::vector<std::size_t>& shape)
      : settings_(settings), layout_(shape) {}

  template <class Round>
  std::vector<Real> increments(double schedule, std::uint64_t seed, std::uint32_t tensor,
                               const std::vector<Real>& w, const std::vector<Real>& g, Round round) {
    const std::uint64_t before = t_++;
    first_.resize(g.size(), {settings_.beta1});
    second_.resize(g.size(), {settings_.beta2});
    std::vector<Real> exponent(g.size());
    for (std::size_t i = 0; i < g.size(); ++i) exponent[i] = Real(0.69314718055994530942) * w[i] * g[i];

    std::vector<Real> n =
        settings_.factored && !layout_.vector
            ? by_lines(exponent, round)
            : by_channels(exponent, seed, tensor, std::uint32_t(before / settings_.gap), round);
    if (settings_.limited) limit_(n);

    std::vector<Real> u(g.size());
    for (std::size_t i = 0; i < g.size(); ++i) {
      first_[i].feed(g[i]);
      second_[i].feed(g[i] * g[i]);
      const Real mean = first_[i].value * Real(correction(settings_.beta1, t_));
      const Real additive = Real(settings_.eta_a * schedule) * mean / root(second_[i].value);
      const Real bound(settings_.g_bound);
      const Real clipped = n[i] != n[i] ? Real(0) : std::min(bound, std::max<Real>(-bound, n[i]));
      u[i] = w[i] * -(Real(settings_.eta_m * schedule) * clipped) - additive;
      first_[i].value = round(first_[i].value);
      second_[i].value = round(second_[i].value);
    }
    return u;
  }

  std::vector<std::vector<Real>> auxiliary() const {
    if (settings_.factored && !layout_.vector) {
      std::vector<Real> both = values(row_);
      for (const Real x : values(column_)) both.push_back(x);
      return {both};
    }
    Channels<Real> x;
    for (const auto& channel : exponent_second_) x.push_back(values(channel));
    return {layout_.vector ? x[0] : stored_order(x, layout_)};
  }

 private:
  using Averages = std::vector<MovingAverage<Real>>;

  static std::vector<Real> values(const Averages& averages) {
    std::vector<Real> x;
    for (const auto& average : averages) x.push_back(average.value);
    return x;
  }
  Real root(const Real& square) const {
    return Real(settings_.eps) + std::sqrt(Real(correction(settings_.beta2, t_)) * square);
  }

  template <class Round>
  std::vector<Real> by_channels(const std::vector<Real>& exponent, std::uint64_t seed, std::uint32_t tensor,
                                std::uint32_t interval, Round round) {
    Channels<Real> h{exponent};
    if (!layout_.vector) h = project_channels(exponent, layout_, settings_.rank, seed, tensor, interval);
    Channels<Real> adapted = h;
    exponent_second_.resize(h.size());
    for (std::size_t channel = 0; channel < h.size(); ++channel) {
      exponent_second_[channel].resize(h[channel].size(), {settings_.beta2});
      for (std::size_t k = 0; k < h[channel].size(); ++k) {
        MovingAverage<Real>& v = exponent_second_[channel][k];
        v.feed(h[channel][k] * h[channel][k]);
        adapted[channel][k] = h[channel][k] / root(v.value);
        v.value = round(v.value);
      }
    }
    return layout_.vector ? adapted[0] : stretched(exponent, adapted, h, layout_, 0, settings_.by_tensor);
  }

  template <class Round>
  std::vector<Real> by_lines(const std::vector<Real>& exponent, Round round) {
    row_.resize(layout_.rows, {settings_.beta2});
    column_.resize(layout_.columns, {settings_.beta2});
    const auto square_at = [&](std::size_t i, std::size_t j) {
      const double x(exponent[i * layout_.columns + j]);
      return x * x;
    };
    for (std::size_t i = 0; i < layout_.rows; ++i)
      row_[i].feed(Real(sum_by_tree(layout_.columns, [&](std::size_t j) { return square_at(i, j); }) /
                        double(layout_.columns)));
    for (std::size_t j = 0; j < layout_.columns; ++j)
      column_[j].feed(Real(sum_by_tree(layout_.rows, [&](std::size_t i) { return square_at(i, j); }) /
                           double(layout_.rows)));
    const Real all(sum_by_tree(layout_.rows, [&](std::size_t i) { return row_[i].value; }) /
                   double(layout_.rows));
    std::vector<Real> n;
    for (std::size_t i = 0; i < layout_.rows; ++i)
      for (std::size_t j = 0; j < layout_.columns; ++j) {
        const Real v = all == Real(0) ? Real(0) : column_[j].value / all * row_[i].value;
        n.push_back(exponent[n.size()] / root(v));
      }
    for (Averages* line : {&row_, &column_})
      for (auto& average : *line) average.value = round(average.value);
    return n;
  }

  Settings settings_;
  Layout layout_;
  std::uint64_t t_ = 0;
  Averages first_, second_, row_, column_;
  std::vector<Averages> exponent_second_;
  GrowthLimit limit_;
};

}  // namespace halfulp::reference

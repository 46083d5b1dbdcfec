#pragma once
#include "tests/reference/low_rank_reference.h"

namespace halfulp::reference {

/// APOLLO of one tensor: the settings by name, moments per channel.
template <class Real>
class ApolloReference {
 public:
  struct Settings {
    double eta, scale, beta1, beta2, eps;
    std::size_t rank;
    std::uint64_t gap;
    bool by_tensor, limited, scale_first;
  };

  ApolloReference(const Settings& settings, const std::vector<std::size_t>& shape)
      : settings_(settings), layout_(shape) {}

  /// Increments without decay. round: applied to every moment when it is kept for the next step.
  template <class Round>
  std::vector<Real> increments(double schedule, std::uint64_t seed, std::uint32_t tensor,
                               const std::vector<Real>&, const std::vector<Real>& g, Round round) {
    const std::uint64_t before = t_++;
    Channels<Real> h{g};
    if (!layout_.vector)
      h = project_channels(g, layout_, settings_.rank, seed, tensor, std::uint32_t(before / settings_.gap));
    Channels<Real> adapted = h;
    first_.resize(h.size()), second_.resize(h.size());
    for (std::size_t channel = 0; channel < h.size(); ++channel) {
      first_[channel].resize(h[channel].size(), {settings_.beta1});
      second_[channel].resize(h[channel].size(), {settings_.beta2});
      for (std::size_t k = 0; k < h[channel].size(); ++k) {
        MovingAverage<Real>&m = first_[channel][k], &v = second_[channel][k];
        m.feed(h[channel][k]);
        v.feed(h[channel][k] * h[channel][k]);
        adapted[channel][k] = m.value / (Real(settings_.eps) + std::sqrt(v.value));
        m.value = round(m.value);
        v.value = round(v.value);
      }
    }
    std::vector<Real> u = adapted[0];
    if (!layout_.vector) {
      u = stretched(g, adapted, h, layout_, 1e-8, settings_.by_tensor);
      const Real root(std::sqrt(settings_.scale));
      for (int place = 0; place < 3; ++place) {
        if (place == 1 && settings_.limited) limit_(u);
        if (place == (settings_.scale_first ? 0 : 2))
          for (Real& x : u) x = root * x;
      }
    }
    const double rate = settings_.eta * schedule * correction(settings_.beta1, t_) /
                        std::sqrt(correction(settings_.beta2, t_));
    for (Real& x : u) x = -(x * Real(rate));
    return u;
  }

  /// m, then v, each as it is stored.
  std::vector<std::vector<Real>> auxiliary() const { return {values(first_), values(second_)}; }

 private:
  std::vector<Real> values(const std::vector<std::vector<MovingAverage<Real>>>& averages) const {
    Channels<Real> x;
    for (const auto& channel : averages) {
      x.emplace_back();
      for (const MovingAverage<Real>& average : channel) x.back().push_back(average.value);
    }
    return layout_.vector ? x[0] : stored_order(x, layout_);
  }

  Settings settings_;
  Layout layout_;
  std::uint64_t t_ = 0;
  std::vector<std::vector<MovingAverage<Real>>> first_, second_;
  GrowthLimit limit_;
};

}  // namespace halfulp::reference

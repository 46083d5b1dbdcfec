#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "emulation/normal.h"
#include "emulation/random_bits.h"
#include "tests/reference/beta_power.h"

namespace halfulp::reference {

/// Numbers [channel][k]: channels are the indices of the longer side of a matrix, rows where both are equal.
template <class Real>
using Channels = std::vector<std::vector<Real>>;

/// A matrix of any number of axes by its channels.
struct Layout {
  std::size_t rows = 1, columns = 1;
  bool vector = true;

  explicit Layout(const std::vector<std::size_t>& shape) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      (axis + 1 < shape.size() ? rows : columns) *= shape[axis];
    vector = shape.size() == 1;
  }
  std::size_t channels() const { return rows >= columns ? rows : columns; }
  std::size_t depth() const { return rows >= columns ? columns : rows; }
  std::size_t place(std::size_t channel, std::size_t k) const {
    return rows >= columns ? channel * columns + k : k * columns + channel;
  }
};

/// Sum as in emulation/reduce.h, top down: the lane sums are the leaves of a tree whose two branches at `j`
/// of `width` are j and j + width.
template <class Term>
double sum_by_tree(std::size_t count, const Term& term, std::size_t j = 0, std::size_t width = 1) {
  if (width < 32)
    return sum_by_tree(count, term, j, 2 * width) + sum_by_tree(count, term, j + width, 2 * width);
  double lane = 0;
  for (std::size_t i = j; i < count; i += 32) lane += static_cast<double>(term(i));
  return lane;
}

template <class Real>
double length_of(const std::vector<Real>& x) {
  return std::sqrt(sum_by_tree(x.size(), [&](std::size_t i) { return double(x[i]) * double(x[i]); }));
}

/// What `depth` numbers of each channel are projected to by one matrix [rank][depth] for all.
template <class Real>
Channels<Real> project_channels(const std::vector<Real>& g, const Layout& layout, std::size_t rank,
                                std::uint64_t seed, std::uint32_t tensor, std::uint32_t interval) {
  const std::size_t kept = rank < layout.depth() ? rank : layout.depth();
  const RandomStream stream{seed, interval, tensor, 0, RandomPurpose::projection, 0};
  Channels<Real> h(layout.channels(), std::vector<Real>(kept, Real(0)));
  for (std::size_t s = 0; s < layout.depth(); ++s)
    for (std::size_t k = 0; k < kept; ++k) {
      const Real z = normal_deviate<Real>(random_bits_32(stream, k * layout.depth() + s));
      const Real entry = z / std::sqrt(Real(kept));
      for (std::size_t channel = 0; channel < h.size(); ++channel)
        h[channel][k] = std::fma(entry, g[layout.place(channel, s)], h[channel][k]);
    }
  return h;
}

/// In the order in which [rank, columns] or [rows, rank] is stored.
template <class Real>
std::vector<Real> stored_order(const Channels<Real>& x, const Layout& layout) {
  std::vector<Real> flat;
  if (layout.rows >= layout.columns)
    for (const auto& channel : x) flat.insert(flat.end(), channel.begin(), channel.end());
  else
    for (std::size_t k = 0; k < x[0].size(); ++k)
      for (const auto& channel : x) flat.push_back(channel[k]);
  return flat;
}

/// Growth of the norm of successive updates, at most 1 % a step.
struct GrowthLimit {
  bool started = false;
  double last = 0;

  template <class Real>
  void operator()(std::vector<Real>& update) {
    const double now = length_of(update);
    double shrink = 1;
    if (started) {
      const double grown = now / (last + 1e-8);
      if (!(grown < 1.01)) shrink = grown / 1.01;
      for (Real& u : update) u = u / Real(shrink);
    }
    started = true;
    last = now / shrink;
  }
};

/// |adapted| / (|plain| + guard).
template <class Real>
Real stretch(const std::vector<Real>& adapted, const std::vector<Real>& plain, double guard) {
  const double below = guard + length_of(plain);
  return below == 0 ? Real(0) : Real(length_of(adapted) / below);
}

/// g of each element times the factor of its channel; one factor for all if by_tensor.
template <class Real>
std::vector<Real> stretched(const std::vector<Real>& g, const Channels<Real>& adapted,
                            const Channels<Real>& plain, const Layout& layout, double guard, bool by_tensor) {
  const Real of_all = stretch(stored_order(adapted, layout), stored_order(plain, layout), guard);
  std::vector<Real> u(g.size());
  for (std::size_t channel = 0; channel < layout.channels(); ++channel)
    for (std::size_t k = 0; k < layout.depth(); ++k) {
      const std::size_t at = layout.place(channel, k);
      u[at] = (by_tensor ? of_all : stretch(adapted[channel], plain[channel], guard)) * g[at];
    }
  return u;
}

}  // namespace halfulp::reference

#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "emulation/matmul.h"
#include "emulation/normal.h"
#include "emulation/random_bits.h"
#include "emulation/registry.h"

namespace halfulp {

/// A tensor as a low-rank rule sees it: a matrix whose shorter side is projected to `rank` numbers for each
/// index of the longer one, a channel. Leading axes are folded into rows. A vector (fewer than two axes) has
/// nothing to project.
struct ProjectedShape {
  bool is_vector;
  std::size_t rows, columns;
  std::size_t rank;  ///< at most the shorter side

  ProjectedShape(const TensorInfo& info, std::size_t wanted_rank)
      : is_vector(info.shape.size() < 2),
        rows(info.size() / info.row_length()),
        columns(info.row_length()),
        rank(std::min(wanted_rank, std::min(rows, columns))) {}

  /// Fewer rows than columns: rows are projected and columns are channels; else the other way round.
  bool is_wide() const noexcept { return rows < columns; }
  std::size_t shorter() const noexcept { return std::min(rows, columns); }
  std::size_t channels() const noexcept { return std::max(rows, columns); }
  std::size_t channel_of(std::size_t element) const noexcept {
    return is_wide() ? element % columns : element / columns;
  }
  /// Shape of a projected gradient: [rank, columns] if wide, else [rows, rank]; of a vector, its own.
  std::vector<std::size_t> projected() const {
    if (is_vector) return {rows * columns};
    return is_wide() ? std::vector{rank, columns} : std::vector{rows, rank};
  }
};

/// Which projection a step uses: 0 for steps 1 to gap, then 1, ...
inline std::uint32_t projection_interval(std::uint64_t step, std::uint64_t gap) noexcept {
  return static_cast<std::uint32_t>((step - 1) / gap);
}

/// The projection P [rank, shorter], row-major: entry k is the normal deviate of 32 random bits of element k,
/// divided by sqrt(rank), both in R. A pure function of seed, tensor and interval: nothing of it is stored.
/// Since its entries have variance 1 / rank, E |P x|^2 = |x|^2.
template <class R>
std::vector<R> random_projection(const ProjectedShape& shape, std::uint64_t seed, std::uint32_t tensor,
                                 std::uint32_t interval) {
  std::vector<std::uint32_t> bits(shape.rank * shape.shorter());
  fill_random_bits_32({seed, interval, tensor, 0, RandomPurpose::projection, 0}, 0, std::span(bits));
  const R root = std::sqrt(static_cast<R>(shape.rank));
  std::vector<R> projection(bits.size());
  for (std::size_t k = 0; k < bits.size(); ++k) projection[k] = normal_deviate<R>(bits[k]) / root;
  return projection;
}

/// H = P G if wide, else H = G P' (P' is P transposed), in the shape that projected() says; a vector as it
/// is. Each entry is one chain of fused multiply-adds over the shorter side, ascending, from +0; NaN is the
/// quiet one.
template <class R>
std::vector<R> project(const ProjectedShape& shape, const std::vector<R>& g, std::uint64_t seed,
                       std::uint32_t tensor, std::uint32_t interval) {
  if (shape.is_vector) return g;
  const std::vector<R> p = random_projection<R>(shape, seed, tensor, interval);
  std::vector<R> h(shape.channels() * shape.rank);
  if (shape.is_wide()) {
    matmul(p.data(), g.data(), h.data(), shape.rank, shape.rows, shape.columns);
  } else {
    std::vector<R> transposed(p.size());
    transpose(p.data(), transposed.data(), shape.rank, shape.columns);
    matmul(g.data(), transposed.data(), h.data(), shape.rows, shape.columns, shape.rank);
  }
  return h;
}

}  // namespace halfulp

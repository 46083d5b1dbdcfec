#pragma once
#include "optimizers/norm.h"
#include "optimizers/projection.h"

namespace halfulp {

/// Adafactor's second moment of a matrix (Shazeer & Stern 2018, as means), from rows and columns alone:
///   r_i = beta2 r_i + (1 - beta2) mean_j x_ij^2,   c_j = beta2 c_j + (1 - beta2) mean_i x_ij^2
///   v_ij = r_i (c_j / mean(r))
/// the mean of r being that of all x^2, as that of c is. Kept as one vector, rows first. Means are taken in
/// double in the order of emulation/reduce.h and rounded once to R. Where mean(r) is 0, v is 0.
template <class R>
struct FactoredMoment {
  const ProjectedShape& shape;
  std::vector<R>& rows_then_columns;

  void advance(const std::vector<R>& x, R beta2, R one_minus_beta2) {
    const auto feed = [&](std::size_t at, std::span<const R> line) {
      const R square = static_cast<R>(square_norm(line) / static_cast<double>(line.size()));
      rows_then_columns[at] = beta2 * rows_then_columns[at] + one_minus_beta2 * square;
    };
    for (std::size_t i = 0; i < shape.rows; ++i)
      feed(i, std::span(x).subspan(i * shape.columns, shape.columns));
    std::vector<R> column(shape.rows);
    for (std::size_t j = 0; j < shape.columns; ++j) {
      for (std::size_t i = 0; i < shape.rows; ++i) column[i] = x[i * shape.columns + j];
      feed(shape.rows + j, column);
    }
  }

  /// v of every element.
  std::vector<R> expanded() const {
    const std::span<const R> rows = std::span<const R>(rows_then_columns).first(shape.rows),
                             columns = std::span<const R>(rows_then_columns).subspan(shape.rows);
    const R of_all = static_cast<R>(mean(rows));
    std::vector<R> v(shape.rows * shape.columns);
    if (of_all == R(0)) return v;
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i] = rows[i / shape.columns] * (columns[i % shape.columns] / of_all);
    return v;
  }
};

}  // namespace halfulp

#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulation/registry.h"

namespace halfulp {

/// One buffer per registered tensor, each row-major, in registry order.
template <class R>
using TensorList = std::vector<std::vector<R>>;

/// What a trained model is judged by. Losses are mean natural-log cross-entropies (or the objective of a toy
/// problem); accuracy is a share in [0, 1], absent where it has no meaning.
struct Evaluation {
  double loss = 0;
  std::optional<double> accuracy;
};

/// Something to minimise: a toy problem or a model with its data. R is the number type of forward and
/// backward. Pure but for buffers: the same (step, weights) gives the same bits, whatever was asked before.
template <class R>
class Task {
 public:
  virtual ~Task() = default;

  virtual const TensorRegistry& tensors() const = 0;

  /// Initial weights, exact in double before any storage format sees them; a function of the seed alone.
  virtual TensorList<double> initial_weights() const = 0;

  /// Loss of the mini-batch of this step (0, 1, ...) at `weights`, and its gradient into `gradients`
  /// (resized).
  virtual R loss_and_gradient(std::uint64_t step, const TensorList<R>& weights, TensorList<R>& gradients) = 0;

  /// Loss (and accuracy) on a named split: "train", "validation" or "test". Toy problems know only "train".
  virtual Evaluation evaluate(const std::string& split, std::uint64_t step, const TensorList<R>& weights) = 0;

  /// The known minimiser at this step, for toy problems; nullopt for models.
  virtual std::optional<TensorList<double>> optimum(std::uint64_t) const { return std::nullopt; }

  /// A Lipschitz constant of the exact gradient at every step: |grad(w) - grad(w')| <= L |w - w'| in the Euclidean
  /// norm over all tensors together, noise left out. The smallest one or, where a problem says so, an upper bound;
  /// nullopt where there is none or none is known. What descent lemmas ask for.
  virtual std::optional<double> smoothness() const { return std::nullopt; }
};

}  // namespace halfulp

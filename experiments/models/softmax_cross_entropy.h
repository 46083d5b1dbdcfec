#pragma once
#include <cstddef>
#include <limits>
#include <span>

#include "emulation/elementary.h"
#include "emulation/reduce.h"

namespace halfulp {

/// Returns -log softmax(logits)[label], natural logarithm, and writes its gradient, softmax - onehot(label).
/// in:  logits [classes], at least 1; label < classes; gradient [classes], not overlapping logits
/// out: the largest logit is subtracted first, so no exponential overflows and their sum is at least 1;
///      a NaN or +infinity among the logits makes the loss the quiet NaN
template <class R>
R softmax_cross_entropy(std::span<const R> logits, std::size_t label, std::span<R> gradient) noexcept {
  R largest = logits[0];
  for (const R logit : logits) largest = logit > largest ? logit : largest;
  for (std::size_t c = 0; c < logits.size(); ++c) gradient[c] = elementary::exp<R>(logits[c] - largest);
  const R total = sum(std::span<const R>(gradient));
  for (R& value : gradient) value = value / total;
  gradient[label] -= R(1);
  const R loss = elementary::log<R>(total) - (logits[label] - largest);
  // Which NaN an operation passes on differs between machines; a loss has only this one.
  return loss == loss ? loss : std::numeric_limits<R>::quiet_NaN();
}

/// True where `label` is the class the logits name: the first of the largest. A NaN among them names none.
template <class R>
bool names_label(std::span<const R> logits, std::size_t label) noexcept {
  for (std::size_t c = 0; c < logits.size(); ++c)
    if (!(c < label ? logits[label] > logits[c] : logits[label] >= logits[c])) return false;
  return true;
}

}  // namespace halfulp

#pragma once
#include <optional>

#include "tests/reference/plain_weight.h"

namespace halfulp::reference {

/// SGD of one weight as the loop of torch.optim.SGD's documentation: a buffer that does not exist until the first
/// gradient fills it, and never exists without momentum.
template <class Real>
class SgdReference : public PlainWeight<Real> {
 public:
  struct Options {
    double eta, mu, dampening, lambda;
    bool nesterov, coupled;
  };
  explicit SgdReference(const Options& options) : o_(options) {}

  std::array<Real, 1> increments(Rates now, const std::array<Real, 1>& w,
                                 const std::array<Real, 1>& gradient) {
    const double rate = o_.eta * now.schedule;
    Real g = gradient[0];
    if (o_.coupled && o_.lambda != 0) g = g + Real(o_.lambda) * w[0];
    Real direction = g;
    last_ = g;
    if (o_.mu != 0) {
      if (!buffer_) {
        buffer_ = g;
      } else {
        const Real old = Real(o_.mu) * *buffer_;
        buffer_ = old + Real(1 - o_.dampening) * g;
      }
      last_ = *buffer_;
      direction = *buffer_;
    }
    if (o_.nesterov) direction = g + Real(o_.mu) * last_;
    const Real step = -(Real(rate) * direction);
    if (o_.coupled || o_.lambda == 0) return {step};
    return {step - Real(rate * o_.lambda) * w[0]};
  }

  std::vector<Real> states() const { return {last_}; }

 private:
  Options o_;
  std::optional<Real> buffer_;
  Real last_ = Real(0);  // what a rule that always has a buffer stores
};

}  // namespace halfulp::reference

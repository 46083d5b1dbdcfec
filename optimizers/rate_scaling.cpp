#include "optimizers/rate_scaling.h"

#include <limits>

#include "emulation/fp_environment.h"
#include "emulation/reduce.h"

namespace halfulp {
namespace {

template <class R>
double factor_of(double reference, std::span<const R> gradient) noexcept {
  const FpEnvironment environment;
  const double magnitude = static_cast<double>(rms(gradient));
  const bool finite = magnitude <= std::numeric_limits<double>::max();
  return finite && magnitude > reference ? reference / magnitude : 1;
}

}  // namespace

double rate_factor(double reference, std::span<const float> gradient) noexcept {
  return factor_of<float>(reference, gradient);
}
double rate_factor(double reference, std::span<const double> gradient) noexcept {
  return factor_of<double>(reference, gradient);
}

}  // namespace halfulp

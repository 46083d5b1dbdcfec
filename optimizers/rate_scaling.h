#pragma once
#include <span>

namespace halfulp {

/// What the learning rate of one tensor is multiplied by because of its gradient's magnitude:
///   min(1, reference / rms(gradient))
/// so that a gradient above the reference moves the weights as if its root mean square were the reference, and a
/// smaller one is not amplified. 1 where the rms is zero, infinite or NaN: there is nothing to limit, or the divergence
/// should be seen.
/// in:  reference > 0, the largest rms that passes unscaled; +Inf scales nothing
/// out: in (0, 1], unless the quotient underflows; the rms is that of emulation/reduce.h
/// source: our reading. The LMD article says that the learning rate scales itself with the gradient's magnitude and
///   gives no formula; neither tensors, the reference, nor the direction are stated there.
double rate_factor(double reference, std::span<const float> gradient) noexcept;
double rate_factor(double reference, std::span<const double> gradient) noexcept;

}  // namespace halfulp

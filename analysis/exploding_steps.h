#pragma once
#include <cstdint>

#include "analysis/element_step.h"

namespace halfulp {

/// Exploding steps: updates of more than ten times what a step of the rule usually is. A second moment that is stored as
/// zero makes them: the update is then m / epsilon.
struct ExplodingSteps {
  std::uint64_t compared = 0;   ///< elements whose rule says what is usual for them
  std::uint64_t exploding = 0;  ///< of these, |update| > 10 typical
  std::uint64_t second_moment_lost =
      0;  ///< of these, with a second moment stored as zero while the first is not

  void see(const ElementStep& e) noexcept {
    const bool explodes = e.explodes();
    compared += e.typical > 0;
    exploding += explodes;
    second_moment_lost += explodes & e.second_moment_lost;
  }
  void join(const ExplodingSteps& other) noexcept {
    compared += other.compared;
    exploding += other.exploding;
    second_moment_lost += other.second_moment_lost;
  }
};

}  // namespace halfulp

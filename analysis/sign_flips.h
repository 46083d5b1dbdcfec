#pragma once
#include <cstdint>
#include <span>

#include "analysis/element_step.h"

namespace halfulp {

/// Sign flips that a step wanted (sign(wanted) opposite to sign(before)), and those refused: the stored sign
/// stays.
struct SignFlips {
  std::uint64_t wanted = 0;
  std::uint64_t refused = 0;

  void see(const ElementStep& e) noexcept {
    // By comparison, not by product: a product of two small numbers underflows.
    const bool flips = (e.before != 0) & (e.wanted != 0) & ((e.before < 0) != (e.wanted < 0));
    wanted += flips;
    refused += flips & (e.after != 0) & ((e.after < 0) == (e.before < 0));
  }
  void join(const SignFlips& other) noexcept {
    wanted += other.wanted;
    refused += other.refused;
  }
};

/// Sign-flip failure where the optimum is known: among elements that started with a sign other than the
/// optimum's (zero counts as no sign, hence as other), the share whose sign is still not the optimum's. 0 if
/// none started so.
double sign_flip_failure(std::span<const double> start, std::span<const double> now,
                         std::span<const double> optimum);

/// Share of elements whose signs differ between two weight vectors; zeros have a sign of their own.
double sign_disagreement(std::span<const double> a, std::span<const double> b);

}  // namespace halfulp

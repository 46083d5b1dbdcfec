#pragma once
#include <cfenv>

#if defined(__SSE2__)
#  include <xmmintrin.h>
#endif

namespace halfulp {

/// While it lives, this thread rounds to nearest, keeps subnormals (as input and as result) and traps
/// nothing; its end restores what was set before, exception flags included. Kernels need it: the E8M0 scale
/// 2^-127 is a subnormal float, and a host program may well have set flush-to-zero. The compiler may move
/// arithmetic on values that are in registers across it, so the work under it should read its inputs from
/// memory and write its results there, as a loop over an array does.
class FpEnvironment {
 public:
#if defined(__SSE2__)
  FpEnvironment() noexcept : saved_(_mm_getcsr()) {
    _mm_setcsr(all_masked_nearest);
    barrier();
  }
  ~FpEnvironment() {
    barrier();
    _mm_setcsr(saved_);
  }
#else
  FpEnvironment() noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
    barrier();
  }
  ~FpEnvironment() {
    barrier();
    std::fesetenv(&saved_);
  }
#endif
  FpEnvironment(const FpEnvironment&) = delete;
  FpEnvironment& operator=(const FpEnvironment&) = delete;

 private:
  static void barrier() noexcept { asm volatile("" ::: "memory"); }

#if defined(__SSE2__)
  // MXCSR: 15 flush to zero, 14-13 rounding (00 nearest), 12-7 exception masks, 6 denormals are zero, 5-0
  // flags
  static constexpr unsigned all_masked_nearest = 0x1F80;
  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace halfulp

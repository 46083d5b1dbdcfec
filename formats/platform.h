#pragma once

/// Marks a function that also compiles as device code. nvcc needs --expt-relaxed-constexpr for std::bit_cast.
#if defined(__CUDACC__)
#  define HALFULP_HD __host__ __device__
#else
#  define HALFULP_HD
#endif

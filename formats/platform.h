#pragma once

/// Marks a function that also compiles as device code. nvcc needs --expt-relaxed-constexpr for std::bit_cast.
/// HALFULP_HD_RARE: one that devices call instead of copying it into every caller, since few numbers come that way.
#if defined(__CUDACC__)
#  define HALFULP_HD __host__ __device__
#  define HALFULP_HD_RARE __host__ __device__ __noinline__
#else
#  define HALFULP_HD
#  define HALFULP_HD_RARE
#endif

/// The same for the texts that lanes run on: always inlined, so that what is equal for all elements of a loop (the numbers
/// and switches of a format) stays in registers and is asked once. Without it g++ 12 keeps them in memory.
#if defined(__GNUC__)
#  define HALFULP_LANES HALFULP_HD [[gnu::always_inline]]
#else
#  define HALFULP_LANES HALFULP_HD
#endif

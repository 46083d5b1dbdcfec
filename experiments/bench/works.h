#pragma once
#include <string>
#include <vector>

#include "experiments/bench/work.h"

namespace halfulp {

// The rows, one list a subject. A row that is compared with another names it; all_works() has both.

/// Access patterns without arithmetic, what kernels are compared with.
std::vector<Work> reference_works();
/// What others do: plain loops.
std::vector<Work> peer_works();
/// The host conversions of the CUDA toolkit's headers; none where the library was built without them.
std::vector<Work> cuda_header_works();
/// Fake-quantise, encode, decode.
std::vector<Work> conversion_works();
/// The memory accesses of optimizer steps, without their arithmetic.
std::vector<Work> access_works();
/// Optimizer steps on stored weights.
std::vector<Work> step_works();

/// All of them, references first.
std::vector<Work> all_works();

/// Those whose name contains `part`, in order.
/// errors: throws Error naming all rows if there is none.
std::vector<Work> works_with(const std::vector<Work>& works, const std::string& part);

/// The work of that name; nullptr for an empty name.
/// errors: throws Error if there is none.
const Work* find_work(const std::vector<Work>& works, const std::string& name);

// Names of references, as rows give them.
inline constexpr const char* rmw = "read-modify-write";
inline constexpr const char* pure_read = "pure read";
inline constexpr const char* streaming_write = "non-temporal write";
inline constexpr const char* streaming_copy = "non-temporal copy";

}  // namespace halfulp

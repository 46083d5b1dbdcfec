#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace halfulp {

/// What an optimizer step cannot avoid to move: the arrays of one storage plan, by bytes of an element.
struct AccessPattern {
  const char* name;
  const char* arrays;                ///< in words
  std::vector<std::size_t> written;  ///< read, and written in place: weights and states
  std::vector<std::size_t> read;     ///< gradients

  double bytes_read() const noexcept;
  double bytes_written() const noexcept;
};

inline constexpr const char* access_22 = "access of a step 22 B";
inline constexpr const char* access_20 = "access of a step 20 B";
inline constexpr const char* access_18 = "access of a step 18 B";
inline constexpr const char* access_14 = "access of a step 14 B";
inline constexpr const char* access_12 = "access of a step 12 B";
inline constexpr const char* access_10 = "access of a step 10 B";

/// All of them; a row of the bench each.
const std::vector<AccessPattern>& access_patterns();

/// errors: throws Error if there is none of that name.
const AccessPattern& access_pattern(const std::string& name);

}  // namespace halfulp

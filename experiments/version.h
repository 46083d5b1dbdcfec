#pragma once
#include <string_view>

namespace halfulp {

// What this build is. Defined in a generated source file, so that a new commit recompiles nothing else.

extern const std::string_view version;
/// The commit it was built from; "-dirty" with uncommitted changes, "unknown" outside a checkout.
extern const std::string_view commit;
extern const std::string_view compiler;
extern const std::string_view build_flags;

}  // namespace halfulp

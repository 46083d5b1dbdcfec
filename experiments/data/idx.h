#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace halfulp {

/// Returns the elements, row-major, of a gzip-compressed IDX file of unsigned bytes.
/// shape:  the extents its header must name, outermost first
/// remedy: how a user gets the right file; ends every error message
/// errors: Error on a file that is missing, fails gzip's checks, has another magic or other extents, or is
///         shorter or longer than its header says (a file that is not compressed at all is read as it stands)
/// source: the IDX layout: magic 00 00 08 <number of axes>, one big-endian 32-bit extent an axis, then the
/// bytes
std::vector<std::uint8_t> read_idx_gz(const std::filesystem::path& path,
                                      const std::vector<std::size_t>& shape, const std::string& remedy);

}  // namespace halfulp

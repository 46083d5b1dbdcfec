#pragma once
#include <string>
#include <vector>

#include "analysis/code_map.h"
#include "analysis/plot.h"

namespace halfulp {

/// A gnuplot script that draws the map from its CSV file: each row a line with a tick for every number (long
/// and thick: the largest, long: normal, short: subnormal), a disc for zero, a circle for the amax of a
/// block, and a text that counts its codes and lists those of zero, infinities and NaN. Rows of at most 16
/// numbers have their values above the ticks and their codes in hex below, as far as they fit. `picture`
/// empty: to standard output.
std::string code_map_script(const CodeMap& map, PictureKind kind, const std::string& data,
                            const std::string& picture);

/// Writes the map to a path that ends in .svg or .png together with its CSV and script of the same stem, or,
/// for a path in .csv, the data alone: all of the files or none. Returns the paths written, picture first.
/// errors: throws Error on another ending, and as run_gnuplot and write_whole_files do.
std::vector<std::string> write_code_map(const CodeMap& map, const std::string& path);

}  // namespace halfulp

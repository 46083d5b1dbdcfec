#pragma once
#include <string>

namespace halfulp {

/// What gnuplot writes to standard output when it runs this script beside a file data.csv with this content.
/// Start-up files of the user and the system are not read.
/// errors: throws Error if gnuplot is missing or
/// fails, with its message.
std::string run_gnuplot(const std::string& script, const std::string& data);

/// A text as a gnuplot string; a line break becomes a blank.
std::string quoted(const std::string& text);

/// A text as one field of the data.
std::string csv_field(const std::string& text);

/// The name under which run_gnuplot puts the data.
inline constexpr const char* gnuplot_data_name = "data.csv";

}  // namespace halfulp

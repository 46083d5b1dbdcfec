#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "analysis/plot.h"
#include "formats/block_format.h"

namespace halfulp {

/// What every command that draws formats takes.
struct PictureOptions {
  std::vector<std::string> specs;
  std::string out, amax;
};

/// Adds SPEC..., --out and --amax.
void add_picture_options(CLI::App& command, PictureOptions& options);

struct NamedFormat {
  std::string name;  ///< the spec in its shortest form
  BlockFormat format;
};

/// errors: throws Error as parse_format does.
std::vector<NamedFormat> read_formats(const PictureOptions& options);

/// --amax, 1 without it; says so if it was given though no format has a scale.
/// errors: throws Error unless it is a positive number.
double read_amax(const PictureOptions& options, const std::vector<NamedFormat>& formats);

/// errors: throws Error unless the text is a positive finite number.
double read_positive(const std::string& text, const std::string& where);

/// Says on standard error which files were written.
void print_written(const std::vector<std::string>& paths);

/// The figure as --out asks for it: files, or its CSV on standard output.
void deliver_figure(const Figure& figure, const PictureOptions& options, const std::string& x_name,
                    const std::string& y_name);

}  // namespace halfulp

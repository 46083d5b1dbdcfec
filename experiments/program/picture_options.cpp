#include "experiments/program/picture_options.h"

#include <algorithm>
#include <cmath>

#include "experiments/program/arguments.h"
#include "experiments/program/command.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {

void add_picture_options(CLI::App& command, PictureOptions& options) {
  command.add_option("SPEC", options.specs, "formats to compare")->required();
  command.add_option(
      "--out", options.out,
      "FILE.svg or FILE.png (FILE.csv and FILE.gp, which redraws it, stand beside it), or FILE.csv; "
      "the CSV goes to standard output without it");
  command.add_option("--amax", options.amax,
                     "largest magnitude of the block, which sets its scale (default 1)");
}

std::vector<NamedFormat> read_formats(const PictureOptions& options) {
  std::vector<NamedFormat> formats;
  for (const std::string& spec : options.specs) {
    const BlockFormat format = parse_format(spec);
    formats.push_back({to_spec(format), format});
  }
  return formats;
}

double read_positive(const std::string& text, const std::string& where) {
  const double value = read_real(text, where);
  if (!(value > 0) || std::isinf(value))
    throw Error(where, "not positive", real_text(value), "a positive number");
  return value;
}

double read_amax(const PictureOptions& options, const std::vector<NamedFormat>& formats) {
  if (options.amax.empty()) return 1;
  const double amax = read_positive(options.amax, "--amax");
  const bool any_block = std::any_of(formats.begin(), formats.end(),
                                     [](const NamedFormat& known) { return known.format.has_scale(); });
  if (!any_block) print_message("note: no block format is shown, so --amax changes nothing");
  return amax;
}

void print_written(const std::vector<std::string>& paths) {
  std::string written;
  for (const std::string& path : paths) written += (written.empty() ? "" : ", ") + path;
  print_message("wrote " + written);
}

void deliver_figure(const Figure& figure, const PictureOptions& options, const std::string& x_name,
                    const std::string& y_name) {
  if (options.out.empty()) return print_result(csv_text(figure, x_name, y_name));
  print_written(write_figure(figure, options.out, x_name, y_name));
}

}  // namespace halfulp

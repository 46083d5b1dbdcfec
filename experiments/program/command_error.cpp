#include <memory>

#include "analysis/relative_error.h"
#include "experiments/program/command.h"
#include "experiments/program/picture_options.h"

namespace halfulp {
namespace {

struct Options {
  PictureOptions picture;
  std::string from, to;
};

void run_error(const Options& options) {
  const std::vector<NamedFormat> formats = read_formats(options.picture);
  const double amax = read_amax(options.picture, formats);
  std::vector<GapSubject> subjects;
  for (const NamedFormat& known : formats) subjects.push_back(gap_subject(known.name, known.format, amax));
  MagnitudeRange range = relative_error_range(subjects);
  if (!options.from.empty()) range.from = read_positive(options.from, "--from");
  if (!options.to.empty()) range.to = read_positive(options.to, "--to");
  deliver_figure(relative_error_figure(subjects, range), options.picture, "magnitude", "relative_error");
}

}  // namespace

void add_error_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "error", "Relative rounding error against magnitude: the largest per binade, and of small formats all");
  const auto options = std::make_shared<Options>();
  add_picture_options(*command, options->picture);
  command->add_option("--from", options->from, "smallest magnitude shown");
  command->add_option("--to", options->to, "largest magnitude shown");
  command->footer(
      "Rounded to nearest even; beyond the largest number it saturates.\n"
      "Examples:\n"
      "  halfulp error e4m3 e5m2 bf16\n"
      "  halfulp error e2m1 mxfp4 nvfp4 --amax 3 --out errors.svg");
  command->callback([options] { run_error(*options); });
}

}  // namespace halfulp

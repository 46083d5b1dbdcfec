#include <memory>

#include "analysis/gap_figure.h"
#include "experiments/program/command.h"
#include "experiments/program/picture_options.h"

namespace halfulp {
namespace {

struct Options {
  PictureOptions picture;
  std::vector<std::string> updates;
  std::string from, to;
};

std::vector<UpdateSize> read_updates(const std::vector<std::string>& texts) {
  if (texts.empty()) return {parse_update("adamw=1e-3"), parse_update("relative=1e-2")};
  if (texts.size() == 1 && texts[0] == "none") return {};
  std::vector<UpdateSize> updates;
  for (const std::string& text : texts) updates.push_back(parse_update(text));
  return updates;
}

void run_gap(const Options& options) {
  const std::vector<NamedFormat> formats = read_formats(options.picture);
  const double amax = read_amax(options.picture, formats);
  std::vector<GapSubject> subjects;
  for (const NamedFormat& known : formats) subjects.push_back(gap_subject(known.name, known.format, amax));
  MagnitudeRange range = default_range(subjects);
  if (!options.from.empty()) range.from = read_positive(options.from, "--from");
  if (!options.to.empty()) range.to = read_positive(options.to, "--to");
  deliver_figure(gap_figure(subjects, read_updates(options.updates), range), options.picture, "magnitude",
                 "size");
}

}  // namespace

void add_gap_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "gap", "Gap to the next number against magnitude, with the size of updates laid over");
  const auto options = std::make_shared<Options>();
  add_picture_options(*command, options->picture);
  command
      ->add_option(
          "--update", options->updates,
          "a rule's update size, again for more: adam=, adamw=, additive=RATE (|u| = RATE); madam=, lmd=, "
          "relative=RATE (|u| = RATE |w|); m+adam=ETA_A,ETA_M; none. Default: adamw=1e-3 relative=1e-2")
      ->allow_extra_args(false);
  command->add_option("--from", options->from, "smallest magnitude shown");
  command->add_option("--to", options->to, "largest magnitude shown");
  command->footer(
      "Examples:\n"
      "  halfulp gap bf16 e4m3\n"
      "  halfulp gap bf16 e4m3 nvfp4 --update adamw=1e-3 --update madam=1e-2 --out gaps.svg");
  command->callback([options] { run_gap(*options); });
}

}  // namespace halfulp

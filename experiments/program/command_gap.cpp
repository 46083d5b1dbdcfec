#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "analysis/gap_figure.h"
#include "experiments/program/arguments.h"
#include "experiments/program/command.h"
#include "formats/error.h"
#include "formats/spec.h"

namespace halfulp {
namespace {

struct Options {
  std::vector<std::string> specs, updates;
  std::string out, amax, from, to;
};

double read_positive(const std::string& text, const std::string& where) {
  const double value = read_real(text, where);
  if (!(value > 0) || std::isinf(value))
    throw Error(where, "not positive", real_text(value), "a positive number");
  return value;
}

std::vector<UpdateSize> read_updates(const std::vector<std::string>& texts) {
  if (texts.empty()) return {parse_update("adamw=1e-3"), parse_update("relative=1e-2")};
  if (texts.size() == 1 && texts[0] == "none") return {};
  std::vector<UpdateSize> updates;
  for (const std::string& text : texts) updates.push_back(parse_update(text));
  return updates;
}

void run_gap(const Options& options) {
  const double amax = options.amax.empty() ? 1 : read_positive(options.amax, "--amax");
  std::vector<GapSubject> subjects;
  bool any_block = false;
  for (const std::string& spec : options.specs) {
    const BlockFormat format = parse_format(spec);
    any_block = any_block || format.has_scale();
    subjects.push_back(gap_subject(to_spec(format), format, amax));
  }
  if (!options.amax.empty() && !any_block)
    print_message("note: no block format is shown, so --amax changes nothing");
  MagnitudeRange range = default_range(subjects);
  if (!options.from.empty()) range.from = read_positive(options.from, "--from");
  if (!options.to.empty()) range.to = read_positive(options.to, "--to");
  const Figure figure = gap_figure(subjects, read_updates(options.updates), range);

  if (options.out.empty()) return print_result(csv_text(figure, "magnitude", "size"));
  std::string written;
  for (const std::string& path : write_figure(figure, options.out, "magnitude", "size"))
    written += (written.empty() ? "" : ", ") + path;
  print_message("wrote " + written);
}

}  // namespace

void add_gap_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "gap", "Gap to the next number against magnitude, with the size of updates laid over");
  const auto options = std::make_shared<Options>();
  command->add_option("SPEC", options->specs, "formats to compare")->required();
  command->add_option(
      "--out", options->out,
      "FILE.svg or FILE.png (FILE.csv and FILE.gp, which redraws it, stand beside it), or FILE.csv; "
      "the CSV goes to standard output without it");
  command
      ->add_option(
          "--update", options->updates,
          "a rule's update size, again for more: adam=, adamw=, additive=RATE (|u| = RATE); madam=, lmd=, "
          "relative=RATE (|u| = RATE |w|); m+adam=ETA_A,ETA_M; none. Default: adamw=1e-3 relative=1e-2")
      ->allow_extra_args(false);
  command->add_option("--amax", options->amax,
                      "largest magnitude of the block, which sets its scale (default 1)");
  command->add_option("--from", options->from, "smallest magnitude shown");
  command->add_option("--to", options->to, "largest magnitude shown");
  command->footer(
      "Examples:\n"
      "  halfulp gap bf16 e4m3\n"
      "  halfulp gap bf16 e4m3 nvfp4 --update adamw=1e-3 --update madam=1e-2 --out gaps.svg");
  command->callback([options] { run_gap(*options); });
}

}  // namespace halfulp

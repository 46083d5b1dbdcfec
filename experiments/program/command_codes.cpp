#include <memory>

#include "analysis/code_map_picture.h"
#include "experiments/program/command.h"
#include "experiments/program/picture_options.h"
#include "formats/error.h"

namespace halfulp {
namespace {

struct Options {
  PictureOptions picture;
  std::string axis;
};

std::optional<CodeAxis> read_axis(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (text == "linear") return CodeAxis::linear;
  if (text == "log") return CodeAxis::log;
  throw Error("--axis", "no such axis", text, "linear, log");
}

void run_codes(const Options& options) {
  const std::vector<NamedFormat> formats = read_formats(options.picture);
  const double amax = read_amax(options.picture, formats);
  std::vector<CodeRow> rows;
  for (const NamedFormat& known : formats)
    for (CodeRow& row : code_rows(known.name, known.format, amax)) rows.push_back(std::move(row));
  const CodeMap map = code_map(std::move(rows), read_axis(options.axis));
  if (options.picture.out.empty()) return print_result(code_map_csv(map));
  print_written(write_code_map(map, options.picture.out));
}

}  // namespace

void add_codes_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "codes", "Every number of small formats on a line; of block formats under three scales");
  const auto options = std::make_shared<Options>();
  add_picture_options(*command, options->picture);
  command->add_option("--axis", options->axis,
                      "linear, or log (on both sides of zero); default: log for formats of wide range");
  command->footer(
      "Formats of at most 256 codes. Block formats stand under the scale of their rule for --amax, twice "
      "and\n"
      "half of it.\n"
      "Examples:\n"
      "  halfulp codes e2m1 e3m0\n"
      "  halfulp codes mxfp4 nvfp4 --amax 0.7 --out codes.svg");
  command->callback([options] { run_codes(*options); });
}

}  // namespace halfulp

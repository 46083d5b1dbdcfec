#include <filesystem>
#include <memory>

#include "experiments/program/command.h"
#include "experiments/program/progress.h"
#include "experiments/record_file.h"
#include "experiments/report/report.h"
#include "formats/error.h"

namespace halfulp {
namespace {

struct ReportOptions {
  std::string folder, out;
};

void report_command(const ReportOptions& options) {
  std::vector<nlohmann::ordered_json> records = read_records(options.folder);
  if (records.empty())
    throw Error(options.folder, "holds no records", "an empty folder",
                "a folder with records*.jsonl, as `halfulp sweep CONFIG --out DIR` makes it");
  const std::string page =
      options.out.empty() ? (std::filesystem::path(options.folder) / "report.html").string() : options.out;
  Report report;
  {
    ProgressBar bar("pictures");
    report =
        make_report(std::move(records), [&](std::size_t drawn, std::size_t all) { bar.show(drawn, all); });
  }
  write_report(report, page);
  for (const std::string& note : report.notes) print_message(note);
  print_message("wrote " + page + " and " + std::to_string(report.files.size()) +
                " files in figures beside it");
  print_result(report.text);
}

}  // namespace

void add_report_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("report", "tables, pictures and plain sentences from the records of runs");
  auto options = std::make_shared<ReportOptions>();
  command->add_option("folder", options->folder, "folder with records*.jsonl")->required();
  command->add_option("--out", options->out,
                      "the page (default: report.html in that folder); its data goes to figures beside it");
  command->footer(
      "Example:\n  halfulp sweep experiments/configs/demo_one_weight.yaml --out results/one_weight\n  "
      "halfulp "
      "report results/one_weight");
  command->callback([options] { report_command(*options); });
}

}  // namespace halfulp

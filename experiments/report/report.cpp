#include "experiments/report/report.h"

#include <filesystem>
#include <set>

#include "analysis/whole_file.h"
#include "experiments/report/page.h"
#include "experiments/report/result_tables.h"
#include "experiments/report/terminal_report.h"
#include "formats/error.h"

namespace halfulp {
namespace {

namespace fs = std::filesystem;

/// Figures before they are drawn, in the order of the page.
struct Plan {
  std::string problem, title;
  std::vector<ReportFigure> figures;
};

std::vector<Plan> plan_figures(const std::vector<ProblemRuns>& problems) {
  std::vector<Plan> plans{{"", "", weight_figures(problems)}};
  for (const ProblemRuns& problem : problems) {
    if (problem.kind == ProblemKind::one_weight) continue;
    plans.push_back({problem.name, "Loss against learning rate", rate_figures(problem)});
    plans.push_back({problem.name, "Failures against the step", trace_figures(problem)});
    plans.push_back({problem.name, "What elements went through", memory_figures(problem)});
    if (problem.is_atlas()) continue;
    plans.push_back({problem.name, "Loss against step", loss_figures(problem)});
    plans.push_back({problem.name, "Which updates are rounded away", octave_figures(problem)});
    plans.push_back({problem.name, "Size of the updates", update_figures(problem)});
    plans.push_back({problem.name, "Gaps of the stored formats and the updates", gap_figures(problem)});
    plans.push_back(
        {problem.name, "Weights that run away, numbers that sink to zero", drift_figures(problem)});
  }
  return plans;
}

/// Two names may become one stem; the later gets a number.
void make_names_unique(std::vector<Plan>& plans) {
  std::set<std::string> used;
  for (Plan& plan : plans)
    for (ReportFigure& figure : plan.figures) {
      const std::string name = figure.name;
      for (int n = 2; !used.insert(figure.name).second; ++n) figure.name = name + "-" + std::to_string(n);
    }
}

std::string text_as_csv(const Table& table) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string field = row[i];
      if (field.find_first_of(",\"\n") != std::string::npos) {
        for (std::size_t at = 0; (at = field.find('"', at)) != std::string::npos; at += 2)
          field.insert(at, "\"");
        field = "\"" + field + "\"";
      }
      text += (i == 0 ? "" : ",") + field;
    }
    text += "\n";
  };
  add(table.header);
  for (const auto& row : table.rows) add(row);
  return text;
}

void add_files(Report& report, const ReportFigure& figure) {
  const std::string data = figure.name + ".csv";
  report.files.push_back({"figures/" + data, csv_text(figure.figure, figure.x_name, figure.y_name)});
  report.files.push_back({"figures/" + figure.name + ".gp",
                          gnuplot_script(figure.figure, PictureKind::svg, data, figure.name + ".svg")});
}

}  // namespace

Report make_report(std::vector<nlohmann::ordered_json> records, const DrawingProgress& progress) {
  const RecordSet set = choose_records(std::move(records));
  const std::vector<ProblemRuns> problems = group_records(set);
  std::vector<Plan> plans = plan_figures(problems);
  make_names_unique(plans);
  std::size_t all = 0, drawn = 0;
  for (const Plan& plan : plans) all += plan.figures.size();
  Report report;
  PageParts parts;
  for (const Plan& plan : plans) {
    FigureSection section{plan.title, {}};
    for (const ReportFigure& figure : plan.figures) {
      section.figures.push_back({figure, render_svg(figure.figure)});
      add_files(report, figure);
      if (progress) progress(++drawn, all);
    }
    if (plan.problem.empty()) {
      parts.weights = std::move(section);
      continue;
    }
    if (parts.problems.empty() || parts.problems.back().first != plan.problem)
      parts.problems.push_back({plan.problem, {}});
    parts.problems.back().second.push_back(std::move(section));
  }
  report.files.push_back({"figures/records.csv", text_as_csv(record_table(set))});
  report.text = terminal_report(set, problems);
  report.page = html_page(set, problems, parts);
  report.notes = set.notes;
  return report;
}

void write_report(const Report& report, const std::string& page_path) {
  const fs::path page(page_path), folder = page.has_parent_path() ? page.parent_path() : fs::path(".");
  if (!fs::is_directory(folder))
    throw Error("--out", "no such folder", folder.string(), "a page in a folder that exists");
  if (fs::is_directory(page)) throw Error("--out", "this is a folder", page_path, "the name of a file");
  std::error_code failed;
  const bool is_new = fs::create_directory(folder / "figures", failed);
  if (failed)
    throw Error("--out", "the folder of the figures cannot be made: " + failed.message(),
                (folder / "figures").string(), "a folder this process may write to");
  std::vector<std::string> paths;
  for (const Report::SideFile& file : report.files) paths.push_back((folder / file.path).string());
  std::vector<FileContent> contents;
  for (std::size_t i = 0; i < paths.size(); ++i) contents.push_back({paths[i], report.files[i].content});
  contents.push_back({page_path, report.page});
  try {
    write_whole_files(contents);
  } catch (...) {
    if (is_new) fs::remove(folder / "figures", failed);
    throw;
  }
}

}  // namespace halfulp

#include "experiments/report/terminal_report.h"

#include <fmt/format.h>

#include <sstream>

#include "experiments/report/findings.h"
#include "experiments/report/one_weight.h"
#include "experiments/report/result_tables.h"

namespace halfulp {
namespace {

constexpr std::size_t terminal_columns = 120;

std::string heading(const std::string& text) {
  return "\n" + text + "\n" + std::string(text.size(), '=') + "\n";
}

}  // namespace

std::vector<NamedFindings> all_findings(const std::vector<ProblemRuns>& problems) {
  std::vector<NamedFindings> all;
  const auto add = [&](ProblemKind kind) {
    for (const ProblemRuns& problem : problems)
      if (problem.kind == kind) all.push_back({problem.name, findings(problem)});
  };
  add(ProblemKind::model);
  if (auto sentences = one_weight_findings(problems); !sentences.empty())
    all.push_back({"one stored weight", std::move(sentences)});
  add(ProblemKind::toy);
  return all;
}

std::string wrapped(const std::string& text, std::size_t columns) {
  std::istringstream words(text);
  std::string lines, line, word;
  while (words >> word) {
    if (!line.empty() && line.size() + 1 + word.size() > columns) {
      lines += line + "\n";
      line = "  " + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return lines + line + "\n";
}

std::string terminal_report(const RecordSet& set, const std::vector<ProblemRuns>& problems) {
  std::string text = fmt::format("{} records, bits version {}\n", set.records.size(), set.bits_version);
  const Table weights = one_weight_table(problems);
  if (!weights.rows.empty()) {
    text += heading("One stored weight, loss (w - target)^2 / 2") + terminal_table(weights);
    if (const std::string drawing = one_weight_drawing(problems); !drawing.empty()) text += "\n" + drawing;
  }
  bool has_model = false, has_toy = false;
  for (const ProblemRuns& problem : problems) {
    if (problem.kind != ProblemKind::model) continue;
    text += heading(problem.name);
    for (const std::string& scheme : problem.schemes())
      text +=
          fmt::format("weights and states {}\n{}\n", scheme, terminal_table(model_table(problem, scheme)));
    has_model = true;
  }
  if (has_model) text += model_table_key;
  for (const ProblemRuns& problem : problems) {
    if (problem.kind != ProblemKind::toy) continue;
    text += heading(problem.name) + terminal_table(toy_table(problem));
    has_toy = true;
  }
  if (has_toy) text += toy_table_key;
  text += heading("What the records say");
  for (const NamedFindings& about : all_findings(problems)) {
    text += about.name + "\n";
    for (const std::string& sentence : about.sentences) text += wrapped("* " + sentence, terminal_columns);
  }
  return text;
}

}  // namespace halfulp

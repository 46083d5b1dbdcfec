#include "experiments/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiments/report/failure_table.h"
#include "experiments/report/one_weight.h"
#include "experiments/report/prediction_table.h"
#include "experiments/report/result_tables.h"
#include "experiments/report/terminal_report.h"
#include "experiments/version.h"

namespace halfulp {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* style = R"(
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, "Liberation Sans", sans-serif; color: #1a1a1a; background: #fff;
       max-width: 1000px; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 2px solid #444; }
h3 { margin-top: 2rem; }
.wide { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #ccc; }
th { border-bottom: 2px solid #444; } .words { text-align: left; }
tr.best td { font-weight: bold; background: #eaf5ea; }
figure { margin: 1.5rem 0; overflow-x: auto; break-inside: avoid; }
figure svg { display: block; width: 100%; min-width: 620px; height: auto; }
figcaption { font-size: .9rem; max-width: 62rem; }
pre, code { font-family: "Liberation Mono", monospace; font-size: .85em; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f4f4f4;
      padding: .5rem .8rem; margin: .4rem 0; }
.note { font-size: .9rem; } .warning { border-left: 4px solid #000; padding-left: .6rem; }
.small table { font-size: .7rem; } .cells td { white-space: normal; min-width: 7rem; vertical-align: top; }
@media print { body { max-width: none; padding: 0; } figure svg { min-width: 0; }
  .wide, figure { overflow: visible; } table { font-size: .65rem; } th, td { padding: .1rem .3rem; } }
)";

std::string paragraph(const std::string& text, const char* kind = "") {
  const std::string attribute = *kind == '\0' ? "" : fmt::format(" class=\"{}\"", kind);
  return fmt::format("<p{}>{}</p>\n", attribute, html_text(text));
}

std::string sentence_list(const std::vector<std::string>& sentences) {
  std::string html = "<ul>\n";
  for (const std::string& sentence : sentences) html += "<li>" + html_text(sentence) + "</li>\n";
  return html + "</ul>\n";
}

template <class Names>
std::string listed(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string findings_html(const std::vector<ProblemRuns>& problems) {
  std::string html;
  for (const NamedFindings& about : all_findings(problems))
    html += fmt::format("<h3>{}</h3>\n", html_text(about.name)) + sentence_list(about.sentences);
  return html;
}

/// Rules, schemes, steps, number type and seeds of a problem.
std::string set_up_of(const ProblemRuns& problem) {
  std::set<std::string> steps, numbers, seeds;
  std::vector<std::string> rules;
  for (const Group& group : problem.groups) {
    if (std::find(rules.begin(), rules.end(), group.label) == rules.end()) rules.push_back(group.label);
    for (const Json* run : group.runs) seeds.insert(run->at("config").value("seed", Json("?")).dump());
    const Json& config = group.config();
    steps.insert(config.value("steps", Json("?")).dump() + " steps at " +
                 config.value("schedule", std::string("unknown")) + " rate");
    numbers.insert(config.value("number", std::string("unknown")));
  }
  return fmt::format("{} with weights and states stored as {}; {}, computed in {}, seeds {}", listed(rules),
                     listed(problem.schemes()), listed(steps), listed(numbers), listed(seeds));
}

/// One sentence for all problems of one set-up.
std::string what_was_run(const RecordSet& set, const std::vector<ProblemRuns>& problems) {
  std::string text = fmt::format(
      "{} runs. Every stored number (weights and moments of the optimizer) lives only in the format that its "
      "scheme, weights/states, names; there is no copy of higher precision.",
      set.records.size());
  std::vector<std::pair<std::string, std::string>> sentences;
  for (const ProblemRuns& problem : problems) {
    const std::string set_up = set_up_of(problem);
    const auto known = std::find_if(sentences.begin(), sentences.end(),
                                    [&](const auto& sentence) { return sentence.second == set_up; });
    if (known == sentences.end())
      sentences.emplace_back(problem.name, set_up);
    else
      known->first += ", " + problem.name;
  }
  for (const auto& [names, set_up] : sentences) text += " On " + names + ": " + set_up + ".";
  return text;
}

std::string figure_html(const DrawnFigure& drawn, std::size_t& number) {
  const ReportFigure& figure = drawn.figure;
  ++number;
  std::string html = fmt::format("<figure id=\"{}\">\n{}\n<figcaption><strong>Figure {}.</strong> {}",
                                 html_text(figure.name), inline_svg(drawn.svg, fmt::format("f{}-", number)),
                                 number, html_text(figure.caption));
  html += fmt::format(
      " Data: <code>figures/{0}.csv</code>.<pre>halfulp report .\ncd figures &amp;&amp; gnuplot "
      "{0}.gp{1}</pre></figcaption>\n</figure>\n",
      html_text(figure.name), figure.command.empty() ? "" : "\n" + html_text(figure.command));
  return html;
}

std::string section_html(const FigureSection& section, const char* tag, std::size_t& number) {
  if (section.figures.empty()) return "";
  std::string html;
  if (!section.title.empty()) html += fmt::format("<{0}>{1}</{0}>\n", tag, html_text(section.title));
  for (const DrawnFigure& figure : section.figures) html += figure_html(figure, number);
  return html;
}

std::string problem_html(const ProblemRuns& problem, const std::vector<FigureSection>& sections,
                         std::size_t& number) {
  std::string html = fmt::format("<h2>{}</h2>\n", html_text(problem.name));
  if (problem.is_atlas()) {
    html += html_table(best_table(problem)) +
            paragraph("Loss at the end, each rule with its best setting: mean+-standard deviation over seeds that the "
                      "rates were not chosen on. Star: the smallest of its scheme.",
                      "note");
  } else if (problem.kind == ProblemKind::model) {
    for (const std::string& scheme : problem.schemes())
      html += fmt::format("<h3>weights and states {}</h3>\n{}", html_text(scheme),
                          html_table(model_table(problem, scheme)));
    html += paragraph(std::string(model_table_key) + "Bold: the smallest loss of the scheme.", "note");
    if (const Table tensors = tensor_table(problem); !tensors.rows.empty())
      html += "<h3>By tensor</h3>\n<div class=\"small\">" + html_table(tensors) + "</div>\n" +
              paragraph(tensor_table_key, "note");
  } else {
    html += html_table(toy_table(problem)) + paragraph(toy_table_key, "note");
  }
  for (const FigureSection& section : sections) html += section_html(section, "h3", number);
  return html;
}

/// One table for all problems that were run with the same settings.
std::string settings_html(const std::vector<ProblemRuns>& problems) {
  std::vector<std::pair<std::string, std::string>> tables;
  for (const ProblemRuns& problem : problems) {
    const std::string table = html_table(settings_table(problem));
    const auto known =
        std::find_if(tables.begin(), tables.end(), [&](const auto& one) { return one.second == table; });
    if (known == tables.end())
      tables.emplace_back(problem.name, table);
    else
      known->first += ", " + problem.name;
  }
  std::string html;
  for (const auto& [names, table] : tables) html += fmt::format("<h3>{}</h3>\n", html_text(names)) + table;
  return html;
}

std::string provenance_html(const RecordSet& set) {
  std::set<std::string> versions;
  for (const Json& record : set.records)
    versions.insert("version " + record.value("version", std::string("?")) + ", commit " +
                    record.value("commit", std::string("?")));
  std::string html = "<h2>Provenance</h2>\n";
  html +=
      paragraph(fmt::format("{} records of bits version {}, made by halfulp {}. This page was made by "
                            "halfulp version {}, commit {}, "
                            "with the command below, run in the folder of the records; the data of every "
                            "figure, a script that draws "
                            "it, and this table of records are in the folder figures beside the page.",
                            set.records.size(), set.bits_version, listed(versions), version, commit));
  html += "<pre>halfulp report .</pre>\n";
  html += paragraph(
      "A record's key is the hash (FNV-1a, 64 bits) of the bits version and the whole config of its run, so "
      "it "
      "is also the hash of the config; the same command, commit and seed give the same stored bytes, whose "
      "hash "
      "is the last but one column.");
  return html + "<div class=\"small\">" + html_table(record_table(set)) + "</div>\n";
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// Takes ` name="..."` or ` name='...'` out.
void drop_attribute(std::string& text, const std::string& name) {
  for (const char quote : {'"', '\''}) {
    const std::string start = name + "=" + quote;
    for (std::size_t at; (at = text.find(start)) != std::string::npos;) {
      const std::size_t end = text.find(quote, at + start.size());
      if (end == std::string::npos) return;
      text.erase(at, end + 1 - at);
    }
  }
}

}  // namespace

std::string inline_svg(const std::string& svg, const std::string& id_start) {
  std::string text = svg;
  // Inside HTML the parser knows the namespaces, and every address on the page would look like a reference.
  drop_attribute(text, "xmlns:xlink");
  drop_attribute(text, "xmlns");
  for (const char quote : {'"', '\''}) {
    const std::string q(1, quote);
    replace_all(text, " id=" + q, " id=" + q + id_start);
    replace_all(text, "href=" + q + "#", "href=" + q + "#" + id_start);
  }
  replace_all(text, "url(#", "url(#" + id_start);
  return text;
}

std::string html_page(const RecordSet& set, const std::vector<ProblemRuns>& problems,
                      const PageParts& parts) {
  std::size_t number = 0;
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += fmt::format("<title>halfulp report</title>\n<style>{}</style>\n</head>\n<body>\n", style);
  html += "<h1>Training with weights that exist only in a low-precision format</h1>\n";
  html += paragraph(what_was_run(set, problems));
  for (const std::string& note : set.notes) html += paragraph(note, "warning");
  const Table failures = failure_table(problems);
  if (!failures.rows.empty())
    html += "<h2>Which rule fails how, where</h2>\n<div class=\"small cells\">" + html_table(failures) + "</div>\n" +
            paragraph(failure_table_key, "note");
  html += "<h2>What the records say</h2>\n" + findings_html(problems);
  html += paragraph(
      "These sentences are computed from the records by fixed rules. Beyond seed noise: the difference of "
      "the "
      "means exceeds the standard deviation that both groups share, sqrt((a^2 + b^2) / 2). Where a rule was "
      "run "
      "with several settings on a scheme, the one with the smallest validation (else training) loss enters "
      "here and in the figures.",
      "note");
  const Table weights = one_weight_table(problems);
  if (!weights.rows.empty()) {
    html += "<h2>One stored weight</h2>\n" +
            paragraph(
                "The loss is (w - target)^2 / 2. Bold: the target is reached, exactly or within one gap "
                "of the format.") +
            html_table(weights) + section_html(parts.weights, "h3", number);
  }
  for (const auto& [name, sections] : parts.problems)
    for (const ProblemRuns& problem : problems)
      if (problem.name == name) html += problem_html(problem, sections, number);
  const Table predictions = prediction_table(problems);
  if (!predictions.rows.empty())
    html += "<h2>Predicted and measured</h2>\n" +
            paragraph(
                "Predictions follow from format, rule and peak rate alone, for nearest rounding and "
                "formats without a scale. A schedule that lowers the rate leaves more unchanged than the "
                "peak rate predicts.") +
            "<div class=\"small\">" + html_table(predictions) + "</div>\n";
  html += "<h2>Settings</h2>\n";
  return html + settings_html(problems) + provenance_html(set) + "</body>\n</html>\n";
}

}  // namespace halfulp

#pragma once
#include <string>
#include <vector>

#include "analysis/plot.h"
#include "experiments/report/groups.h"

namespace halfulp {

/// A picture of the report with what stands under it.
struct ReportFigure {
  std::string name;     ///< stem of its files
  std::string caption;  ///< what to see
  std::string x_name, y_name;
  Figure figure;
  std::string command = "";  ///< another command that draws it, besides those that every figure has
};

/// A stem from words: "->" becomes "_to_", what is no letter, digit, '.', '-' or '_' becomes '-'.
std::string file_stem(const std::string& words);

/// Lines of a rule look alike in every picture: by colour, and by dash or marks in a grey print.
/// in: place: among the labels of the picture, for labels that are no usual rule
Series series_like(const std::string& rule_label, std::size_t place, const std::string& label);

/// A thin black line from (x0, y0) to (x1, y1).
Series marker_line(const std::string& label, double x0, double y0, double x1, double y1);

/// One run in a picture of many.
struct RunLine {
  std::string label;
  std::vector<double> x, y;
};

/// What stands in and around a picture of runs.
struct LineFigure {
  std::string name, title;
  Axis x, y;
  std::string caption;
  double shows_from;  ///< drawn where a line reaches this
};

/// The runs with the largest y, at most eight; nullopt where none has two points and reaches shows_from.
std::optional<ReportFigure> figure_of_lines(const ProblemRuns& problem, const LineFigure& words,
                                            std::vector<RunLine> lines);

// Each gives only the figures that have something to draw.

/// The weight against the step: one picture a case and scheme, every rule in it.
std::vector<ReportFigure> weight_figures(const std::vector<ProblemRuns>& problems);

/// Loss against step: one picture a scheme, every rule in it.
std::vector<ReportFigure> loss_figures(const ProblemRuns& problem);

/// Root mean square of the weights, where any rule's at least doubles, and share of zeros, where any reaches
/// 1 %.
std::vector<ReportFigure> drift_figures(const ProblemRuns& problem);

/// Loss against learning rate with bars over the seeds, from the runs that recorded results alone: two pictures a scheme.
std::vector<ReportFigure> rate_figures(const ProblemRuns& problem);

/// One picture for each failure that any run of the problem shows, against the step: the runs that show it most.
std::vector<ReportFigure> trace_figures(const ProblemRuns& problem);

/// Harmful stagnation by window, how long elements dwell near zero, and gradient variance, where they were measured.
std::vector<ReportFigure> memory_figures(const ProblemRuns& problem);

/// Share of unchanged elements by octave of |w|, with the predicted thresholds.
std::vector<ReportFigure> octave_figures(const ProblemRuns& problem);

/// Histogram of log2(update / half gap).
std::vector<ReportFigure> update_figures(const ProblemRuns& problem);

/// Gap and half gap of each stored format with the updates of the rules at their rates.
std::vector<ReportFigure> gap_figures(const ProblemRuns& problem);

}  // namespace halfulp

#pragma once
#include <string>
#include <vector>

#include "experiments/report/groups.h"
#include "experiments/report/report_figure.h"

namespace halfulp {

/// A figure with its picture drawn.
struct DrawnFigure {
  ReportFigure figure;
  std::string svg;
};

/// The figures of one heading.
struct FigureSection {
  std::string title;
  std::vector<DrawnFigure> figures;
};

/// The HTML document. weights: pictures of single weights; others: by problem name, in the order of the
/// problems.
struct PageParts {
  FigureSection weights;
  std::vector<std::pair<std::string, std::vector<FigureSection>>> problems;
};
std::string html_page(const RecordSet& set, const std::vector<ProblemRuns>& problems, const PageParts& parts);

/// The picture for standing inside a page with others: no namespace addresses, ids of its own.
std::string inline_svg(const std::string& svg, const std::string& id_start);

}  // namespace halfulp

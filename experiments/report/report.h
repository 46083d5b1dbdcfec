#pragma once
#include <functional>
#include <string>
#include <vector>

#include "experiments/report/record_set.h"

namespace halfulp {

/// A report: what a terminal shows, the page, and the files beside it.
struct Report {
  struct SideFile {
    std::string path;  ///< from the page's folder: figures/NAME.csv, figures/NAME.gp
    std::string content;
  };
  std::string text;  ///< at most 120 columns wide unless names are long
  std::string page;  ///< one HTML document without references to anything outside it
  std::vector<SideFile> files;
  std::vector<std::string> notes;  ///< warnings: what was left out
};

/// Called with pictures drawn so far, of all.
using DrawingProgress = std::function<void(std::size_t drawn, std::size_t all)>;

/// The same bytes for the same records (with one build and one gnuplot), whatever their order and files.
/// errors: throws Error if there are no records, they are no records, or gnuplot is missing or fails.
Report make_report(std::vector<nlohmann::ordered_json> records, const DrawingProgress& progress);

/// Writes page and side files: all of them or none.
/// errors: throws Error if the page's folder does not exist or cannot be written.
void write_report(const Report& report, const std::string& page_path);

}  // namespace halfulp

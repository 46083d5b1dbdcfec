#pragma once
#include <string>
#include <vector>

namespace halfulp {

/// A small table. Cells are plain text; the first column is aligned to the left, as are those of words.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> word_columns = {0};
  std::vector<std::size_t> strong_rows = {};  ///< the page sets them in bold
};

/// Aligned columns, two spaces apart, a rule under the header.
std::string terminal_table(const Table& table);

/// A <table>, everything escaped.
std::string html_table(const Table& table);

/// The text with &, <, >, " and ' as entities: fit for an element or a quoted attribute.
std::string html_text(const std::string& text);

}  // namespace halfulp

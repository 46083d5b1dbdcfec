#include "experiments/report/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace halfulp {
namespace {

bool contains(const std::vector<std::size_t>& all, std::size_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::string terminal_row(const Table& table, const std::vector<std::string>& row,
                         const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string space(widths[i] - row[i].size(), ' ');
    line += (i == 0 ? "" : "  ") + (contains(table.word_columns, i) ? row[i] + space : space + row[i]);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string terminal_table(const Table& table) {
  std::vector<std::size_t> widths(table.header.size());
  for (std::size_t i = 0; i < widths.size(); ++i) {
    widths[i] = table.header[i].size();
    for (const auto& row : table.rows) widths[i] = std::max(widths[i], row[i].size());
  }
  std::size_t width = 2 * (widths.size() - 1);
  for (const std::size_t one : widths) width += one;
  std::string text = terminal_row(table, table.header, widths) + std::string(width, '-') + "\n";
  for (const auto& row : table.rows) text += terminal_row(table, row, widths);
  return text;
}

std::string html_table(const Table& table) {
  const auto cell = [&](const char* tag, std::size_t column, const std::string& text) {
    const char* kind = contains(table.word_columns, column) ? " class=\"words\"" : "";
    return fmt::format("<{0}{1}>{2}</{0}>", tag, kind, html_text(text));
  };
  std::string html = "<div class=\"wide\"><table>\n<thead><tr>";
  for (std::size_t i = 0; i < table.header.size(); ++i) html += cell("th", i, table.header[i]);
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    html += contains(table.strong_rows, r) ? "<tr class=\"best\">" : "<tr>";
    for (std::size_t i = 0; i < table.rows[r].size(); ++i) html += cell("td", i, table.rows[r][i]);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string html_text(const std::string& text) {
  std::string html;
  for (const char c : text) {
    if (c == '&')
      html += "&amp;";
    else if (c == '<')
      html += "&lt;";
    else if (c == '>')
      html += "&gt;";
    else if (c == '"')
      html += "&quot;";
    else if (c == '\'')
      html += "&#39;";
    else
      html += c;
  }
  return html;
}

}  // namespace halfulp

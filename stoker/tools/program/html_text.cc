#include "stoker/tools/program/html_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "stoker/base/printable.h"

namespace stoker {

std::string EscapedHtml(std::string_view text) {
  std::string escaped;
  for (const char c : PrintableLines(text)) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string HtmlTable(const std::vector<std::vector<std::string>>& rows,
                      const std::vector<size_t>& numbers) {
  std::string html = "<div class=\"wide\"><table>\n";
  for (size_t row = 0; row < rows.size(); ++row) {
    html += "<tr>";
    for (size_t column = 0; column < rows.front().size(); ++column) {
      const bool number = std::ranges::find(numbers, column) != numbers.end();
      html +=
          fmt::format("<{0}{1}{2}>{3}</{0}>", row == 0 ? "th" : "td",
                      row == 0 ? " scope=\"col\"" : "", number ? " class=\"number\"" : "",
                      column < rows[row].size() ? EscapedHtml(rows[row][column]) : std::string());
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string HtmlSection(std::string_view title, const std::string& body) {
  if (body.empty()) return {};
  return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", EscapedHtml(title), body);
}

}  // namespace stoker

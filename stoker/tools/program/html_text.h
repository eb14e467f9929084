// Text as HTML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker {

// Returns `text` so that it stays text in an element and in a quoted attribute, whatever it holds;
// also safe to copy into a terminal (base/printable.h). Line breaks and tabs are kept.
std::string EscapedHtml(std::string_view text);

// Returns a table. The first row is its heading; rows may be shorter than it.
//   numbers  the columns that are aligned to the right
std::string HtmlTable(const std::vector<std::vector<std::string>>& rows,
                      const std::vector<size_t>& numbers);

// Returns <h2> with the title, then `body`, as a section; nothing if `body` is empty.
std::string HtmlSection(std::string_view title, const std::string& body);

}  // namespace stoker

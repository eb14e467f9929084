#include "stoker/doctor/text_diff.h"

#include <algorithm>
#include <span>
#include <vector>

namespace stoker {
namespace {

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

struct Line {
  char mark;
  std::string_view text;
};

// The longest common subsequence of lines, from its table, which has a place for each pair of them.
std::vector<Line> MarkedByTable(std::span<const std::string_view> a,
                                std::span<const std::string_view> b) {
  const size_t width = b.size() + 1;
  std::vector<int> common((a.size() + 1) * width, 0);  // of what follows line i of a, line j of b
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      common[i * width + j] =
          a[i] == b[j] ? common[(i + 1) * width + j + 1] + 1
                       : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  std::vector<Line> lines;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool equal = i < a.size() && j < b.size() && a[i] == b[j];
    const bool gone = !equal && i < a.size() &&
                      (j == b.size() || common[(i + 1) * width + j] >= common[i * width + j + 1]);
    lines.push_back({equal ? ' ' : gone ? '-' : '+', equal || gone ? a[i] : b[j]});
    i += equal || gone ? 1 : 0;
    j += equal || !gone ? 1 : 0;
  }
  return lines;
}

// What both begin and end with needs no table: a change of a recipe touches a few lines.
std::vector<Line> Marked(std::span<const std::string_view> a, std::span<const std::string_view> b) {
  const size_t shorter = std::min(a.size(), b.size());
  size_t begin = 0, end = 0;
  while (begin < shorter && a[begin] == b[begin]) ++begin;
  while (end < shorter - begin && a[a.size() - 1 - end] == b[b.size() - 1 - end]) ++end;
  std::vector<Line> lines;
  for (const std::string_view text : a.first(begin)) lines.push_back({' ', text});
  for (const Line& line : MarkedByTable(a.subspan(begin, a.size() - begin - end),
                                        b.subspan(begin, b.size() - begin - end)))
    lines.push_back(line);
  for (const std::string_view text : a.last(end)) lines.push_back({' ', text});
  return lines;
}

}  // namespace

std::string DiffOf(std::string_view before, std::string_view after, int context) {
  const std::vector<Line> lines = Marked(LinesOf(before), LinesOf(after));
  std::string text;
  bool left_out = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t first = i > static_cast<size_t>(context) ? i - static_cast<size_t>(context) : 0;
    const size_t last = std::min(lines.size(), i + static_cast<size_t>(context) + 1);
    const bool near = std::any_of(lines.begin() + static_cast<std::ptrdiff_t>(first),
                                  lines.begin() + static_cast<std::ptrdiff_t>(last),
                                  [](const Line& line) { return line.mark != ' '; });
    if (near) {
      text += (left_out && !text.empty() ? "...\n" : "");
      text += lines[i].mark + std::string(lines[i].text) + "\n";
    }
    left_out = !near;
  }
  return text;
}

}  // namespace stoker

#include "stoker/doctor/text_diff.h"

#include <algorithm>
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

// The longest common subsequence of lines, from its table.
std::vector<Line> Marked(const std::vector<std::string_view>& a,
                         const std::vector<std::string_view>& b) {
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

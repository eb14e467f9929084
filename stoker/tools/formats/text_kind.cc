#include "stoker/tools/formats/text_kind.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace stoker {
namespace {

// The next line, which is taken from `text`.
std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool IsNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double ignored = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ignored);
  return error == std::errc() && end == text.data() + text.size();
}

bool IsObject(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t");
  return first != std::string_view::npos && line[first] == '{' && line[last] == '}';
}

bool IsSparseRow(std::string_view line) {
  bool pairs = false, label = false;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    if (word.empty()) continue;
    const size_t colon = word.find(':');
    const bool good = colon == std::string_view::npos
                          ? !label && !pairs && IsNumber(word)
                          : IsNumber(word.substr(0, colon)) && IsNumber(word.substr(colon + 1));
    if (!good) return false;
    (colon == std::string_view::npos ? label : pairs) = true;
  }
  return label && pairs;
}

// Cells of a line, those in quotes whole.
int64_t CountCells(std::string_view line, char delimiter) {
  bool quoted = false;
  int64_t cells = 1;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == delimiter && !quoted) ++cells;
  }
  return cells;
}

}  // namespace

TextKind KindOfLines(std::string_view text) {
  const std::string_view first = TakeLine(text);
  const std::string_view second = text.empty() ? first : TakeLine(text);
  if (IsObject(first)) return TextKind::kJsonl;
  if (IsSparseRow(first) && IsSparseRow(second)) return TextKind::kLibsvm;
  for (const char delimiter : {',', '\t'}) {
    const int64_t cells = CountCells(first, delimiter);
    if (cells > 1 && CountCells(second, delimiter) == cells) return TextKind::kCsv;
  }
  return TextKind::kOther;
}

}  // namespace stoker

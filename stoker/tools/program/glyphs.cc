#include "stoker/tools/program/glyphs.h"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>

#include "stoker/base/printable.h"
#include "stoker/base/remote_path.h"

namespace stoker {
namespace {

// A character of a text, and the columns that it takes.
struct Character {
  std::string_view bytes;
  size_t columns = 1;
};

// REQUIRES: `text` is not empty. What is not UTF-8 is one byte and one column.
Character FirstCharacter(std::string_view text) {
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t bytes =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &code);
  if (bytes <= 0) return {.bytes = text.substr(0, 1)};
  const int columns = utf8proc_charwidth(code);
  return {.bytes = text.substr(0, static_cast<size_t>(bytes)),
          .columns = static_cast<size_t>(std::max(columns, 0))};
}

std::string InAscii(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character first = FirstCharacter(text);
    const bool ascii = first.bytes.size() == 1 && static_cast<unsigned char>(first.bytes[0]) < 0x80;
    if (first.columns > 0) out += ascii ? first.bytes : std::string_view("?");
    text.remove_prefix(first.bytes.size());
  }
  return out;
}

std::string Shown(std::string_view text, Glyphs glyphs) {
  std::string printable = Printable(WithoutSecrets(text));
  return glyphs == Glyphs::kAscii ? InAscii(printable) : printable;
}

// The first characters that take at most `columns`.
std::string_view FirstOf(std::string_view text, size_t columns) {
  size_t bytes = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const Character first = FirstCharacter(rest);
    if (first.columns > columns) break;
    columns -= first.columns;
    bytes += first.bytes.size();
    rest.remove_prefix(first.bytes.size());
  }
  return text.substr(0, bytes);
}

std::string CutShown(const std::string& shown, size_t columns, Glyphs glyphs) {
  if (ColumnsOf(shown) <= columns) return shown;
  const std::string_view mark = glyphs == Glyphs::kAscii ? "..." : "\u2026";
  const size_t wide = ColumnsOf(mark);
  if (columns <= wide) return std::string(FirstOf(shown, columns));
  return std::string(FirstOf(shown, columns - wide)) + std::string(mark);
}

// From nothing to whole.
constexpr std::string_view kHeights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kAsciiHeights[] = {" ", ".", "_", "-", "=", "+", "*", "#", "@"};
constexpr std::string_view kParts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
constexpr size_t kSteps = 8;

double ShareWithin(double share) { return std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0; }

}  // namespace

size_t ColumnsOf(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const Character first = FirstCharacter(text);
    columns += first.columns;
    text.remove_prefix(first.bytes.size());
  }
  return columns;
}

std::string Cut(std::string_view text, size_t columns, Glyphs glyphs) {
  return CutShown(Shown(text, glyphs), columns, glyphs);
}

std::string Fitted(std::string_view text, size_t columns, Glyphs glyphs) {
  std::string cut = Cut(text, columns, glyphs);
  cut.append(columns - ColumnsOf(cut), ' ');
  return cut;
}

std::vector<std::string> Wrapped(std::string_view text, size_t columns, size_t lines,
                                 Glyphs glyphs) {
  std::vector<std::string> wrapped;
  const std::string shown = Shown(text, glyphs);
  std::string_view rest = shown;
  while (!rest.empty() && wrapped.size() < lines && columns > 0) {
    const std::string_view first = FirstOf(rest, columns);
    const bool last = wrapped.size() + 1 == lines;
    if (last || first.size() == rest.size()) {
      wrapped.push_back(CutShown(std::string(rest), columns, glyphs));
      break;
    }
    // A space right after the line breaks it too. A character wider than the screen is left out.
    const size_t space = rest.substr(0, first.size() + 1).rfind(' ');
    const size_t end = space == rest.npos || space == 0 ? first.size() : space;
    if (end == 0) break;
    wrapped.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  }
  return wrapped;
}

std::string Bar(double share, size_t columns, Glyphs glyphs) {
  const double filled = ShareWithin(share) * static_cast<double>(columns);
  std::string bar;
  if (glyphs == Glyphs::kAscii) {
    bar.assign(static_cast<size_t>(std::lround(filled)), '|');
    bar.resize(columns, ' ');
    return bar;
  }
  const auto eighths = static_cast<size_t>(std::lround(filled * static_cast<double>(kSteps)));
  for (size_t i = 0; i < eighths / kSteps; ++i) bar += "█";
  bar += kParts[eighths % kSteps];
  const size_t used = (eighths + kSteps - 1) / kSteps;
  bar.append(columns - used, ' ');
  return bar;
}

std::string Heights(std::span<const double> values, size_t columns, Glyphs glyphs, double largest) {
  if (values.size() > columns) values = values.last(columns);
  double most = largest;
  for (const double value : values) {
    if (largest <= 0 && std::isfinite(value)) most = std::max(most, value);
  }
  if (most <= 0) most = 1;
  std::string text;
  for (const double value : values) {
    // What is above nothing shows.
    const double share = ShareWithin(value / most);
    const auto step = static_cast<size_t>(std::ceil(share * static_cast<double>(kSteps)));
    text += (glyphs == Glyphs::kAscii ? kAsciiHeights : kHeights)[step];
  }
  return text;
}

}  // namespace stoker

#include "stoker/tools/program/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "stoker/base/printable.h"
#include "stoker/tools/program/glyphs.h"

namespace stoker {

std::string WithThousands(double number) {
  const std::string digits = fmt::format("{:.0f}", std::fabs(number));
  std::string text = number <= -0.5 ? "-" : "";
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

// What is rounded up to 1000 has no point either.
std::string FigureText(double number) {
  return std::fabs(number) < 999.95 ? fmt::format("{:.4g}", number) : WithThousands(number);
}

std::string CountText(int64_t count, std::string_view noun, std::string_view nouns) {
  const std::string number = WithThousands(static_cast<double>(count));
  if (count == 1) return fmt::format("{} {}", number, noun);
  return nouns.empty() ? fmt::format("{} {}s", number, noun) : fmt::format("{} {}", number, nouns);
}

std::string RangeText(int64_t least, int64_t most, std::string_view noun) {
  const std::string end =
      noun.empty() ? WithThousands(static_cast<double>(most)) : CountText(most, noun);
  if (least == most) return end;
  return fmt::format("{} to {}", WithThousands(static_cast<double>(least)), end);
}

std::string ByteText(uint64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return value < 99.95 ? fmt::format("{:.1f} {}", value, kUnits[unit])
                       : fmt::format("{:.0f} {}", value, kUnits[unit]);
}

std::string TableText(const std::vector<std::vector<std::string>>& rows, size_t indent) {
  std::vector<std::vector<std::string>> shown = rows;
  for (std::vector<std::string>& row : shown) {
    for (std::string& cell : row) cell = Printable(cell);
  }
  std::vector<size_t> widths;
  for (const std::vector<std::string>& row : shown) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], ColumnsOf(row[i]));
  }
  std::string text;
  for (const std::vector<std::string>& row : shown) {
    std::string line(indent, ' ');
    for (size_t i = 0; i < row.size(); ++i)
      line += row[i] + std::string(widths[i] - ColumnsOf(row[i]) + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::vector<std::vector<std::string>> ShortRows(std::vector<std::vector<std::string>> rows) {
  constexpr size_t kMost = 24, kFirst = 12, kLast = 3;
  if (rows.size() <= kMost + 1) return rows;
  const auto begin = rows.begin() + 1 + kFirst, end = rows.end() - kLast;
  std::map<std::string, int64_t> kinds;
  for (auto row = begin; row != end; ++row) ++kinds[(*row)[1]];
  std::string counts;
  for (const auto& [kind, count] : kinds)
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ",
                          WithThousands(static_cast<double>(count)), kind);
  const int64_t left_out = end - begin;
  rows.insert(rows.erase(begin, end),
              {fmt::format("... {} more", WithThousands(static_cast<double>(left_out))),
               kinds.size() == 1 ? "all " + kinds.begin()->first : counts});
  return rows;
}

std::string DurationText(double seconds) {
  // What took time is never called nothing.
  if (seconds > 0 && seconds < 9.95) return fmt::format("{:.2g} s", std::max(seconds, 0.001));
  const int64_t whole = std::llround(std::max(0.0, seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

namespace {

// In the form of bash and zsh that needs no character that a terminal would obey.
std::string EscapedWord(std::string_view text) {
  std::string word = "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      word += fmt::format("\\{}", c);
    } else if (byte < ' ' || byte >= 0x7f) {
      word += fmt::format("\\x{:02x}", byte);
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace

std::string ShellWord(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+=:@%,";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  if (!IsPrintable(text)) return EscapedWord(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string ShellWords(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + ShellWord(word);
  return text;
}

}  // namespace stoker

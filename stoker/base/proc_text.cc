#include "stoker/base/proc_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>

namespace stoker {

std::string ReadSmallText(const std::filesystem::path& path) {
  constexpr size_t kMost = 1 << 20;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  // Most have a few bytes, and some are read many times a second.
  std::array<char, 4096> part;
  while (in && text.size() < kMost) {
    in.read(part.data(), part.size());
    text.append(part.data(), static_cast<size_t>(in.gcount()));
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  const size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

std::vector<std::string_view> SplitWords(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::string_view rest = Trimmed(text); !rest.empty(); rest = Trimmed(rest)) {
    const size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    words.push_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return words;
}

std::optional<int64_t> ParseCount(std::string_view text) {
  text = Trimmed(text);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<std::string_view> ValueOf(std::string_view text, std::string_view key) {
  for (const std::string_view line : SplitLines(text)) {
    if (!line.starts_with(key)) continue;
    const std::string_view rest = Trimmed(line.substr(key.size()));
    if (rest.starts_with(':')) return Trimmed(rest.substr(1));
  }
  return std::nullopt;
}

std::optional<int64_t> CountOf(std::string_view text, std::string_view key) {
  for (const std::string_view line : SplitLines(text)) {
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ')
      return ParseCount(line.substr(key.size()));
  }
  return std::nullopt;
}

std::optional<int64_t> MeminfoBytes(std::string_view meminfo, std::string_view key) {
  std::optional<std::string_view> value = ValueOf(meminfo, key);
  if (!value) return std::nullopt;
  if (value->ends_with("kB")) value->remove_suffix(2);
  const std::optional<int64_t> kibibytes = ParseCount(*value);
  if (!kibibytes || *kibibytes > std::numeric_limits<int64_t>::max() / 1024) return std::nullopt;
  return *kibibytes * 1024;
}

std::vector<int> ParseCpuList(std::string_view text) {
  constexpr int64_t kMost = 65535;
  std::vector<int> cpus;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const size_t dash = part.find('-');
    const auto first = ParseCount(part.substr(0, dash));
    const auto last = dash == part.npos ? first : ParseCount(part.substr(dash + 1));
    if (!first || !last) continue;
    for (int64_t cpu = *first; cpu <= std::min(*last, kMost); ++cpu)
      cpus.push_back(static_cast<int>(cpu));
  }
  std::ranges::sort(cpus);
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string_view ChosenWord(std::string_view text) {
  const size_t open = text.find('[');
  const size_t close = open == text.npos ? open : text.find(']', open);
  return close == text.npos ? std::string_view() : text.substr(open + 1, close - open - 1);
}

}  // namespace stoker

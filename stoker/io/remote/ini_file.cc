#include "stoker/io/remote/ini_file.h"

#include <algorithm>

namespace stoker {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string_view WithoutComment(std::string_view line) {
  if (line.starts_with('#') || line.starts_with(';')) return {};
  for (size_t i = 1; i < line.size(); ++i) {
    const bool marks = line[i] == '#' || line[i] == ';';
    if (marks && kBlank.find(line[i - 1]) != kBlank.npos) return line.substr(0, i);
  }
  return line;
}

}  // namespace

std::map<std::string, IniSection, std::less<>> ParseIni(std::string_view text) {
  std::map<std::string, IniSection, std::less<>> sections;
  IniSection* section = nullptr;
  std::string above;  // the setting that indented ones belong to
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = WithoutComment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool indented = !line.empty() && kBlank.find(line.front()) != kBlank.npos;
    const std::string_view words = Trimmed(line);
    if (words.starts_with('[') && words.ends_with(']')) {
      std::string_view name = Trimmed(words.substr(1, words.size() - 2));
      if (name.starts_with("profile ")) name = Trimmed(name.substr(name.find(' ')));
      section = &sections[std::string(name)];
      above.clear();
      continue;
    }
    const size_t sign = words.find('=');
    if (section == nullptr || sign == words.npos) continue;
    const std::string key(Trimmed(words.substr(0, sign)));
    const std::string_view value = Trimmed(words.substr(sign + 1));
    if (!indented) above = value.empty() ? key : "";
    (*section)[indented && !above.empty() ? above + "." + key : key] = value;
  }
  return sections;
}

}  // namespace stoker

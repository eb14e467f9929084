#include "stoker/tools/program/help_formatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/tools/program/command_table.h"
#include "stoker/tools/program/terminal.h"

namespace stoker {
namespace {

// A line of the table: an option or command, what it means, and what it is if left out.
struct HelpRow {
  std::string name;
  std::string text;
  std::string default_text;
};

std::string UsageLine(const CommandEntry& command, const std::string& program,
                      const CLI::Option* help) {
  const std::string start = "Usage: " + program + " ";
  std::string usage;
  for (const OptionEntry& option : command.options) {
    if (help != nullptr && option.names.back() == "--" + help->get_lnames().front()) continue;
    if (option.seldom) continue;
    // An option and its value stay on one line.
    std::string part = option.Usage();
    std::ranges::replace(part, ' ', '\x01');
    usage += part + " ";
  }
  if (!command.commands.empty()) usage += "COMMAND ...";
  usage = WrapText(usage, kHelpWidth, start.size());
  std::ranges::replace(usage, '\x01', ' ');
  return start + usage + "\n";
}

std::vector<HelpRow> RowsOf(const CommandEntry& command) {
  std::vector<HelpRow> rows;
  for (const CommandEntry& each : command.commands) rows.push_back({each.name, each.summary, ""});
  for (const OptionEntry& option : command.options) {
    if (!option.seldom) rows.push_back({option.ToText(), option.help, option.default_text});
  }
  return rows;
}

// The line that names the options without a row; empty if there are none.
std::string SeldomLine(const CommandEntry& command) {
  std::string names;
  for (const OptionEntry& option : command.options) {
    if (option.seldom) names += (names.empty() ? "" : ", ") + option.names.back();
  }
  constexpr std::string_view kBegin = "  ... ";
  return names.empty() ? ""
                       : fmt::format("{}{}\n", kBegin,
                                     WrapText(names + " (stoker man)", kHelpWidth, kBegin.size()));
}

std::string FormatRow(const HelpRow& row, size_t text_column) {
  std::string line = fmt::format("  {:<{}}", row.name, text_column - 2) +
                     WrapText(row.text, kHelpWidth, text_column);
  if (!row.default_text.empty()) {
    const std::string shown = "[" + row.default_text + "]";
    const size_t last_line = line.rfind('\n') == std::string::npos ? 0 : line.rfind('\n') + 1;
    size_t used = line.size() - last_line;
    if (used + 2 + shown.size() > kHelpWidth) {
      line += '\n';
      used = 0;
    }
    line += fmt::format("{:>{}}", shown, std::max(kHelpWidth - used, shown.size()));
  }
  return line + "\n";
}

}  // namespace

std::string WrapText(std::string_view text, size_t width, size_t indent) {
  std::string out;
  size_t column = indent;
  bool line_is_empty = true;
  const auto break_line = [&] {
    out += '\n' + std::string(indent, ' ');
    column = indent;
    line_is_empty = true;
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (!word.empty()) {
      if (!line_is_empty && column + 1 + word.size() > width) break_line();
      if (!line_is_empty) out += ' ';
      column += word.size() + (line_is_empty ? 0 : 1);
      out += word;
      line_is_empty = false;
    }
    if (end < text.size() && text[end] == '\n') break_line();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string WithHeadings(std::string_view help, int descriptor) {
  std::string out;
  while (!help.empty()) {
    std::string_view line = help.substr(0, help.find('\n') + 1);
    if (line.empty()) line = help;  // the last one, without a line break
    help.remove_prefix(line.size());
    for (const std::string_view heading : {"Usage:", "Example:", "Exit:"}) {
      if (!line.starts_with(heading)) continue;
      out += Styled(descriptor, Style::kHeading, heading);
      line.remove_prefix(heading.size());
      break;
    }
    out += line;
  }
  return out;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string program,
                                     CLI::AppFormatMode) const {
  const CommandEntry command = DescribeCommand(*app);
  std::string help = UsageLine(command, program, app->get_help_ptr());
  help += WrapText(command.about, kHelpWidth, 0) + "\n";
  const std::vector<HelpRow> rows = RowsOf(command);
  size_t widest = 0;
  for (const HelpRow& row : rows) widest = std::max(widest, row.name.size());
  for (const HelpRow& row : rows) help += FormatRow(row, widest + 4);
  help += SeldomLine(command);
  if (!command.footer.empty()) help += command.footer + "\n";
  return help;
}

}  // namespace stoker

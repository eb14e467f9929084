#include "stoker/tools/help_formatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/tools/terminal.h"

namespace stoker {
namespace {

// A line of the table: an option or command, what it means, and what it is if left out.
struct HelpRow {
  std::string name;
  std::string text;
  std::string default_text;
};

std::string OptionName(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(/*positional=*/true);
  std::string name;
  for (const std::string& letter : option.get_snames()) name += fmt::format("-{}, ", letter);
  name += "--" + option.get_lnames().front();
  if (option.get_items_expected_max() == 0) return name;
  const bool may_be_left_out = option.get_items_expected_min() == 0;
  return name + " " +
         (may_be_left_out ? "[" + option.get_type_name() + "]" : option.get_type_name());
}

bool MayRepeat(const CLI::Option& option) {
  return option.get_items_expected_max() > 1 ||
         option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
}

std::string UsageOf(const CLI::Option& option) {
  std::string name = OptionName(option);
  if (option.get_positional()) {
    if (MayRepeat(option)) name += "...";
    return option.get_required() ? name : "[" + name + "]";
  }
  if (MayRepeat(option)) name += " ...";
  return option.get_required() ? name : "[" + name + "]";
}

std::vector<const CLI::Option*> OptionsIn(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) options.push_back(option);
  }
  // Arguments first, --help last.
  std::ranges::stable_sort(options, {}, [&app](const CLI::Option* option) {
    return option->get_positional() ? 0 : option == app.get_help_ptr() ? 2 : 1;
  });
  return options;
}

std::vector<const CLI::App*> CommandsIn(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
}

std::string UsageLine(const CLI::App& app, const std::string& program) {
  const std::string start = "Usage: " + program + " ";
  std::string usage;
  for (const CLI::Option* option : OptionsIn(app)) {
    if (option == app.get_help_ptr()) continue;
    // An option and its value stay on one line.
    std::string part = UsageOf(*option);
    std::ranges::replace(part, ' ', '\x01');
    usage += part + " ";
  }
  if (!CommandsIn(app).empty()) usage += "COMMAND ...";
  usage = WrapText(usage, kHelpWidth, start.size());
  std::ranges::replace(usage, '\x01', ' ');
  return start + usage + "\n";
}

std::vector<HelpRow> RowsOf(const CLI::App& app) {
  std::vector<HelpRow> rows;
  for (const CLI::App* command : CommandsIn(app)) {
    const std::string about = command->get_description();
    rows.push_back({command->get_name(), about.substr(0, about.find('\n')), ""});
  }
  for (const CLI::Option* option : OptionsIn(app)) {
    rows.push_back({OptionName(*option), option->get_description(), option->get_default_str()});
  }
  return rows;
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
  std::string help = UsageLine(*app, program);
  help += WrapText(app->get_description(), kHelpWidth, 0) + "\n";
  const std::vector<HelpRow> rows = RowsOf(*app);
  size_t widest = 0;
  for (const HelpRow& row : rows) widest = std::max(widest, row.name.size());
  for (const HelpRow& row : rows) help += FormatRow(row, widest + 4);
  if (!app->get_footer().empty()) help += app->get_footer() + "\n";
  return help;
}

}  // namespace stoker

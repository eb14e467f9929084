#include "stoker/tools/program/command_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace stoker {
namespace {

// Arguments that are paths, and values of options that are.
constexpr std::array<std::string_view, 11> kPaths = {
    "RECIPE", "RUN", "RUN|PID", "FILE", "SOURCE", "DEST", "FROM", "DIR", "OUT", "PNG", "PATH"};

OptionEntry DescribeOption(const CLI::Option& option) {
  OptionEntry entry;
  entry.positional = option.get_positional();
  if (entry.positional) {
    entry.names.push_back(option.get_name(/*positional=*/true));
    entry.after_dashes = option.get_type_name() == kAfterDashes;
  } else {
    for (const std::string& letter : option.get_snames()) entry.names.push_back("-" + letter);
    if (!option.get_lnames().empty()) entry.names.push_back("--" + option.get_lnames().front());
    if (option.get_items_expected_max() > 0) entry.value = option.get_type_name();
    entry.value_optional = option.get_items_expected_min() == 0 && !entry.value.empty();
  }
  entry.repeats = option.get_items_expected_max() > 1 ||
                  option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  entry.required = option.get_required();
  entry.seldom = option.get_group() == kSeldomGroup;
  entry.help = option.get_description();
  entry.default_text = option.get_default_str();
  return entry;
}

}  // namespace

std::string OptionEntry::ToText() const {
  const std::string name = fmt::format("{}{}", after_dashes ? "-- " : "", fmt::join(names, ", "));
  if (value.empty()) return name;
  return fmt::format("{} {}", name, value_optional ? "[" + value + "]" : value);
}

std::string OptionEntry::Usage() const {
  std::string usage = ToText();
  if (repeats) usage += positional ? "..." : " ...";
  return required ? usage : "[" + usage + "]";
}

std::vector<std::string> OptionEntry::Choices() const {
  std::vector<std::string> choices;
  if (value.find('|') == std::string::npos) return choices;
  for (size_t begin = 0; begin <= value.size();) {
    const size_t end = std::min(value.find('|', begin), value.size());
    choices.push_back(value.substr(begin, end - begin));
    begin = end + 1;
  }
  return choices;
}

bool OptionEntry::TakesPath() const {
  return std::ranges::find(kPaths, positional ? names.front() : value) != kPaths.end();
}

CommandEntry DescribeCommand(const CLI::App& app) {
  CommandEntry entry;
  entry.name = app.get_name();
  entry.about = app.get_description();
  entry.summary = entry.about.substr(0, entry.about.find('\n'));
  entry.footer = app.get_footer();
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) options.push_back(option);
  }
  std::ranges::stable_sort(options, {}, [&app](const CLI::Option* option) {
    return option->get_positional() ? 0 : option == app.get_help_ptr() ? 2 : 1;
  });
  for (const CLI::Option* option : options) entry.options.push_back(DescribeOption(*option));
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); })) {
    entry.commands.push_back(DescribeCommand(*command));
  }
  return entry;
}

}  // namespace stoker

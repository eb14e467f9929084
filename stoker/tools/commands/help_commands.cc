#include "stoker/tools/commands/help_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "stoker/data/options/registry.h"
#include "stoker/data/pack/pack_format.h"
#include "stoker/data/recipe/recipe.h"
#include "stoker/io/atomic_file.h"
#include "stoker/tools/commands/completion.h"
#include "stoker/tools/commands/man_page.h"
#include "stoker/tools/program/command_table.h"
#include "stoker/tools/program/help_formatter.h"
#include "stoker/tools/program/print.h"

namespace stoker {
namespace {

struct HelpArguments {
  std::string command;
};

struct ManArguments {
  std::string command;
  std::string to;
};

struct CompletionArguments {
  std::string shell;
  std::string to;
};

Status CheckCommand(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CommandEntry& command : DescribeCommand(app).commands) names.push_back(command.name);
  if (name.empty() || std::ranges::find(names, name) != names.end()) return OkStatus();
  const std::string nearest = NearestName(name, names);
  if (nearest.empty())
    return InvalidArgument("unknown command '{}'; known are {}", name, fmt::join(names, ", "));
  return InvalidArgument("unknown command '{}'; did you mean '{}'?", name, nearest);
}

Status RunHelp(const CLI::App& app, const HelpArguments& arguments) {
  STOKER_RETURN_IF_ERROR(CheckCommand(app, arguments.command));
  const std::string help =
      arguments.command.empty()
          ? app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal)
          : app.get_subcommand(arguments.command)->help("stoker");
  return PrintResult(WithHeadings(help, STDOUT_FILENO));
}

// Writes into a folder that need not be there yet.
Status WriteInto(const std::filesystem::path& file, const std::string& text) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  return WriteFileAtomically(file.string(), text);
}

Status RunMan(const CLI::App& app, const ManArguments& arguments) {
  STOKER_RETURN_IF_ERROR(CheckCommand(app, arguments.command));
  const CommandEntry program = DescribeCommand(app);
  std::vector<const CommandEntry*> pages;
  if (arguments.command.empty()) pages.push_back(&program);
  for (const CommandEntry& command : program.commands) {
    const bool all = arguments.command.empty() && !arguments.to.empty();
    if (all || command.name == arguments.command) pages.push_back(&command);
  }
  if (arguments.to.empty()) return PrintResult(ManPage(program, *pages.front()));
  for (const CommandEntry* page : pages) {
    STOKER_RETURN_IF_ERROR(
        WriteInto(std::filesystem::path(arguments.to) / ManPageName(program, *page),
                  ManPage(program, *page)));
  }
  return OkStatus();
}

Status RunCompletion(const CLI::App& app, const CompletionArguments& arguments) {
  CompletionWords words;
  words.values["--ops"] = OperatorRegistry::Known().Names();
  for (const PackFormat& format : PackFormats()) words.values["--format"].emplace_back(format.name);
  words.values["--check-data"] = {"places", "full"};
  const std::string script = CompletionScript(arguments.shell, DescribeCommand(app), words);
  return arguments.to.empty() ? PrintResult(script) : WriteInto(arguments.to, script);
}

void AddKeys(const ConfigNode& node, const std::string& prefix, std::set<std::string>& keys) {
  for (const ConfigNode::Entry& entry : node.entries) {
    const std::string key = prefix.empty() ? entry.key : prefix + "." + entry.key;
    keys.insert(key);
    AddKeys(entry.value, key, keys);
  }
}

void AddHelpCommand(Program& program, const std::string& note) {
  const CLI::App& all = program.app();
  auto [app, arguments] = program.Add<HelpArguments>(
      "help", "Explains a command, or lists them all.",
      "Example: stoker help train\nExit: 0 printed, 2 wrong usage",
      [&all](const HelpArguments& given) { return RunHelp(all, given); });
  app.add_option("COMMAND", arguments.command, "the command to explain")->type_name("");
  if (note.empty()) return;
  CLI::App& list = *app.get_parent();
  list.footer(WrapText(note, kHelpWidth, 0) + "\n" + list.get_footer());
}

void AddManCommand(Program& program) {
  const CLI::App& all = program.app();
  auto [app, arguments] = program.Add<ManArguments>(
      "man",
      "Prints the manual page of stoker or of a command.\n"
      "The pages are made from the same texts as --help; `cmake --install` puts them where man "
      "finds them.",
      "Example: stoker man train | man -l -\nExit: 0 written, 1 failed, 2 wrong usage",
      [&all](const ManArguments& given) { return RunMan(all, given); });
  app.add_option("COMMAND", arguments.command, "the command that the page is about")->type_name("");
  app.add_option("--to", arguments.to, "write all pages, or that one, into this folder")
      ->type_name("DIR");
}

bool IsAsked(std::string_view what) {
  return std::ranges::find(kAskedWords, what, &AskedWords::what) != kAskedWords.end();
}

void AddCompletionCommand(Program& program,
                          std::function<Status(const std::string& what)> print_words) {
  const CLI::App& all = program.app();
  auto [app, arguments] = program.Add<CompletionArguments>(
      "completion",
      "Prints a script by which a shell completes stoker's commands.\n"
      "bash: eval \"$(stoker completion bash)\" in ~/.bashrc; zsh: the same in ~/.zshrc, after "
      "compinit; fish: stoker completion fish | source in config.fish. `cmake --install` puts the "
      "scripts where the shells find them. Of the other words each prints what scripts ask for; "
      "keys: what --set takes.",
      "Example: stoker completion fish --to ~/.config/fish/completions/stoker.fish\n"
      "Exit: 0 written, 1 failed, 2 wrong usage",
      [&all, print_words = std::move(print_words)](const CompletionArguments& given) {
        return IsAsked(given.shell) ? print_words(given.shell) : RunCompletion(all, given);
      });
  std::vector<std::string> shells(kCompletionShells.begin(), kCompletionShells.end());
  for (const AskedWords& asked : kAskedWords) shells.emplace_back(asked.what);
  const std::string help = fmt::format("one of: {}", fmt::join(shells, ", "));
  app.add_option("SHELL", arguments.shell, help)
      ->type_name("")
      ->required()
      ->check(CLI::IsMember(std::move(shells)).description(""));
  app.add_option("--to", arguments.to, "write it into this file")->type_name("FILE");
}

}  // namespace

std::vector<std::string> SettableKeys(const ConfigNode& node) {
  std::set<std::string> keys;
  AddKeys(node, "", keys);
  return {keys.begin(), keys.end()};
}

std::vector<std::string> DataKeys() {
  std::vector<std::string> keys;
  for (const Option& option : DescribeDataSection().options) keys.push_back("data." + option.name);
  return keys;
}

Status PrintWords(const std::vector<std::string>& words) {
  return words.empty() ? OkStatus() : PrintResult(fmt::format("{}\n", fmt::join(words, "\n")));
}

void AddHelpCommands(Program& program, std::function<Status(const std::string& what)> print_words,
                     const std::string& note) {
  AddHelpCommand(program, note);
  AddManCommand(program);
  AddCompletionCommand(program, std::move(print_words));
}

}  // namespace stoker

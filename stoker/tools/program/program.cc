#include "stoker/tools/program/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <new>
#include <string_view>
#include <system_error>

#include "stoker/base/config.h"
#include "stoker/base/default_budget.h"
#include "stoker/base/log.h"
#include "stoker/base/problems.h"
#include "stoker/base/short_text.h"
#include "stoker/data/recipe/plugins.h"
#include "stoker/tools/program/command_table.h"
#include "stoker/tools/program/exit_code.h"
#include "stoker/tools/program/exit_guard.h"
#include "stoker/tools/program/help_formatter.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/output_file.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/program/terminal.h"

namespace stoker {
namespace {

constexpr const char* kProgramAbout =
    "Trains models from a recipe and keeps the accelerator fed while it does.";
constexpr const char* kProgramFooter =
    "Example: stoker train recipes/fashion-mnist.yaml\n"
    "Exit: 0 done, 1 failed, 2 wrong usage or recipe, 130 SIGINT, 143 SIGTERM";

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

std::string DidYouMean(std::string_view wanted, const std::vector<std::string>& names) {
  const std::string nearest = NearestName(wanted, names);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

// What is wrong with an argument that no option or command took.
std::string DescribeExtra(const CLI::App& app, const std::string& extra) {
  const std::vector<std::string> commands = CommandNames(app);
  if (extra.starts_with("-")) {
    const std::string name = extra.substr(0, extra.find('='));
    if (name == "--allow-code") {
      return fmt::format("'{}' runs no code of plug-ins, so it has no --allow-code; leave it out",
                         app.get_name());
    }
    std::string hint = DidYouMean(name, OptionNames(app));
    if (hint.empty() && app.get_option_no_throw("--set") != nullptr)
      hint = "; --set changes a key of the recipe, such as --set train.epochs=1";
    return fmt::format("unknown option '{}'{}", ShortText(name), hint);
  }
  if (!commands.empty()) {
    return fmt::format("unknown command '{}'{}", ShortText(extra), DidYouMean(extra, commands));
  }
  return fmt::format("'{}' is one argument too many", ShortText(extra));
}

std::string_view WhoseDefect() {
  return LoadedPlugins().items.empty() ? "this is a defect of Stoker, please report it"
                                       : "look for it in the plug-ins of the recipe first";
}

// Whatever is thrown below, out of memory above all, ends in a message and not in a crash.
Status Caught(const std::function<Status()>& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("out of memory; a smaller batch or fewer threads need less");
  } catch (const std::filesystem::filesystem_error& error) {
    return FailedPrecondition("{}; check that the path exists and who may use it", error.what());
  } catch (const std::system_error& error) {
    return ResourceExhausted(
        "the operating system refuses: {}; use fewer threads or raise its limits (ulimit -a)",
        error.what());
  } catch (const std::exception& error) {
    return Internal("{}; {}", error.what(), WhoseDefect());
  } catch (...) {
    return Internal("something was thrown that is no std::exception; {}", WhoseDefect());
  }
}

// What the user of this command can do about the memory budget, before the command has read a
// recipe (data/recipe/memory_options.h adds what that may say).
void SayHowToRaiseTheBudgetIn(const CLI::App& command) {
  SetHowToRaiseTheBudget("allow the container more memory, a quarter of which is the budget");
  const bool of_a_step = command.get_name() == "batch-find";  // there it limits a training step
  if (command.get_option_no_throw("--memory") != nullptr && !of_a_step)
    AddWayToRaiseTheBudget("--memory");
}

// What messages call the option: --run, or RECIPE.
std::string NameOf(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
}

// CLI11 reads 0x10 and 0b1 as numbers, and 010 as eight.
bool IsOtherThanDecimal(std::string_view number) {
  if (number.starts_with('-') || number.starts_with('+')) number.remove_prefix(1);
  return number.size() > 1 && number[0] == '0' && number[1] != '.' && number[1] != 'e' &&
         number[1] != 'E';
}

// An empty value comes of a variable that is not set, and would count as an option left out.
Status CheckValues(const CLI::App& command) {
  constexpr std::string_view kNumbers[] = {"N", "S", "Q", "W", "K", "LR", "PIXELS"};
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_expected_min() == 0) continue;  // a flag, or one whose value may be left out
    const bool number = std::ranges::count(kNumbers, option->get_type_name()) > 0;
    for (const std::string& value : option->results()) {
      const std::string what = value.empty() ? "is empty; give a value"
                               : number && IsOtherThanDecimal(value)
                                   ? fmt::format("{} is not a decimal number", ShortText(value))
                                   : "";
      if (what.empty()) continue;
      return InvalidArgument("{} {}; `stoker {} --help` explains", NameOf(*option), what,
                             command.get_name());
    }
  }
  return OkStatus();
}

int Reported(const Status& status) {
  const int exit_code = ExitCodeOf(status);
  SayOutcome(exit_code, [&] {
    for (const std::string& problem : ProblemsIn(status)) Log(LogLevel::kError, problem);
  });
  return exit_code;
}

}  // namespace

Program::Program() : app_(kProgramAbout, "stoker") {
  UseLogColors();
  app_.formatter(std::make_shared<HelpFormatter>());
  app_.set_help_flag("-h,--help", "this text");
  app_.set_version_flag("--version", std::string("stoker " STOKER_VERSION),
                        "the version, and nothing else");
  app_.footer(kProgramFooter);
  app_.require_subcommand(0, 1);
}

CLI::App& Program::AddApp(const std::string& name, const std::string& about,
                          const std::string& footer, std::function<Status()> run) {
  CLI::App* app = app_.add_subcommand(name, about);
  app->footer(footer);
  commands_.emplace_back(app, std::move(run));
  return *app;
}

// The option is only there for --help, manual pages and completions: what it would take is refused.
void Program::TakeWordsAfterDashes(CLI::App& app, const std::string& name, const std::string& help,
                                   std::optional<std::vector<std::string>>& words) {
  const auto refuse = [name](const std::vector<std::string>& extra) -> bool {
    throw CLI::ValidationError(fmt::format("'{}' is one argument too many; {} follows `--`",
                                           ShortText(extra.front()), name));
  };
  app.add_option(name, CLI::callback_t(refuse), help)
      ->type_name(kAfterDashes)
      ->expected(1, CLI::detail::expected_max_vector_size);
  after_dashes_.emplace_back(&app, &words);
}

int Program::CutAtDashes(int argc, char** argv) {
  for (const auto& [app, words] : after_dashes_) {
    if (argc < 2 || app->get_name() != argv[1]) continue;
    char** const end = argv + argc;
    char** const dashes =
        std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; });
    if (dashes == end) continue;
    words->emplace(dashes + 1, end);
    return static_cast<int>(dashes - argv);
  }
  return argc;
}

int Program::Run(int argc, char** argv) {
  try {
    app_.parse(CutAtDashes(argc, argv), argv);
  } catch (const CLI::CallForVersion& version) {
    return Reported(PrintResult(fmt::format("{}\n", version.what())));
  } catch (const CLI::CallForHelp&) {
    return Reported(PrintResult(WithHeadings(app_.help(), STDOUT_FILENO)));
  } catch (const CLI::ParseError& error) {
    return Reported(InvalidArgument("{}", UsageError(error)));
  }
  for (const auto& [app, run] : commands_) {
    if (!app->parsed()) continue;
    SayHowToRaiseTheBudgetIn(*app);
    const CLI::App& command = *app;
    const std::function<Status()>& run_command = run;
    const ExitGuard guard;
    return Reported(Caught([&]() -> Status {
      STOKER_RETURN_IF_ERROR(CheckValues(command));
      STOKER_RETURN_IF_ERROR(CheckOutputs(command));
      return run_command();
    }));
  }
  PrintProgress(stderr, WithHeadings(app_.help(), STDERR_FILENO));
  return kExitUsage;
}

std::string Program::UsageError(const CLI::ParseError& error) const {
  const CLI::App* app = &app_;
  std::string command = "stoker";
  for (const auto& [candidate, run] : commands_) {
    if (!candidate->parsed()) continue;
    app = candidate;
    command += " " + candidate->get_name();
  }
  std::string what = error.what();
  const std::vector<std::string> extras = app_.remaining(/*recurse=*/true);
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && !extras.empty()) {
    what = DescribeExtra(*app, extras.front());
  }
  std::ranges::replace(what, '\n', ' ');
  constexpr size_t kMost = 400;  // CLI11 repeats the value whole
  return fmt::format("{}; `{} --help` explains", ShortText(what, kMost), command);
}

int RunProgram(int argc, char** argv, const std::function<void(Program&)>& add_commands) {
  int exit_code = 0;
  const Status status = Caught([&] {
    Program program;
    add_commands(program);
    exit_code = program.Run(argc, argv);
    return OkStatus();
  });
  return status.ok() ? exit_code : Reported(status);
}

}  // namespace stoker

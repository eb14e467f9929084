// The command line of both executables: parsing, --help, --version, error lines and exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

class Program {
 public:
  Program();

  // Adds a command.
  //   about   what it does; the first line is its entry in `stoker --help`
  //   footer  example and exit codes, shown below the options
  // The caller adds the options, bound to `arguments`, which live as long as the program and are
  // passed to `run`.
  template <typename Arguments>
  struct Command {
    CLI::App& app;
    Arguments& arguments;
  };
  template <typename Arguments>
  Command<Arguments> Add(const std::string& name, const std::string& about,
                         const std::string& footer, std::function<Status(const Arguments&)> run) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App& app = AddApp(name, about, footer, [run, arguments] { return run(*arguments); });
    return {app, *arguments};
  }

  // Lets a command take another program's command line: all words after the first `--`, as they
  // are. `words` lives as long as the program; empty if there is no `--`.
  void TakeWordsAfterDashes(CLI::App& app, const std::string& name, const std::string& help,
                            std::optional<std::vector<std::string>>& words);

  // Returns the commands and options added so far.
  const CLI::App& app() const { return app_; }

  // Parses, runs the command and returns the exit code. An error goes to standard error as one
  // line, "stoker: error: ...", in red on a terminal. Nothing is thrown.
  int Run(int argc, char** argv);

 private:
  CLI::App& AddApp(const std::string& name, const std::string& about, const std::string& footer,
                   std::function<Status()> run);
  std::string UsageError(const CLI::ParseError& error) const;
  // Takes the words after `--` from a command line if its command wants them; returns how many
  // words are left.
  int CutAtDashes(int argc, char** argv);

  CLI::App app_;
  std::vector<std::pair<CLI::App*, std::function<Status()>>> commands_;
  std::vector<std::pair<const CLI::App*, std::optional<std::vector<std::string>>*>> after_dashes_;
};

// What main does: makes the program with `add_commands`, runs it and returns its exit code. What is
// thrown while commands are added, out of memory for one, is reported as an error too.
int RunProgram(int argc, char** argv, const std::function<void(Program&)>& add_commands);

}  // namespace stoker

// The command line of both executables: parsing, --help, --version, error lines and exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
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

  // Returns the commands and options added so far.
  const CLI::App& app() const { return app_; }

  // Parses, runs the command and returns the exit code. An error goes to standard error as one
  // line, "stoker: error: ...", in red on a terminal. Nothing is thrown.
  int Run(int argc, char** argv);

 private:
  CLI::App& AddApp(const std::string& name, const std::string& about, const std::string& footer,
                   std::function<Status()> run);
  std::string UsageError(const CLI::ParseError& error) const;

  CLI::App app_;
  std::vector<std::pair<CLI::App*, std::function<Status()>>> commands_;
};

}  // namespace stoker

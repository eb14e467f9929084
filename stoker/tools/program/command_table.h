// The commands and options of a program as data: what --help, completions and manual pages are made
// from, so that none of them can say something else than the command line takes.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace stoker {

struct OptionEntry {
  std::vector<std::string> names;  // "-h", "--help"; of an argument its name, "FILE"
  bool positional = false;
  std::string value;            // "N", "step|epoch|time"; empty for flags and arguments
  bool value_optional = false;  // "--ops" and "--ops NAME"
  bool repeats = false;
  bool required = false;
  std::string help;
  std::string default_text;  // empty where there is nothing to say

  // "-h, --help", "--set KEY=VALUE", "--ops [NAME]", "FILE"
  std::string ToText() const;
  // As in a usage line: "FILE...", "[--set KEY=VALUE ...]".
  std::string Usage() const;
  // "step", "epoch", "time" where the value is one of these; empty elsewhere.
  std::vector<std::string> Choices() const;
  // Whether a path is wanted.
  bool TakesPath() const;
};

struct CommandEntry {
  std::string name;                  // "train"; of the program itself "stoker"
  std::string summary;               // the first line of what it does
  std::string about;                 // all of it
  std::string footer;                // lines "Example: ..." and "Exit: ..."
  std::vector<OptionEntry> options;  // arguments first, --help last
  std::vector<CommandEntry> commands;
};

// What CLI11 knows of a command: options of a group without a name are hidden.
CommandEntry DescribeCommand(const CLI::App& app);

}  // namespace stoker

// The commands and options of a program as data, from which --help, completions and manual pages
// are generated, so that they always match the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace stoker {

// The type's name of an argument that stands for the words after `--`.
inline constexpr const char* kAfterDashes = "--";

// The group of options that are seldom wanted. --help, which fits a screen, has one line for all of
// them; manual pages and completions have them as the others.
inline constexpr const char* kSeldomGroup = "seldom";

struct OptionEntry {
  std::vector<std::string> names;  // "-h", "--help"; of an argument its name, "FILE"
  bool positional = false;
  bool after_dashes = false;    // of an argument: it follows `--`
  std::string value;            // "N", "step|epoch|time"; empty for flags and arguments
  bool value_optional = false;  // "--ops" and "--ops NAME"
  bool repeats = false;
  bool required = false;
  bool seldom = false;  // of kSeldomGroup
  std::string help;
  std::string default_text;  // may be empty

  // "-h, --help", "--set KEY=VALUE", "--ops [NAME]", "FILE"
  std::string ToText() const;
  // Returns its part of a usage line: "FILE...", "[--set KEY=VALUE ...]".
  std::string Usage() const;
  // Returns "step", "epoch", "time" if the value is one of these; else empty.
  std::vector<std::string> Choices() const;
  // Returns whether the value is a path.
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

// Returns the entry of a command of CLI11, without options of groups without a name, which are
// hidden.
CommandEntry DescribeCommand(const CLI::App& app);

}  // namespace stoker

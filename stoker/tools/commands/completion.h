// Completion of the command line in shells, made from what --help is made from.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/tools/program/command_table.h"

namespace stoker {

// What a script needs beside the table of commands.
struct CompletionWords {
  // What the value of an option is one of, by the option: {"--ops", {"batch", ...}}.
  std::map<std::string, std::vector<std::string>> values;
};

// What a script asks the program for when it is used, since only the trainer knows it:
// `stoker completion keys` and the like prints them, one a line.
struct AskedWords {
  std::string_view option;  // that takes one
  std::string_view what;    // the argument of `stoker completion`
  bool is_key = false;      // "=" follows
};
inline constexpr std::array<AskedWords, 3> kAskedWords = {
    {{"--set", "keys", true}, {"--model", "models"}, {"--models", "kinds"}}};

inline constexpr std::array<std::string_view, 3> kCompletionShells = {"bash", "zsh", "fish"};

// A script that the shell reads at its start or finds in its folder of completions. It completes
// commands, options, values that are one of a few words, and paths; for kAskedWords it asks the
// program.
// REQUIRES: `shell` is one of kCompletionShells.
std::string CompletionScript(std::string_view shell, const CommandEntry& program,
                             const CompletionWords& words);

}  // namespace stoker

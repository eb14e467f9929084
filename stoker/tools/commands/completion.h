// Scripts for completion in shells, generated from the table of commands, as --help is.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/tools/program/command_table.h"

namespace stoker {

// The words that a script needs beside the table of commands.
struct CompletionWords {
  // The possible values of options: {"--ops", {"batch", ...}}.
  std::map<std::string, std::vector<std::string>> values;
};

// Words that a script gets from the program at run time, because only the trainer knows them:
// `stoker completion keys` and similar calls print them, one a line.
struct AskedWords {
  std::string_view option;  // that takes one
  std::string_view what;    // the argument of `stoker completion`
  bool is_key = false;      // "=" follows
};
inline constexpr std::array<AskedWords, 3> kAskedWords = {
    {{"--set", "keys", true}, {"--model", "models"}, {"--models", "kinds"}}};

inline constexpr std::array<std::string_view, 3> kCompletionShells = {"bash", "zsh", "fish"};

// Returns a script for the shell's start or its folder of completions. It completes commands,
// options, values from a fixed list, and paths; for kAskedWords it calls the program. REQUIRES:
// `shell` is one of kCompletionShells.
std::string CompletionScript(std::string_view shell, const CommandEntry& program,
                             const CompletionWords& words);

}  // namespace stoker

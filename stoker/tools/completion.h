// Completion of the command line in shells, made from what --help is made from.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/tools/command_table.h"

namespace stoker {

// What a script needs beside the table of commands.
struct CompletionWords {
  std::vector<std::string> operators;  // for `inspect --ops`
};

inline constexpr std::array<std::string_view, 3> kCompletionShells = {"bash", "zsh", "fish"};

// A script that the shell reads at its start or finds in its folder of completions. It completes
// commands, options, values that are one of a few words, and paths; for --set it asks
// `stoker completion keys`.
// REQUIRES: `shell` is one of kCompletionShells.
std::string CompletionScript(std::string_view shell, const CommandEntry& program,
                             const CompletionWords& words);

}  // namespace stoker

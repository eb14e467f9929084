// `stoker help`, `stoker man` and `stoker completion`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/tools/program/program.h"

namespace stoker {

// Returns the keys below `node` that --set accepts, such as "train.epochs": those of nested maps.
// Does not list the content of lists, nor other kinds than the current one.
std::vector<std::string> SettableKeys(const ConfigNode& node);

// Returns those of the section `data`, without its pipelines.
std::vector<std::string> DataKeys();

// Prints them, one a line, for completions.
Status PrintWords(const std::vector<std::string>& words);

// Call after all other commands were added.
//   print_words  implements `stoker completion WHAT`, for each `what` of kAskedWords (completion.h)
//   note         stands in the program's help before its example; empty: none
void AddHelpCommands(Program& program, std::function<Status(const std::string& what)> print_words,
                     const std::string& note);

}  // namespace stoker

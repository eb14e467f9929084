// `stoker help`, `stoker man` and `stoker completion`: what the program says of itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stoker/base/config.h"
#include "stoker/base/status.h"
#include "stoker/tools/program/program.h"

namespace stoker {

// The keys that --set takes below `node`, such as "train.epochs": those of maps within maps. What a
// list or a choice of one kind holds is not listed beyond the kind that stands there.
std::vector<std::string> SettableKeys(const ConfigNode& node);

// Those of the section `data`, but for its pipelines.
std::vector<std::string> DataKeys();

// Prints them, one a line: what completions ask for. Of none nothing.
Status PrintWords(const std::vector<std::string>& words);

// Call after all other commands were added.
//   print_words  what `stoker completion WHAT` does, for each `what` of kAskedWords (completion.h)
void AddHelpCommands(Program& program, std::function<Status(const std::string& what)> print_words);

}  // namespace stoker

// What `stoker top` prints a second where there is no terminal: a line for people, or for programs.
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/json.h"
#include "stoker/tools/top/top_history.h"

namespace stoker {

// Returns one line, safe to print, without its end: "12:34:56  step 120 of 600  loss 0.4312 ...".
//   time  what it begins with
// REQUIRES: `history` has a sample.
std::string TopLine(const TopHistory& history, std::string_view time);

// Returns the same as an object. docs/top.md has the schema.
//   unix_seconds  when the last sample was taken
Json TopJson(const TopHistory& history, double unix_seconds);

}  // namespace stoker

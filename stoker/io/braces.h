// Several names in one text, as shells write them: "train-{000..146}.tar", "{a,b{0..9}}.csv".
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Returns whether `pattern` has a brace that no backslash precedes.
bool HasBraces(const std::string& pattern);

// Returns all texts that `pattern` expands to, in the order in which they are written; they may
// still be patterns of io/glob.h, and keep their backslashes. Braces nest to any depth:
//   {a,b,c}     one of these; each may be empty or have braces of its own
//   {07..12}    the numbers from the one to the other, up or down; if one of the two has a leading
//               zero all have as many digits as the longer
// Braces with neither a comma nor two dots, such as {x}, stand for themselves.
// Errors: kInvalidArgument for braces that do not match, and for more than a million texts.
Result<std::vector<std::string>> ExpandBraces(const std::string& pattern);

}  // namespace stoker

// Several names in one text, as shells write them: "train-{000..146}.tar", "{a,b{0..9}}.csv".
#pragma once

#include <string>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

// Whether `pattern` has a brace that no backslash stands in front of.
bool HasBraces(const std::string& pattern);

// All texts that `pattern` stands for, in the order in which they are written; they may be patterns
// of io/glob.h still, and keep their backslashes. Nested to any depth:
//   {a,b,c}     one of these; each may be empty or have braces of its own
//   {07..12}    the numbers from the one to the other, up or down; where one of the two has a
//               leading zero all have as many digits as the longer
// Braces with neither a comma nor two dots, such as {x}, stand for themselves.
// Errors: kInvalidArgument for braces that do not match, and for more than a million texts.
Result<std::vector<std::string>> ExpandBraces(const std::string& pattern);

}  // namespace stoker

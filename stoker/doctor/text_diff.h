// The lines in which two texts differ.
#pragma once

#include <string>
#include <string_view>

namespace stoker {

// Returns the lines that differ, with up to `context` equal ones around them, as `diff -u` shows
// them: "-" before what is gone, "+" before what is new, " " before what stays, "..." where equal
// lines are left out. Empty for equal texts. Cost: lines of one times lines of the other.
std::string DiffOf(std::string_view before, std::string_view after, int context = 2);

}  // namespace stoker

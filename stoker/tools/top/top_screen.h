// The screen of `stoker top`: a pure function of what was seen and of the size of the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stoker/tools/program/glyphs.h"
#include "stoker/tools/top/top_history.h"

namespace stoker {

struct ScreenSize {
  size_t columns = 80, rows = 24;
};

// Returns at most `rows` lines of at most `columns` columns, safe to print; the first is the
// heading. What matters most gets its rows first, in the order of the priorities of sections
// (screen_section_internal.h); the curve of the loss gets what is left.
// REQUIRES: `history` has a sample.
std::vector<std::string> TopScreen(const TopHistory& history, ScreenSize size, Glyphs glyphs);

}  // namespace stoker

// What standard output and standard error are connected to.
#pragma once

#include <cstddef>

namespace stoker {

// True where the file descriptor is a terminal that can redraw a line (TERM is not "dumb").
bool IsTerminal(int descriptor);

// True where colours may be used on it: a terminal, and NO_COLOR (no-color.org) is not set or
// empty.
bool UseColor(int descriptor);

// Columns of the terminal; 80 where it does not say.
size_t TerminalWidth(int descriptor);

}  // namespace stoker

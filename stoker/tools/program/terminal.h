// The capabilities of standard output and standard error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stoker {

// ECMA-48: to the first column, then erase to the end of the line.
inline constexpr std::string_view kEraseLine = "\r\x1b[K";

enum class Style {
  kError,    // red
  kWarning,  // yellow
  kHeading,  // bold
};

// True if the file descriptor is a terminal that can redraw a line (TERM is not "dumb").
bool IsTerminal(int descriptor);

// True if colours may be used on it: a terminal, and NO_COLOR (no-color.org) is not set or is
// empty.
bool UseColor(int descriptor);

// Returns `text` in that style if UseColor(descriptor), else unchanged.
std::string Styled(int descriptor, Style style, std::string_view text);

// Prints errors and warnings in the log in their styles if UseColor(STDERR_FILENO).
void UseLogColors();

// Returns the columns of the terminal; 80 if unknown.
size_t TerminalWidth(int descriptor);

}  // namespace stoker

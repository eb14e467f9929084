// What standard output and standard error are connected to, and what they can show.
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

// True where the file descriptor is a terminal that can redraw a line (TERM is not "dumb").
bool IsTerminal(int descriptor);

// True where colours may be used on it: a terminal, and NO_COLOR (no-color.org) is not set or is
// empty.
bool UseColor(int descriptor);

// `text` in that style where UseColor(descriptor), elsewhere as it is.
std::string Styled(int descriptor, Style style, std::string_view text);

// Has errors and warnings in the log stand in their styles where UseColor(STDERR_FILENO).
void UseLogColors();

// Columns of the terminal; 80 where it does not say.
size_t TerminalWidth(int descriptor);

}  // namespace stoker

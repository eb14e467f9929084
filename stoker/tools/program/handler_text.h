// What signal handlers say. Only what POSIX allows there is called: no allocation, no stdio.
#pragma once

#include <string_view>

namespace stoker {

// Looks whether standard error is a terminal, on which a status line may have to be wiped out
// first. Call it before a handler is installed.
void PrepareHandlerText();

// Begins a line on standard error.
void BeginLineInHandler();

// Writes `text` to standard error as it is.
void WriteInHandler(std::string_view text);

}  // namespace stoker

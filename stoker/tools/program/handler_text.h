// Output of signal handlers. Calls only functions that POSIX allows there: no allocation, no stdio.
#pragma once

#include <string_view>

namespace stoker {

// Checks whether standard error is a terminal, on which a status line may have to be erased first.
// Call it before a handler is installed.
void PrepareHandlerText();

// Begins a line on standard error.
void BeginLineInHandler();

// Writes `text`, of at most 4096 bytes, to standard error, unless its reader takes nothing.
void WriteInHandler(std::string_view text);

}  // namespace stoker

// Writes to standard output and standard error without exceptions. All text goes through
// PrintableLines (base/printable.h), so that no name in it controls a terminal; only Stoker's own
// colours and kEraseLine pass, if the stream is a terminal. A name that may hold a line break must
// go through Printable before it is put into the text. A reader that takes nothing is waited for
// until the program is asked to stop (base/write_text.h).
#pragma once

#include <cstdio>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// Writes a command's result to standard output and flushes it. Errors: kResourceExhausted if this
// or anything printed before could not be written (a full disk, a closed descriptor).
Status PrintResult(std::string_view text);

// Writes and flushes a line of progress if possible; ignores errors, which PrintResult reports
// later.
void PrintProgress(std::FILE* stream, std::string_view text);

}  // namespace stoker

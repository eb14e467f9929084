// Writing to standard output and standard error without exceptions. What is written goes through
// PrintableLines (base/printable.h), so no name in it steers a terminal; only our own colours and
// kEraseLine pass, where the stream is one. A name that may hold a line break goes through
// Printable where it is put into the text.
#pragma once

#include <cstdio>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// A command's result: written to standard output and flushed. Errors: kResourceExhausted where this
// or anything printed before could not be written (a full disk, a closed descriptor).
Status PrintResult(std::string_view text);

// Progress: written and flushed where that is possible, for a line that is lost is no reason to
// stop. PrintResult reports such a loss later.
void PrintProgress(std::FILE* stream, std::string_view text);

}  // namespace stoker

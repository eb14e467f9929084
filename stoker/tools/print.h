// Writing to standard output and standard error without exceptions.
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

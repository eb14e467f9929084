// The first samples of a data file, for `stoker inspect`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/tools/inspection.h"

namespace stoker {

// Reads up to `count` samples of the file at `path` with the source that reads `format` (as
// Inspection::json calls it) and adds them to `out`: as lines to its text, as "samples" to its
// JSON. Adds nothing for formats that are no source of samples, and where the file's first samples
// cannot be read, which `out` says in its own way.
void AddFirstSamples(const std::string& path, std::string_view format, int64_t count,
                     Inspection& out);

}  // namespace stoker

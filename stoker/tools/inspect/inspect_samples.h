// The first samples of a data file, for `stoker inspect`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/tools/inspect/inspection.h"

namespace stoker {

// Reads up to `count` samples of the file at `path` with the source that reads `format` (as
// Inspection::json calls it) and adds them to `out`: as lines to its text, as "samples" to its
// JSON. Samples that cannot be read are left out, and `out` says how many and why the first was
// ("samples_left_out": {"count", "first"}); where none can be read, or no further ones, why not
// ("samples_error"). Adds nothing for formats that are no source of samples.
void AddFirstSamples(const std::string& path, std::string_view format, int64_t count,
                     Inspection& out);

}  // namespace stoker

// Small files that a program keeps for itself, such as those of a run.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/status.h"

namespace stoker {

// Reads such a file as text. Errors: those of ReadTextFile (io/file.h); kFailedPrecondition for a
// directory in its place, or a pipe, socket or device, which might be waited for without end.
Result<std::string> ReadKeptTextFile(const std::string& path, uint64_t limit = uint64_t{64} << 20);

}  // namespace stoker

// Files that are replaced in one step but not flushed to the disk, such as the state of a run.
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// As WriteFileAtomically (atomic_file.h), but does not flush to the disk, so it costs about 0.1 ms.
// Readers see the old content or the new one; after a loss of power either may be there, or an
// empty file.
Status WriteFileUnflushed(const std::string& path, std::string_view contents);

}  // namespace stoker

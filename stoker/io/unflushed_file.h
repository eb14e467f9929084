// Files that are replaced in one step but not flushed to the disk, such as the state of a run for
// those who look at it.
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// Writes a file that only tells how things stand: as WriteFileAtomically (atomic_file.h), but not
// flushed to the disk, so it costs some 0.1 ms. Readers see the old content or the new one; after a
// loss of power either may be there, or an empty file.
Status WriteFileUnflushed(const std::string& path, std::string_view contents);

}  // namespace stoker

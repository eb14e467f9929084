// Only tests include it.
#pragma once

#include "stoker/io/file_bytes.h"

namespace stoker {

// Files that are opened while it lives are mapped.
struct ScopedMapping {
  ScopedMapping() { SetFileAccess(FileAccess::kMapped); }
  ScopedMapping(const ScopedMapping&) = delete;
  ScopedMapping& operator=(const ScopedMapping&) = delete;
  ~ScopedMapping() { SetFileAccess(FileAccess::kByPosition); }
};

}  // namespace stoker

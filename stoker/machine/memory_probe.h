// How fast memory is.
#pragma once

#include <cstdint>

#include "stoker/base/status.h"
#include "stoker/machine/roofs.h"

namespace stoker {

struct MemoryProbe {
  double seconds = 1;  // for reading, writing and copying together
  int threads = 1;
  // What all threads together may allocate; it should be several times the caches. At least 1 MiB a
  // thread is used.
  int64_t bytes = int64_t{256} << 20;
};

// Measures reading (adding up), writing (memset) and copying (memcpy) of memory. Each thread works
// on memory of its own that it has touched first. Errors: kCancelled if the thread was asked to
// stop; kResourceExhausted (no memory, no threads).
Result<MemoryRoofs> MeasureMemory(const MemoryProbe& probe);

}  // namespace stoker

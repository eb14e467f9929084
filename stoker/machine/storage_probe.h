// How fast the storage below a path is.
#pragma once

#include <cstdint>
#include <string>

#include "stoker/base/status.h"
#include "stoker/machine/roofs.h"

namespace stoker {

struct StorageProbe {
  double seconds = 4;                       // for all of it; writing is bounded too
  int64_t file_bytes = int64_t{256} << 20;  // the most that the large file has
  int64_t small_files = 1000;               // of 16 KiB
};

// The bytes that MeasureStorage writes at most.
int64_t BytesToWrite(const StorageProbe& probe);

// Measures what is below a path.
//   path  a directory, which gets a directory ".stoker-env.tmp-PID-RANDOM" with files of random
//         bytes, removed before this returns; what a killed process left of that name is removed
//         first. Or a regular file, which is only read: then nothing is said of writing and small
//         files.
// Reads pass the page cache: by O_DIRECT where the file system has it, else the pages are dropped
// first. What caches below it (a disk's, a host's, a server's) hold is beyond its reach.
// What cannot be measured (no space, no permission to write, a small file) is no error: it is left
// out, and `problem` says why. Free space is checked first, and at least three quarters of it stay
// free. Errors: kNotFound if there is no such path; kInvalidArgument if it is a device, pipe or
// socket; kCancelled if the thread was asked to stop; nothing is left behind in any case.
Result<StorageRoofs> MeasureStorage(const std::string& path, const StorageProbe& probe);

}  // namespace stoker

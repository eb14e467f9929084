// The lock of a run: one process trains in it at a time.
#pragma once

#include <filesystem>

#include "stoker/base/status.h"
#include "stoker/io/descriptor.h"
#include "stoker/run/run_directory.h"

namespace stoker::internal {

// Takes the lock of the run and returns it; closing it gives it back. Creates the file if missing.
// Errors: kUnavailable if another process has it; kFailedPrecondition if a file that a run writes
// in place is a symbolic link or no regular file.
Result<Descriptor> TakeRunLock(const RunPaths& paths);

// Returns whether `lock` is open on the run's lock, which another process may have removed.
Result<bool> IsLockOfRun(const RunPaths& paths, const Descriptor& lock);

// Returns whether any open file has the lock, of this process too. False also if unknown.
bool RunIsLocked(const RunPaths& paths);

// The error for a run that another process trains in.
Status RunIsHeldByAnother(const std::filesystem::path& root);

}  // namespace stoker::internal

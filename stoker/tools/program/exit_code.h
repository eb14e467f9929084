// The exit codes of the programs.
#pragma once

#include "stoker/base/status.h"

namespace stoker {

enum ExitCode {
  kExitSuccess = 0,
  kExitFailed = 1,         // a file, the data, the disk, a loss that is not finite
  kExitUsage = 2,          // the command line or the recipe is wrong
  kExitInterrupted = 130,  // SIGINT, after cleaning up
  kExitTerminated = 143,   // SIGTERM, likewise
  kExitWarned = 138,       // SIGUSR1, likewise
};

// Maps kInvalidArgument to wrong usage, kCancelled to the signal (interrupt.h), and all others to
// failure.
int ExitCodeOf(const Status& status);

}  // namespace stoker

// What the programs return to the shell.
#pragma once

#include "stoker/base/status.h"

namespace stoker {

enum ExitCode {
  kExitSuccess = 0,
  kExitFailed = 1,         // a file, the data, the disk, a loss that is not finite
  kExitUsage = 2,          // the command line or the recipe is wrong
  kExitInterrupted = 130,  // SIGINT, after the work was put in order
  kExitTerminated = 143,   // SIGTERM, likewise
};

// kInvalidArgument is wrong usage, kCancelled what stopped us (interrupt.h), all else failure.
int ExitCodeOf(const Status& status);

}  // namespace stoker

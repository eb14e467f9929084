#include "stoker/tools/program/exit_code.h"

#include <csignal>

#include "stoker/tools/program/interrupt.h"

namespace stoker {

int ExitCodeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk: return kExitSuccess;
    case StatusCode::kInvalidArgument: return kExitUsage;
    case StatusCode::kCancelled:
      switch (InterruptSignal()) {
        case SIGTERM: return kExitTerminated;
        case SIGUSR1: return kExitWarned;
        default: return kExitInterrupted;
      }
    default: return kExitFailed;
  }
}

}  // namespace stoker

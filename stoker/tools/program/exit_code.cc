#include "stoker/tools/program/exit_code.h"

#include <csignal>

#include "stoker/tools/program/interrupt.h"

namespace stoker {

int ExitCodeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk: return kExitSuccess;
    case StatusCode::kInvalidArgument: return kExitUsage;
    case StatusCode::kCancelled:
      return InterruptSignal() == SIGTERM ? kExitTerminated : kExitInterrupted;
    default: return kExitFailed;
  }
}

}  // namespace stoker

#include "stoker/tools/program/exit_guard.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "stoker/base/log.h"
#include "stoker/tools/program/exit_code.h"

namespace stoker {
namespace {

std::atomic<bool> command_runs{false};

void EndIfCommandRuns() {
  if (!command_runs) return;
  Log(LogLevel::kError,
      "exit() was called before the command had finished; look for it in the plug-ins of the "
      "recipe, or in the kinds of this program, which report what is wrong by returning an error");
  std::fflush(nullptr);
  ::_exit(kExitFailed);
}

}  // namespace

ExitGuard::ExitGuard() {
  // Functions given to atexit are called last first, so this one is given as late as possible.
  static const int registered = std::atexit(EndIfCommandRuns);
  static_cast<void>(registered);
  command_runs = true;
}

ExitGuard::~ExitGuard() { command_runs = false; }

}  // namespace stoker

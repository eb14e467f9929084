// Notices code that ends the process in the middle of a command by calling exit(): a plug-in or a
// kind of the user's own. Its exit code 0 would otherwise mean that the command succeeded.
#pragma once

namespace stoker {

// While one exists, exit() prints an error and ends the process with kExitFailed, whatever number
// it was given and on whatever thread. _exit() and quick_exit() cannot be noticed. One at a time.
class ExitGuard {
 public:
  ExitGuard();
  ~ExitGuard();
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;
};

}  // namespace stoker

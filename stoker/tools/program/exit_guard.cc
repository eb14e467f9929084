#include "stoker/tools/program/exit_guard.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "stoker/base/log.h"
#include "stoker/tools/program/exit_code.h"

namespace stoker {
namespace {

std::atomic<bool> command_runs{false};
std::atomic<bool> ending{false};

[[noreturn]] void EndTheCommand() {
  if (ending.exchange(true)) {
    for (;;) ::pause();  // another thread prints the message, and ends the process
  }
  Log(LogLevel::kError,
      "exit() was called before the command had finished: by a library, which has said why on the "
      "line before, such as a thread that cannot be started; or by a plug-in of the recipe or a "
      "kind of this program, which must report what is wrong by returning an error");
  std::fflush(nullptr);
  ::_exit(kExitFailed);
}

}  // namespace

ExitGuard::ExitGuard() { command_runs = true; }

ExitGuard::~ExitGuard() { command_runs = false; }

}  // namespace stoker

// Stands before the C library's function for all code of the process, since a program's symbols are
// found first. A function given to atexit would be too late: those given later run before it, and
// destroy what the other threads of the command still use.
extern "C" [[noreturn]] void exit(int status) noexcept {
  if (stoker::command_runs) stoker::EndTheCommand();
  using Exit = void (*)(int);
  const auto library_exit = reinterpret_cast<Exit>(::dlsym(RTLD_NEXT, "exit"));
  if (library_exit != nullptr) library_exit(status);
  ::_exit(status);
}

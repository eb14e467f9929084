#include "stoker/tools/program/lost_page.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <string_view>

#include "stoker/io/mapped_ranges.h"
#include "stoker/tools/program/exit_code.h"
#include "stoker/tools/program/handler_text.h"

namespace stoker {
namespace {

std::atomic<bool> reporting{false};

// Only what POSIX allows in a signal handler is called from here on: no allocation, no stdio.
void WriteNumber(size_t number) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  WriteInHandler({digits, end});
}

void TellOf(const MappedByte& byte) {
  BeginLineInHandler();
  WriteInHandler("stoker: error: ");
  WriteInHandler(byte.path);
  WriteInHandler(": byte ");
  WriteNumber(byte.offset);
  WriteInHandler(" can no longer be read: ");
  struct stat now = {};
  if (::stat(byte.path, &now) == 0 && static_cast<size_t>(now.st_size) < byte.file_size) {
    WriteInHandler("the file had ");
    WriteNumber(byte.file_size);
    WriteInHandler(" bytes when it was opened and has ");
    WriteNumber(static_cast<size_t>(now.st_size));
    WriteInHandler(" now; replace files that are in use by renaming a whole one over them\n");
  } else {
    WriteInHandler(
        "the disk or server that it lies on has failed, or the file was cut; try to copy it\n");
  }
}

extern "C" void EndOrDie(int number, siginfo_t* info, void*) {
  const MappedByte byte = FindMappedByte(info->si_addr);
  if (byte.path == nullptr) {
    ::signal(number, SIG_DFL);  // what raised the signal does so again
    return;
  }
  while (reporting.exchange(true)) ::pause();  // another thread is telling it, and ends all
  TellOf(byte);
  ::_exit(kExitFailed);
}

}  // namespace

void EndOnLostPage() {
  PrepareHandlerText();
  struct sigaction action = {};
  action.sa_sigaction = EndOrDie;
  action.sa_flags = SA_SIGINFO;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace stoker

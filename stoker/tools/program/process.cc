#include "stoker/tools/program/process.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "stoker/io/file_bytes.h"
#include "stoker/tools/program/interrupt.h"
#include "stoker/tools/program/lost_page.h"

namespace stoker {
namespace {

void OpenStandardStreams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    // The lowest free number, so this one. Opened for reading only, so that printing to it is an
    // error.
    if (::open("/dev/null", O_RDONLY) != descriptor) ::_exit(1);
  }
}

}  // namespace

void PrepareProcess() {
  OpenStandardStreams();
  ::signal(SIGXFSZ, SIG_IGN);
  EndOnInterrupt();
  EndOnLostPage();
  // A page that is lost ends this process with a message, so files are read the faster way.
  SetFileAccess(FileAccess::kMapped);
}

}  // namespace stoker

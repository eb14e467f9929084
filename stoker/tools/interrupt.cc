#include "stoker/tools/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>

#include "stoker/tools/handler_text.h"

namespace stoker {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

std::atomic<int> first_signal{0};
std::atomic<bool> interrupted{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "used in signal handlers");

// Only what POSIX allows in a signal handler is called from here on: no allocation, no stdio.
void Say(std::string_view line) {
  BeginLineInHandler();
  WriteInHandler(line);
}

extern "C" void EndProcess(int number) {
  Say(number == SIGINT ? "stoker: error: stopped by SIGINT\n"
                       : "stoker: error: stopped by SIGTERM\n");
  ::_exit(128 + number);
}

extern "C" void NoteSignal(int number) {
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, number)) EndProcess(number);
  interrupted.store(true);  // first: the message may have to wait for a terminal that is stopped
  const int error_number = errno;
  Say(number == SIGINT ? "stoker: SIGINT: storing what is done; a second one ends at once\n"
                       : "stoker: SIGTERM: storing what is done; a second one ends at once\n");
  errno = error_number;
}

sigset_t Signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : kSignals) ::sigaddset(&set, number);
  return set;
}

void Handle(void (*handler)(int)) {
  PrepareHandlerText();
  first_signal = 0;
  interrupted = false;
  for (const int number : kSignals) {
    struct sigaction before = {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;  // reads and writes under way are not disturbed
    action.sa_mask = Signals();    // one at a time
    ::sigaction(number, &action, nullptr);
  }
  const sigset_t all = Signals();
  ::pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
}

}  // namespace

void EndOnInterrupt() { Handle(EndProcess); }

void NoteInterrupt() { Handle(NoteSignal); }

void HoldInterrupts() {
  const sigset_t all = Signals();
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

const std::atomic<bool>& Interrupted() { return interrupted; }

int InterruptSignal() { return first_signal.load(std::memory_order_relaxed); }

}  // namespace stoker

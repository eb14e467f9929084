#include "stoker/tools/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace stoker {
namespace {

std::atomic<int> first_signal{0};
std::atomic<bool> interrupted{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "used in a signal handler");

extern "C" void NoteSignal(int number) {
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, number)) ::_exit(128 + number);
  interrupted.store(true);
}

}  // namespace

void CatchInterrupts() {
  first_signal.store(0);
  interrupted.store(false);
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction before = {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_handler = NoteSignal;
    action.sa_flags = SA_RESTART;  // reads and writes under way are not disturbed
    ::sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, nullptr);
  }
}

const std::atomic<bool>& Interrupted() { return interrupted; }

int InterruptSignal() { return first_signal.load(std::memory_order_relaxed); }

}  // namespace stoker

#include "stoker/tools/program/interrupt.h"

#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>
#include <utility>

#include "stoker/base/write_text.h"
#include "stoker/io/unfinished_file.h"
#include "stoker/tools/program/handler_text.h"

namespace stoker {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGUSR1};

std::atomic<int> first_signal{0};
std::atomic<bool> expected{false};  // a signal followed the warning
std::atomic<bool> interrupted{false};
std::atomic<int> outcome{0};                      // the exit code that stands
std::atomic<bool> signalled_while_saying{false};  // a signal came while it was said
std::atomic<bool> undoing{false};                 // an UndoOnInterrupt waits for a signal
sem_t undo_signal;                                // posted once for the signal that it waits for
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "used in signal handlers");

// Only what POSIX allows in a signal handler is called from here on: no allocation, no stdio.
void Say(std::string_view line) {
  BeginLineInHandler();
  WriteInHandler(line);
}

std::string_view StoppedBy(int number) {
  if (number == SIGINT) return "stoker: error: stopped by SIGINT\n";
  if (number == SIGUSR1) return "stoker: error: stopped by SIGUSR1\n";
  return "stoker: error: stopped by SIGTERM\n";
}

std::string_view StoringAfter(int number) {
  if (number == SIGINT) return "stoker: SIGINT: storing what is done; a second one ends at once\n";
  if (number == SIGUSR1) return "stoker: SIGUSR1: storing what is done\n";
  return "stoker: SIGTERM: storing what is done; a second one ends at once\n";
}

extern "C" void EndProcess(int number) {
  Say(StoppedBy(number));
  RemoveUnfinishedFiles();
  ::_exit(128 + number);
}

extern "C" void EndAsDecided(int /*number*/) { ::_exit(outcome); }

extern "C" void EndOnceSaid(int number) {
  if (signalled_while_saying.exchange(true)) EndAsDecided(number);
  interrupted = true;  // what nobody reads is not waited for
}

extern "C" void NoteSignal(int number) {
  int first = 0;
  if (!first_signal.compare_exchange_strong(first, number)) {
    if (first == SIGUSR1 && (number == SIGUSR1 || !expected.exchange(true))) return;
    EndProcess(number);
  }
  const int error_number = errno;
  if (undoing) {
    ::sem_post(&undo_signal);
  } else {
    interrupted.store(true);  // first: the message may have to wait a moment for its reader
    Say(StoringAfter(number));
  }
  errno = error_number;
}

sigset_t Signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : kSignals) ::sigaddset(&set, number);
  return set;
}

void Install(void (*handler)(int)) {
  PrepareHandlerText();
  StopWaitingToWrite(&interrupted);
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

void Handle(void (*handler)(int)) {
  first_signal = 0;
  expected = false;
  interrupted = false;
  Install(handler);
}

}  // namespace

void EndOnInterrupt() { Handle(EndProcess); }

void NoteInterrupt() { Handle(NoteSignal); }

void SayOutcome(int exit_code, const std::function<void()>& say) {
  outcome = exit_code;
  signalled_while_saying = false;
  Install(EndOnceSaid);
  say();
  Install(EndAsDecided);
  if (signalled_while_saying) ::_exit(exit_code);
}

void EndLongWork() { interrupted.store(true); }

void NoteInterruptElsewhere(int number) {
  int none = 0;
  if (number != 0 && first_signal.compare_exchange_strong(none, number)) interrupted.store(true);
}

UndoOnInterrupt::UndoOnInterrupt() {
  ::sem_init(&undo_signal, /*pshared=*/0, /*value=*/0);
  undoing = true;
  Handle(NoteSignal);
  watch_ = std::thread([this] { Watch(); });
}

UndoOnInterrupt::~UndoOnInterrupt() {
  if (!watch_.joinable()) return;  // signals are noted
  EndWatch();
  Install(EndProcess);
  undoing = false;
  if (const int number = first_signal; number != 0) EndProcess(number);
}

void UndoOnInterrupt::SetUndo(std::function<void()> undo) {
  {
    const MutexLock lock(mutex_);
    undo_ = std::move(undo);
  }
  changed_.NotifyAll();
}

void UndoOnInterrupt::NoteFromNowOn() {
  EndWatch();
  undoing = false;
  if (first_signal != 0) interrupted = true;
}

void UndoOnInterrupt::Watch() {
  while (::sem_wait(&undo_signal) != 0) {
  }
  const MutexLock lock(mutex_);
  while (!undo_ && !over_) changed_.Wait(mutex_);
  if (over_) return;
  undo_();
  EndProcess(first_signal);
}

// Does not return where the watch undoes what was made: it holds the lock until the process ends.
void UndoOnInterrupt::EndWatch() {
  {
    const MutexLock lock(mutex_);
    over_ = true;
  }
  changed_.NotifyAll();
  ::sem_post(&undo_signal);
  watch_.join();
}

void HoldInterrupts() {
  const sigset_t all = Signals();
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

const std::atomic<bool>& Interrupted() { return interrupted; }

int InterruptSignal() { return first_signal.load(std::memory_order_relaxed); }

}  // namespace stoker

// The handling of SIGINT, SIGTERM and SIGUSR1, with which Slurm warns of the end of a job's time.
//
// SIGUSR1 is a warning: where it has been recorded, a second one does nothing, since launchers pass
// on what the system has sent to all, and the first other signal that follows is expected. A signal
// that was ignored when the program started (nohup, a background job) stays ignored.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "stoker/base/mutex.h"

namespace stoker {

// For work that needs no clean-up but RemoveUnfinishedFiles: a signal ends the process at once with
// 128 + its number and a message on standard error. Delivers signals held by HoldInterrupts.
void EndOnInterrupt();

// For work that needs clean-up: the first signal is recorded and acknowledged on standard error,
// the second ends the process as above.
void NoteInterrupt();

// For the end of a command: calls `say`, which says how it went. From now on a signal ends the
// process with `exit_code` and says nothing, since the outcome stands and what is left is to tidy
// up. A signal that comes while `say` runs ends it after `say`, a second one at once.
void SayOutcome(int exit_code, const std::function<void()>& say);

// Ends long work as a signal does (Interrupted), though there was none: something else has failed.
void EndLongWork();

// Records `number`, a signal that another process got which works with this one, as if it had come
// here; not if one has. 0: nothing. Says nothing.
void NoteInterruptElsewhere(int number);

// For the start of work of which a signal should leave nothing: while one lives, the first signal
// removes what was made and ends the process as after EndOnInterrupt; the second ends it at once.
// One at a time in a process; used by one thread.
class UndoOnInterrupt {
 public:
  // Holds signals until one of the following.
  UndoOnInterrupt();
  // The work is abandoned: a held signal ends the process, and so does each later one.
  ~UndoOnInterrupt();
  UndoOnInterrupt(const UndoOnInterrupt&) = delete;
  UndoOnInterrupt& operator=(const UndoOnInterrupt&) = delete;

  // Call once when something has been made: a signal, also a held one, ends the process after
  // `undo`.
  //   undo  called at most once, by a thread of this object, while the caller continues
  void SetUndo(std::function<void()> undo);

  // Call it when there is something to store: signals, also a held one, are recorded as after
  // NoteInterrupt. Returns only if nothing has been undone.
  void NoteFromNowOn();

 private:
  void Watch();
  void EndWatch();

  Mutex mutex_;
  CondVar changed_;
  std::function<void()> undo_ STOKER_GUARDED_BY(mutex_);  // empty: not set yet
  bool over_ STOKER_GUARDED_BY(mutex_) = false;
  std::thread watch_;
};

// Holds signals, also across exec, because the new program cannot handle them before it calls
// EndOnInterrupt.
void HoldInterrupts();

// True once a signal has been recorded: the stop flag of long work.
const std::atomic<bool>& Interrupted();

// Returns the recorded signal, or 0. Thread-safe.
int InterruptSignal();

}  // namespace stoker

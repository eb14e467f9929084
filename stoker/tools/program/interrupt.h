// SIGINT and SIGTERM: what they do to a program from its first line to its last.
//
// A signal that was ignored when the program started (nohup, a background job) stays ignored.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace stoker {

// For work that leaves nothing to put in order: a signal ends the process at once with 128 + its
// number, and says so on standard error. Lets through those that HoldInterrupts kept.
void EndOnInterrupt();

// For work that has to be put in order: the first signal is noted and acknowledged on standard
// error, the second ends the process as above.
void NoteInterrupt();

// For work that is being begun and of which nothing is to stay where a signal comes: while one
// lives, the first signal ends the process as after EndOnInterrupt, but what was made is removed
// before; the second ends it at once. One at a time in a process; used by one thread.
class UndoOnInterrupt {
 public:
  // From now on a signal waits for one of the following.
  UndoOnInterrupt();
  // The work is given up: a signal that waits ends the process, and so does each later one.
  ~UndoOnInterrupt();
  UndoOnInterrupt(const UndoOnInterrupt&) = delete;
  UndoOnInterrupt& operator=(const UndoOnInterrupt&) = delete;

  // Something has been made: a signal, also one that waits, ends the process after `undo`. Call
  // once.
  //   undo  called at most once, by a thread of this object, while the caller goes on
  void SetUndo(std::function<void()> undo);

  // There is something to store: from now on signals are noted, as after NoteInterrupt, and so is
  // one that waits. Returns only where nothing has been undone.
  void NoteFromNowOn();

 private:
  void Watch();
  void EndWatch();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> undo_;  // empty: not set yet
  bool over_ = false;
  std::thread watch_;
};

// Keeps signals waiting, also while this process becomes another program: the time before that one
// calls EndOnInterrupt is not one in which it could answer.
void HoldInterrupts();

// True once a signal has been noted: what long work is given to look at.
const std::atomic<bool>& Interrupted();

// The signal that was noted, or 0. Any thread may ask.
int InterruptSignal();

}  // namespace stoker

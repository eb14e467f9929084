// SIGINT and SIGTERM: what they do to a program from its first line to its last.
//
// A signal that was ignored when the program started (nohup, a background job) stays ignored.
#pragma once

#include <atomic>

namespace stoker {

// For work that leaves nothing to put in order: a signal ends the process at once with 128 + its
// number, and says so on standard error. Lets through those that HoldInterrupts kept.
void EndOnInterrupt();

// For work that has to be put in order: the first signal is noted and acknowledged on standard
// error, the second ends the process as above.
void NoteInterrupt();

// Keeps signals waiting, also while this process becomes another program: the time before that one
// calls EndOnInterrupt is not one in which it could answer.
void HoldInterrupts();

// True once a signal has been noted: what long work is given to look at.
const std::atomic<bool>& Interrupted();

// The signal that was noted, or 0. Any thread may ask.
int InterruptSignal();

}  // namespace stoker

// SIGINT and SIGTERM: the first asks for an orderly end, the second ends the process at once.
#pragma once

#include <atomic>

namespace stoker {

// From now on SIGINT and SIGTERM are noted instead of ending the process; a second one exits
// immediately with 128 + its number. A signal that was ignored when the program started (nohup, a
// background job) stays ignored.
void CatchInterrupts();

// True once a signal has arrived: what long work is given to look at.
const std::atomic<bool>& Interrupted();

// The first signal that arrived since CatchInterrupts, or 0. Any thread may ask.
int InterruptSignal();

}  // namespace stoker

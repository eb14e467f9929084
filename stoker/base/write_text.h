// Writes text to a descriptor: a terminal, a pipe or a file.
#pragma once

#include <atomic>
#include <string_view>

namespace stoker {

// Writes `text`, in parts that a pipe takes as a whole. Where the reader takes nothing (a program
// behind a pipe that hangs, a terminal that is stopped) it waits; once the flag of
// StopWaitingToWrite is true, only for a moment. Returns false if not all was written; errno says
// why, EAGAIN for such a reader. Thread-safe; texts of several threads may mix at 4096 bytes.
bool WriteText(int descriptor, std::string_view text);

// From when on WriteText does not wait for readers any more, so that what was done can be stored
// although nobody reads what is said of it. The flag must live as long as the program; null: never.
void StopWaitingToWrite(const std::atomic<bool>* stopped);

}  // namespace stoker

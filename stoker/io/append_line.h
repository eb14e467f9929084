// A text file to which lines are appended: a log for programs to read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// Appends `line` (without a line end) and a line end: whole, or nothing. Writes under a lock
// (flock(2)) that all callers share, other threads and processes too, and truncates the file again
// if the disk gets full. A partial last line that a killed process left gets a line end first.
// Creates the file if it does not exist; its directory must exist. The file may be moved away at
// any time. Not flushed to the disk: a loss of power may lose the last lines. Returns the size of
// the file afterwards. Errors: those of io/atomic_file.h.
Result<uint64_t> AppendLine(const std::string& path, std::string_view line);

// Checks that lines can be appended; creates the file if it does not exist. Returns its size.
Result<uint64_t> PrepareToAppend(const std::string& path);

// Calls `visit` for each line of the file that has a line end, in their order, without that end; a
// missing file has no lines. Skips lines of more than kMostLineBytes, which bounds its memory. Does
// not take the lock. Errors: those of reading.
inline constexpr size_t kMostLineBytes = 1 << 20;
Status VisitLines(const std::string& path, const std::function<void(std::string_view)>& visit);

// Removes from the file, under the lock of AppendLine, the lines that begin at `offset` or later
// and for which `take_back` returns true, and a partial last line. Lines of more than
// kMostLineBytes are kept without asking. If lines have to move, a copy with the same access rights
// replaces the file (io/atomic_file.h): whenever the process or the machine dies, the file is
// whole, as before or as afterwards. Does nothing to a file in which no line begins at `offset`, to
// a symbolic link or to a missing file. Returns the size afterwards. Errors: those of reading and
// writing; then the file is unchanged.
Result<uint64_t> TakeBackLines(const std::string& path, uint64_t offset,
                               const std::function<bool(std::string_view line)>& take_back);

}  // namespace stoker

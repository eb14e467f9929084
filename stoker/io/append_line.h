// A text file that grows line by line: a log for programs to read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// Appends `line`, which has no end, and its end: whole, or nothing. It is written under a lock
// (flock(2)) that all callers share, other threads and processes too, and is taken back where the
// disk is full in its middle. What a process that was killed left without an end gets one first, so
// the lines after it are whole. The file is made where it does not exist; its directory must exist.
// It may be moved away at any time. Not flushed to the disk: a loss of power may take the last
// lines. Gives the size of the file afterwards. Errors: those of io/atomic_file.h.
Result<uint64_t> AppendLine(const std::string& path, std::string_view line);

// Whether lines can be appended, found out by making the file where it does not exist. Gives its
// size.
Result<uint64_t> PrepareToAppend(const std::string& path);

// Calls `visit` for each line of the file that has an end, in their order, without that end; a file
// that is not there has none. Lines of more than kMostLineBytes are left out, so it takes at most
// about as much memory. Not under the lock. Errors: those of reading.
inline constexpr size_t kMostLineBytes = 1 << 20;
Status VisitLines(const std::string& path, const std::function<void(std::string_view)>& visit);

// Takes the lines that begin at `offset` or later and for which `take_back` says true out of the
// file, under the lock of AppendLine. Others move up, those of more than kMostLineBytes, for which
// it is not asked, among them; half a line without its end goes too. Where lines have to move, a
// copy takes the place of the file (as of io/atomic_file.h), with its access rights: whenever the
// process or the machine dies, the file is whole, as before or as afterwards. A file in which no
// line begins at `offset`, a symbolic link and a file that is not there stay as they are. Gives the
// size afterwards. Errors: those of reading and writing; then it is as before.
Result<uint64_t> TakeBackLines(const std::string& path, uint64_t offset,
                               const std::function<bool(std::string_view line)>& take_back);

}  // namespace stoker

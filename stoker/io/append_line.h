// A text file that grows line by line: a log for programs to read.
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// Appends `line`, which has no end, and its end: whole, or nothing. It is written under a lock
// (flock(2)) that all callers share, other threads and processes too, and is taken back where the
// disk is full in its middle. What a process that was killed left without an end gets one first, so
// the lines after it are whole. The file is made where it does not exist; its directory must exist.
// It may be moved away at any time. Not flushed to the disk: a loss of power may take the last
// lines. Errors: those of io/atomic_file.h.
Status AppendLine(const std::string& path, std::string_view line);

// Whether lines can be appended, found out by making the file where it does not exist.
Status PrepareToAppend(const std::string& path);

}  // namespace stoker

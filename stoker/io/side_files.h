// Files that reading writes beside the data: indexes, caches, logs of lost samples.
#pragma once

namespace stoker {

// Returns whether this process writes such files. True at first. Thread-safe.
bool WritesSideFiles();

// Stops writing such files: indexes are made in memory, caches keep nothing, and losses are counted
// but not logged. Existing files are used. Copies of files on servers are not side files
// (io/remote). Does not change what is read. For a program that only inspects data; call it before
// the first pipeline is made.
void WriteNoSideFiles();

}  // namespace stoker

// Files that reading makes beside the data it reads: indexes, caches, logs of lost samples.
#pragma once

namespace stoker {

// Whether this process writes such files. True at first. Thread-safe.
bool WritesSideFiles();

// From now on it writes none: indexes are made in memory, caches keep nothing, and losses are
// counted but not logged. Files that are there already are used. Copies of files on servers are no
// side files (io/remote). Changes no byte of what is read. For a program that only looks; call it
// before the first pipeline is made.
void WriteNoSideFiles();

}  // namespace stoker

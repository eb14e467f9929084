// Copies pieces of memory that lie here and there into one block, as a gather of rows does.
#pragma once

#include <cstddef>
#include <span>

namespace stoker {

struct MemoryRun {
  const std::byte* from;
  size_t bytes;
};

// Copies the runs one behind the other to `to`, which has room for all of them. Memory is asked for
// the next few while one is copied: pieces that lie at random come from memory, not from the
// cache, and waiting for each in turn takes two to three times as long. Thread-safe.
void CopyRuns(std::span<const MemoryRun> runs, std::byte* to);

}  // namespace stoker

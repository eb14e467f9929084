// Gathers scattered pieces of memory into one block, such as rows.
#pragma once

#include <cstddef>
#include <span>

namespace stoker {

struct MemoryRun {
  const std::byte* from;
  size_t bytes;
};

// Copies the runs one after the other to `to`, which has room for all of them. Prefetches the next
// few runs while it copies one, because scattered pieces are rarely in the cache; waiting for each
// takes two to three times as long. Thread-safe.
void CopyRuns(std::span<const MemoryRun> runs, std::byte* to);

}  // namespace stoker

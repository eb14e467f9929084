// Numbers of lines in files that are read by position, for messages: people find a line in an
// editor, not a byte.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "stoker/io/file.h"

namespace stoker {

// Counts nothing until it is asked, so it costs nothing where nothing is wrong. Concurrent calls
// are safe.
class LineNumbers {
 public:
  // What is read to count lines, at most; nobody waits for more because of a message.
  static constexpr uint64_t kMostCounted = uint64_t{4} << 30;

  // The line, from 1, that byte `offset` of `file` is in. 0 where that is not found out: beyond
  // kMostCounted bytes, of a file that cannot be read, or where this thread was asked to stop
  // (StopScope). Reads the file from its beginning up to there, each part of it once: the counts of
  // the parts are kept, 8 bytes a MiB. `file` outlives this.
  int64_t LineAt(const File& file, uint64_t offset) const;

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_: for each file the line that byte i * 1 MiB is in.
  mutable std::map<const File*, std::vector<int64_t>> lines_;
};

}  // namespace stoker

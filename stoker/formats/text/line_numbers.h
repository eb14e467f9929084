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
  // (StopScope), also while it waits for another thread's count. Reads the file up to there from
  // the place asked for last, or from the last whole MiB counted before, whichever is nearer; the
  // first call reads from the file's beginning. Keeps 8 bytes a MiB of the file; while it counts,
  // 64 KiB more. `file` outlives this.
  int64_t LineAt(const File& file, uint64_t offset) const;

 private:
  struct Place {
    uint64_t offset = 0;
    int64_t line = 1;
  };
  struct Counts {
    std::vector<int64_t> parts{1};  // the line that byte i * 1 MiB is in
    Place last;                     // the last answer
  };

  // Moves `place` on to `offset`, which is not before it, and adds each part that ends on the way.
  // Returns false where that is not found out.
  static bool Advance(const File& file, uint64_t offset, Place& place, std::vector<int64_t>& parts);

  mutable std::mutex mutex_;
  mutable std::map<const File*, Counts> counts_;  // guarded by mutex_
};

}  // namespace stoker

// Line numbers for messages about files that are read by position.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/io/file.h"

namespace stoker {

// Counts only on request, so good files cost nothing. Concurrent calls are safe.
class LineNumbers {
 public:
  // The most bytes to read for a message.
  static constexpr uint64_t kMostCounted = uint64_t{4} << 30;

  // Returns the line, from 1, that byte `offset` of `file` is in. 0 if unknown: beyond kMostCounted
  // bytes, in a file that cannot be read, or if this thread was asked to stop (StopScope), also
  // while it waits for another thread's count. Reads the file up to there from the last place
  // requested, or from the last whole MiB counted before, whichever is nearer; the first call reads
  // from the file's beginning. Keeps 8 bytes a MiB of the file, and 64 KiB while it counts. `file`
  // must outlive this.
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

  // Moves `place` forward to `offset` and adds each part that ends on the way. Returns false if it
  // cannot.
  static bool Advance(const File& file, uint64_t offset, Place& place, std::vector<int64_t>& parts);

  mutable Mutex mutex_;
  mutable std::map<const File*, Counts> counts_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker

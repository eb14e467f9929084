// Locks in the directory of a ShardCache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/base/status.h"
#include "stoker/io/descriptor.h"
#include "stoker/io/unfinished_file.h"

namespace stoker {

// A lock against all threads and processes (flock), on a file with no other purpose. Released when
// destroyed, or when the process dies. Movable.
class CacheLock {
 public:
  // The file, when the lock is released, or a signal ends the process.
  enum class Afterwards { kStay, kRemove };

  // Takes the lock, once no other holder has it; creates the file `path` if it does not exist.
  // Errors: kCancelled if this thread was asked to stop while it waited (base/stop_scope.h);
  // kFailedPrecondition if the file system has no locks; those of creating the file and of looking
  // at it.
  static Result<CacheLock> Take(std::string path, Afterwards afterwards);
  // Does not wait: returns nothing if another holder has the lock.
  static Result<std::optional<CacheLock>> TryTake(std::string path, Afterwards afterwards);

  CacheLock(CacheLock&&) noexcept = default;
  ~CacheLock();

 private:
  static Result<std::optional<CacheLock>> Take(std::string path, int operation,
                                               double patience_seconds, Afterwards afterwards);

  CacheLock(std::string path, Descriptor file, Afterwards afterwards);

  std::string path_;
  Descriptor file_;  // none once moved from
  Afterwards afterwards_;
  std::optional<UnfinishedFile> unfinished_;  // where it is removed afterwards
};

// What a waiter for a lock does, depending on the time and on its holder's progress. One thread at
// a time.
class LockWait {
 public:
  enum class Then {
    kWait,
    kSay,   // report the wait; once
    kGoOn,  // without the lock: the holder has made no progress for too long
  };

  // In seconds: when to report the wait, and how long the holder may make no progress.
  LockWait(double say_after, double stalled_after)
      : say_after_(say_after), stalled_after_(stalled_after) {}

  // `now`: seconds since the wait began; `progress`: a number that changes while the holder makes
  // progress.
  Then Next(double now, uint64_t progress);

 private:
  const double say_after_, stalled_after_;
  std::optional<uint64_t> progress_;  // the last
  double changed_ = 0;                // when it was first seen
  bool said_ = false;
};

}  // namespace stoker

// Locks in the directory of a ShardCache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "stoker/base/status.h"
#include "stoker/io/descriptor.h"

namespace stoker {

// A lock against all threads and processes (flock), on a file that stands for nothing else. Dropped
// when destroyed, or when the process dies. Moves.
class CacheLock {
 public:
  enum class IfHeld { kWait, kFail };
  enum class Afterwards { kStay, kRemove };  // the file, when the lock is dropped

  // Makes the file `path` where it is not there. Errors: kUnavailable where somebody else holds the
  // lock and it is not to be waited for; kCancelled where this thread was asked to stop while it
  // waited (base/stop_scope.h); kFailedPrecondition where the file system has no locks; those of
  // making the file.
  static Result<CacheLock> Take(std::string path, IfHeld if_held, Afterwards afterwards);

  CacheLock(CacheLock&&) noexcept = default;
  ~CacheLock();

 private:
  CacheLock(std::string path, Descriptor file, Afterwards afterwards)
      : path_(std::move(path)), file_(std::move(file)), afterwards_(afterwards) {}

  std::string path_;
  Descriptor file_;  // none once moved from
  Afterwards afterwards_;
};

// What whoever waits for a lock does, by the time and by whether its holder gets on. One thread at
// a time.
class LockWait {
 public:
  enum class Then {
    kWait,
    kSay,   // that it waits; once
    kGoOn,  // without the lock: the holder has not got on for too long
  };

  // In seconds: when to say so, and how long the holder may stand still.
  LockWait(double say_after, double stalled_after)
      : say_after_(say_after), stalled_after_(stalled_after) {}

  // `now`: seconds since the wait began; `progress`: a number that changes while the holder gets
  // on.
  Then Next(double now, uint64_t progress);

 private:
  const double say_after_, stalled_after_;
  std::optional<uint64_t> progress_;  // the last
  double changed_ = 0;                // when it was first seen
  bool said_ = false;
};

}  // namespace stoker

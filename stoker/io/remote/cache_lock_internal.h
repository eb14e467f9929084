// Locks in the directory of a ShardCache.
#pragma once

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
  // lock and it is not to be waited for; kFailedPrecondition where the file system has no locks;
  // those of making the file.
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

// flock(2), also where signals come meanwhile; 0, or -1 with errno.
int FlockFully(int fd, int operation);

// Whether `path` still names what is open.
bool IsStill(const std::string& path, int fd);

}  // namespace stoker

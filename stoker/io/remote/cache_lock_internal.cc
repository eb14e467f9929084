#include "stoker/io/remote/cache_lock_internal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "stoker/base/stop_scope.h"
#include "stoker/io/temporary.h"

namespace stoker {
namespace {

Status LockError(int error_number, const std::string& path) {
  switch (error_number) {
    case ECANCELED: return Cancelled("{}: asked to stop while another one held the lock", path);
    case ENOLCK:
    case ENOSYS:
    case EOPNOTSUPP:
      return FailedPrecondition(
          "{}; the cache needs a file system that has locks (flock): name a directory on another "
          "one (data.remote.cache, STOKER_CACHE)",
          ErrnoStatus(error_number, fmt::format("{}: cannot lock", path)).message());
    default: return internal::WriteError(error_number, path, "cannot lock");
  }
}

}  // namespace

LockWait::Then LockWait::Next(double now, uint64_t progress) {
  if (progress_ != progress) {
    progress_ = progress;
    changed_ = now;
  }
  if (now - changed_ >= stalled_after_) return Then::kGoOn;
  if (said_ || now < say_after_) return Then::kWait;
  said_ = true;
  return Then::kSay;
}

Result<CacheLock> CacheLock::Take(std::string path, Afterwards afterwards) {
  STOKER_ASSIGN_OR_RETURN(std::optional<CacheLock> lock,
                          Take(std::move(path), LOCK_EX, LocalRetry::kPatienceSeconds, afterwards));
  return *std::move(lock);
}

Result<std::optional<CacheLock>> CacheLock::TryTake(std::string path, Afterwards afterwards) {
  // The caller does not wait for the lock, so it does not wait long for trouble to pass either.
  return Take(std::move(path), LOCK_EX | LOCK_NB, /*patience_seconds=*/1, afterwards);
}

Result<std::optional<CacheLock>> CacheLock::Take(std::string path, int operation,
                                                 double patience_seconds, Afterwards afterwards) {
  while (true) {
    Descriptor file = OpenUninterrupted(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC);
    if (!file.valid()) return internal::WriteError(errno, path, "cannot make a lock in the cache");
    const int problem = FlockUnlessStopped(file.get(), operation);
    if (problem == EWOULDBLOCK) return std::nullopt;
    if (problem != 0) {
      if (afterwards == Afterwards::kRemove && problem != ECANCELED) ::unlink(path.c_str());
      return LockError(problem, path);
    }
    STOKER_ASSIGN_OR_RETURN(const bool is_still,
                            internal::IsStill(path, file.get(), /*flags=*/0, patience_seconds));
    // Else its holder has taken it away.
    if (is_still) return CacheLock(std::move(path), std::move(file), afterwards);
  }
}

CacheLock::CacheLock(std::string path, Descriptor file, Afterwards afterwards)
    : path_(std::move(path)), file_(std::move(file)), afterwards_(afterwards) {
  if (afterwards_ == Afterwards::kRemove) unfinished_.emplace(path_);
}

// Removes the name first: a process that waits for the lock finds that it is gone, and makes it
// anew.
CacheLock::~CacheLock() {
  if (file_.valid() && afterwards_ == Afterwards::kRemove) ::unlink(path_.c_str());
}

}  // namespace stoker

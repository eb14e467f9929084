#include "stoker/run/run_lock_internal.h"

#include <fcntl.h>

#include <cerrno>

#include "stoker/io/temporary.h"

namespace stoker::internal {
namespace fs = std::filesystem;
namespace {

// A run writes to these files in place and cuts them, which must not happen to a link's target; a
// pipe would be waited for until somebody reads from it.
Status CheckOwnFiles(const RunPaths& paths) {
  for (const std::string& path : {paths.lock(), paths.log(), paths.metrics()}) {
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    if (error == std::errc::no_such_file_or_directory) continue;
    if (error == std::errc::invalid_argument) {  // not a link
      if (const fs::file_type type = fs::status(path, error).type();
          type == fs::file_type::regular || type == fs::file_type::not_found || error)
        continue;
      return FailedPrecondition(
          "{}: is no regular file, and a run writes only to such; put the file back, or remove "
          "what is in its place",
          path);
    }
    if (error) return ErrnoStatus(error.value(), path + ": cannot look whether it is a link");
    return FailedPrecondition(
        "{}: is a symbolic link to {}, and a run writes only to files of its own; put the file "
        "itself in the link's place",
        path, target.string());
  }
  return OkStatus();
}

// A lock of fcntl(2) on the open file, over all of it. Unlike one of flock(2), it can be asked for
// without being taken.
struct flock LockForWriting() {
  return {.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

}  // namespace

Result<bool> IsLockOfRun(const RunPaths& paths, const Descriptor& lock) {
  return IsStill(paths.lock(), lock.get(), AT_SYMLINK_NOFOLLOW);
}

Status RunIsHeldByAnother(const fs::path& root) {
  return Unavailable("{}: another process is training in this run; wait for it or name another run",
                     root.string());
}

Result<Descriptor> TakeRunLock(const RunPaths& paths) {
  for (;;) {
    STOKER_RETURN_IF_ERROR(CheckOwnFiles(paths));
    Descriptor lock =
        OpenUninterrupted(paths.lock().c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC);
    if (!lock.valid()) return ErrnoStatus(errno, paths.lock());
    struct flock whole = LockForWriting();
    if (::fcntl(lock.get(), F_OFD_SETLK, &whole) != 0) {
      if (errno != EAGAIN && errno != EACCES) return ErrnoStatus(errno, "locking " + paths.lock());
      return RunIsHeldByAnother(paths.root);
    }
    // The process that held it may have removed it with its run: then it locks nothing.
    STOKER_ASSIGN_OR_RETURN(const bool is_lock, IsLockOfRun(paths, lock));
    if (is_lock) return lock;
  }
}

bool RunIsLocked(const RunPaths& paths) {
  const Descriptor lock =
      OpenUninterrupted(paths.lock().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct flock found = LockForWriting();
  return lock.valid() && ::fcntl(lock.get(), F_OFD_GETLK, &found) == 0 && found.l_type != F_UNLCK;
}

}  // namespace stoker::internal

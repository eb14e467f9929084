// The temporary sibling of AtomicFileWriter and AtomicDirectory, and the error texts of writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/io/descriptor.h"
#include "stoker/io/local_retry.h"
#include "stoker/io/unfinished_file.h"

namespace stoker::internal {

// A new file or directory ".NAME.tmp-PID-RANDOM" beside its final path. It holds a lock (flock),
// which the kernel releases when the process dies. Destroyed before Publish, it removes itself.
class Temporary {
 public:
  enum class Type {
    kFile,
    kUnfinishedFile,  // a file that goes with a process that a signal ends (unfinished_file.h)
    kDirectory,
  };

  static Result<Temporary> Create(Type type, std::string final_path);

  Temporary(Temporary&& other) noexcept = default;
  Temporary& operator=(Temporary&& other) noexcept = default;
  ~Temporary();

  const std::string& final_path() const { return final_path_; }
  const std::string& path() const { return path_; }
  int fd() const { return descriptor_.get(); }

  // Gives it the final name and flushes the directory that holds it. After an error it has the
  // final name only if the flush itself failed.
  Status Publish();

  // The same for a directory, also where something else has the final name, which is removed
  // afterwards. Both are on the disk, one of them with that name, at any moment on file systems
  // that can exchange names (renameat2(2)); on others there is a moment at which neither has it.
  Status PublishInPlaceOfAnother();

 private:
  Status TakeTheNameOfAnother();

  Temporary(std::string final_path, std::string path, Descriptor descriptor,
            std::unique_ptr<UnfinishedFile> unfinished)
      : final_path_(std::move(final_path)),
        path_(std::move(path)),
        unfinished_(std::move(unfinished)),
        descriptor_(std::move(descriptor)) {}

  std::string final_path_;
  std::string path_;
  std::unique_ptr<UnfinishedFile> unfinished_;  // of a kUnfinishedFile
  Descriptor descriptor_;  // none once published or moved from: then there is nothing to remove
};

// Returns a new name beside `final_path` that RemoveIfStale knows.
std::string TemporaryName(const std::string& final_path);

// Returns the final name in `name` (not a path) of a temporary; empty for other names.
std::string_view FinalNameIn(std::string_view name);

// The directory that holds a file. Open it before the file gets its name there: then everything
// except the flush itself fails before anything has changed.
class ParentDirectory {
 public:
  // Opens the directory of `path`; the file itself need not exist.
  static Result<ParentDirectory> Open(const std::string& path);

  // Flushes its entries to the disk.
  Status Flush() const;

 private:
  ParentDirectory(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  std::string path_;
  Descriptor descriptor_;
};

// Removes `name` from the directory if it is a temporary whose process is gone; returns whether it
// was. Leaves one alone that any thread is creating, or Create takes another name: Create never
// returns what this removes.
Result<bool> RemoveIfStale(const std::string& directory, std::string_view name);

// Returns whether `path` still names what is open as `fd`; an error if that cannot be seen, so that
// who opens it again where it names something else does not do so for ever. `flags`: as of
// fstatat(2); with AT_SYMLINK_NOFOLLOW a link to it does not. A thread that works for a pass waits
// so long for trouble to pass (LocalRetry).
Result<bool> IsStill(const std::string& path, int fd, int flags = 0,
                     double patience_seconds = LocalRetry::kPatienceSeconds);

// Writes all of `bytes` to `fd`; `path` and `offset` are for the error message.
Status WriteAll(int fd, std::span<const std::byte> bytes, std::string_view path, uint64_t offset);

// Flushes an open file or directory to the disk.
Status SyncToDisk(int fd, std::string_view path);

// Replaces `temporary` in the message of `status` with `final_path`, which the user knows.
Status WithFinalName(const Status& status, const std::string& temporary,
                     const std::string& final_path);

// Returns the status of a failed write, mkdir or rename, which says what happened and what to do.
Status WriteError(int error_number, std::string_view path, std::string_view action);

}  // namespace stoker::internal

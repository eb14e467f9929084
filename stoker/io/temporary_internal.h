// The temporary sibling behind AtomicFileWriter and AtomicDirectory, and how the error texts of
// writing are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/io/descriptor.h"

namespace stoker::internal {

// A new file or directory ".NAME.tmp-PID-RANDOM" beside the path that it is to become. It holds a
// lock (flock), which the kernel drops when the process dies. Destroyed before Publish, it removes
// itself.
class Temporary {
 public:
  enum class Type { kFile, kDirectory };

  static Result<Temporary> Create(Type type, std::string final_path);

  Temporary(Temporary&& other) noexcept = default;
  Temporary& operator=(Temporary&& other) noexcept = default;
  ~Temporary();

  const std::string& final_path() const { return final_path_; }
  const std::string& path() const { return path_; }
  int fd() const { return descriptor_.get(); }

  // Gives it the final name and flushes the directory that holds it. After an error it has the
  // final name only where the flush itself failed.
  Status Publish();

 private:
  Temporary(std::string final_path, std::string path, Descriptor descriptor)
      : final_path_(std::move(final_path)),
        path_(std::move(path)),
        descriptor_(std::move(descriptor)) {}

  std::string final_path_;
  std::string path_;
  Descriptor descriptor_;  // none once published or moved from: then there is nothing to remove
};

// A new name beside `final_path` that RemoveIfStale knows.
std::string TemporaryName(const std::string& final_path);

// What `name` (not a path) is to become, where it is that of a temporary; empty for other names.
std::string_view FinalNameIn(std::string_view name);

// The directory that holds a file, opened before the file gets its name there: whatever could fail
// but the flush itself then fails while nothing has changed.
class ParentDirectory {
 public:
  // That of `path`, which need not exist.
  static Result<ParentDirectory> Open(const std::string& path);

  // Flushes its entries to the disk.
  Status Flush() const;

 private:
  ParentDirectory(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  std::string path_;
  Descriptor descriptor_;
};

// Removes what `name` is in the directory where it is a temporary whose process is gone; whether it
// was. One that is just being made, by whichever thread, is left alone, or its maker takes another
// name: Create never hands out what is removed here.
Result<bool> RemoveIfStale(const std::string& directory, std::string_view name);

// Whether `path` still names what is open as `fd`. `flags`: as of fstatat(2); with
// AT_SYMLINK_NOFOLLOW a link to it does not.
bool IsStill(const std::string& path, int fd, int flags = 0);

// Writes all of `bytes` to `fd`; `path` and `offset` are for the error message.
Status WriteAll(int fd, std::span<const std::byte> bytes, std::string_view path, uint64_t offset);

// Flushes an open file or directory to the disk.
Status SyncToDisk(int fd, std::string_view path);

// `status` with `final_path` wherever its message names `temporary`, which the user never sees.
Status WithFinalName(const Status& status, const std::string& temporary,
                     const std::string& final_path);

// The status of a failed write, mkdir or rename: what happened and what to do.
Status WriteError(int error_number, std::string_view path, std::string_view action);

}  // namespace stoker::internal

#include "stoker/io/append_line.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "stoker/io/descriptor.h"
#include "stoker/io/temporary_internal.h"

namespace stoker {
namespace {

Result<Descriptor> OpenToAppend(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!file.valid()) return internal::WriteError(errno, path, "cannot open to append lines to it");
  return file;
}

// Of the whole file, among all who opened it. A file system without locks leaves O_APPEND, which
// keeps lines apart but does not take half a line back.
class FileLock {
 public:
  explicit FileLock(int fd) : fd_(fd) {
    while (::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FileLock() { ::flock(fd_, LOCK_UN); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  const int fd_;
};

// Whether the last byte of a file of this size, which is not 0, ends a line.
bool EndsWithALine(int fd, off_t size) {
  char last = '\n';
  return ::pread(fd, &last, 1, size - 1) != 1 || last == '\n';
}

}  // namespace

Status AppendLine(const std::string& path, std::string_view line) {
  STOKER_ASSIGN_OR_RETURN(const Descriptor file, OpenToAppend(path));
  const int fd = file.get();
  const FileLock lock(fd);
  struct stat before {};
  if (::fstat(fd, &before) != 0)
    return internal::WriteError(errno, path, "cannot append a line to it");
  std::string text(before.st_size == 0 || EndsWithALine(fd, before.st_size) ? "" : "\n");
  text += line;
  text += '\n';
  const Status status = internal::WriteAll(fd, std::as_bytes(std::span(text)), path,
                                           static_cast<uint64_t>(before.st_size));
  // Where this fails too, half a line stays, and the next call ends it.
  if (!status.ok()) {
    [[maybe_unused]] const int ignored = ::ftruncate(fd, before.st_size);
  }
  return status;
}

Status PrepareToAppend(const std::string& path) { return OpenToAppend(path).status(); }

}  // namespace stoker

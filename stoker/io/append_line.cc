#include "stoker/io/append_line.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "stoker/base/stop_scope.h"
#include "stoker/io/descriptor.h"
#include "stoker/io/local_retry.h"
#include "stoker/io/temporary_internal.h"

namespace stoker {
namespace {

Result<Descriptor> OpenToAppend(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC;
  Descriptor file(RetryPassingTrouble(path, [&] { return ::open(path.c_str(), kFlags, 0666); }));
  if (!file.valid()) return internal::WriteError(errno, path, "cannot open to append lines to it");
  return file;
}

// Of the whole file, among all who opened it. A file system without locks leaves O_APPEND, which
// keeps lines apart but does not take half a line back.
class FileLock {
 public:
  explicit FileLock(int fd) : fd_(fd) { problem_ = FlockUnlessStopped(fd_, LOCK_EX); }
  ~FileLock() { ::flock(fd_, LOCK_UN); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  bool stopped() const { return problem_ == ECANCELED; }

 private:
  const int fd_;
  int problem_ = 0;
};

// Whether the last byte of a file of this size, which is not 0, ends a line.
bool EndsWithALine(int fd, off_t size) {
  char last = '\n';
  return ::pread(fd, &last, 1, size - 1) != 1 || last == '\n';
}

Result<uint64_t> SizeOf(int fd, const std::string& path) {
  struct stat found {};
  if (::fstat(fd, &found) != 0) return internal::WriteError(errno, path, "cannot look at");
  return static_cast<uint64_t>(found.st_size);
}

Result<std::string> ReadFrom(int fd, uint64_t offset, uint64_t size, const std::string& path) {
  std::string text(size, '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = RetryPassingTrouble(path, [&] {
      return ::pread(fd, text.data() + done, text.size() - done, static_cast<off_t>(offset + done));
    });
    if (got < 0) return internal::WriteError(errno, path, "cannot read its last lines");
    if (got == 0) break;  // somebody has cut it short meanwhile
    done += static_cast<size_t>(got);
  }
  text.resize(done);
  return text;
}

Status WriteAt(int fd, std::string_view text, uint64_t offset, const std::string& path) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = RetryPassingTrouble(path, [&] {
      return ::pwrite(fd, text.data() + done, text.size() - done,
                      static_cast<off_t>(offset + done));
    });
    if (wrote < 0) return internal::WriteError(errno, path, "cannot write its last lines");
    done += static_cast<size_t>(wrote);
  }
  return OkStatus();
}

}  // namespace

Result<uint64_t> AppendLine(const std::string& path, std::string_view line) {
  STOKER_ASSIGN_OR_RETURN(const Descriptor file, OpenToAppend(path));
  const int fd = file.get();
  const FileLock lock(fd);
  if (lock.stopped())
    return Cancelled("{}: asked to stop while another one appended a line to it", path);
  STOKER_ASSIGN_OR_RETURN(const uint64_t before, SizeOf(fd, path));
  std::string text(before == 0 || EndsWithALine(fd, static_cast<off_t>(before)) ? "" : "\n");
  text += line;
  text += '\n';
  const Status status = internal::WriteAll(fd, std::as_bytes(std::span(text)), path, before);
  // Where this fails too, half a line stays, and the next call ends it.
  if (!status.ok()) {
    [[maybe_unused]] const int ignored = ::ftruncate(fd, static_cast<off_t>(before));
    return status;
  }
  return before + text.size();
}

Result<uint64_t> PrepareToAppend(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const Descriptor file, OpenToAppend(path));
  return SizeOf(file.get(), path);
}

Result<uint64_t> TakeBackLines(const std::string& path, uint64_t offset,
                               const std::function<bool(std::string_view line)>& take_back) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!file.valid() && (errno == ENOENT || errno == ELOOP)) return offset;
  if (!file.valid()) return internal::WriteError(errno, path, "cannot take lines back");
  const int fd = file.get();
  const FileLock lock(fd);
  if (lock.stopped())
    return Cancelled("{}: asked to stop while another one appended a line to it", path);
  STOKER_ASSIGN_OR_RETURN(const uint64_t size, SizeOf(fd, path));
  if (size <= offset) return size;
  if (offset > 0 && !EndsWithALine(fd, static_cast<off_t>(offset))) return size;
  STOKER_ASSIGN_OR_RETURN(const std::string tail, ReadFrom(fd, offset, size - offset, path));
  std::string kept;
  for (size_t begin = 0; begin < tail.size();) {
    const size_t end = tail.find('\n', begin);
    if (end == tail.npos) break;
    const std::string_view line = std::string_view(tail).substr(begin, end - begin);
    if (!take_back(line)) kept.append(line).append("\n");
    begin = end + 1;
  }
  // What is kept is written before the rest is cut off: a process that is killed between the two
  // loses nothing.
  STOKER_RETURN_IF_ERROR(WriteAt(fd, kept, offset, path));
  if (::ftruncate(fd, static_cast<off_t>(offset + kept.size())) != 0)
    return internal::WriteError(errno, path, "cannot take lines back");
  return offset + kept.size();
}

}  // namespace stoker

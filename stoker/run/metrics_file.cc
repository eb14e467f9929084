#include "stoker/run/metrics_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "stoker/base/json_text.h"

namespace stoker {
namespace {

Result<Descriptor> OpenForAppending(const std::string& path) {
  Descriptor descriptor(
      ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!descriptor.valid() && errno == ELOOP) {
    return FailedPrecondition(
        "{}: is a symbolic link, and what it leads to would be cut; put the file itself there",
        path);
  }
  if (!descriptor.valid()) return ErrnoStatus(errno, path);
  return descriptor;
}

// Where the last line that ends within the first `size` bytes ends. Reads from there backwards.
Result<off_t> EndOfWholeLines(int fd, const std::string& path, off_t size) {
  char block[4096];
  while (size > 0) {
    const auto wanted = std::min<off_t>(size, sizeof block);
    const ssize_t got = ::pread(fd, block, static_cast<size_t>(wanted), size - wanted);
    if (got < 0) return ErrnoStatus(errno, path);
    const size_t newline = std::string_view(block, static_cast<size_t>(got)).rfind('\n');
    if (newline != std::string_view::npos) return size - wanted + static_cast<off_t>(newline) + 1;
    size -= wanted;
  }
  return 0;
}

}  // namespace

Result<MetricsFile> MetricsFile::Open(std::string path) {
  STOKER_ASSIGN_OR_RETURN(Descriptor descriptor, OpenForAppending(path));
  return MetricsFile(std::move(path), std::move(descriptor));
}

Status MetricsFile::Append(const Json& line) {
  const std::string text = DumpJson(line) + '\n';
  const ssize_t written = ::write(descriptor_.get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return OkStatus();
  if (written < 0) return ErrnoStatus(errno, path_);
  return ResourceExhausted("{}: only {} of {} bytes could be written; free some space, then resume",
                           path_, written, text.size());
}

Result<uint64_t> MetricsFile::Size() const {
  struct stat status;
  if (::fstat(descriptor_.get(), &status) != 0) return ErrnoStatus(errno, path_);
  return static_cast<uint64_t>(status.st_size);
}

Status MetricsFile::Sync() const {
  return ::fdatasync(descriptor_.get()) == 0 ? OkStatus() : ErrnoStatus(errno, path_);
}

Status MetricsFile::CutBack(uint64_t size) {
  struct stat status;
  if (::fstat(descriptor_.get(), &status) != 0) return ErrnoStatus(errno, path_);
  if (static_cast<uint64_t>(status.st_size) < size) {
    return DataLoss("{}: has {} bytes, and {} were written: lines are missing", path_,
                    status.st_size, size);
  }
  STOKER_ASSIGN_OR_RETURN(const off_t kept,
                          EndOfWholeLines(descriptor_.get(), path_, static_cast<off_t>(size)));
  if (::ftruncate(descriptor_.get(), kept) != 0) return ErrnoStatus(errno, path_);
  return OkStatus();
}

}  // namespace stoker

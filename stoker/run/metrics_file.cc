#include "stoker/run/metrics_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string_view>

#include "stoker/base/json_text.h"
#include "stoker/io/file.h"
#include "stoker/io/temporary.h"

namespace stoker {
namespace {

Result<Descriptor> OpenForAppending(const std::string& path) {
  Descriptor descriptor =
      OpenUninterrupted(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC);
  if (!descriptor.valid() && errno == ELOOP) {
    return FailedPrecondition(
        "{}: is a symbolic link, and what it leads to would be cut; put the file itself there",
        path);
  }
  if (!descriptor.valid()) return ErrnoStatus(errno, path);
  return descriptor;
}

// Fills `out` from byte `at` on, which the file has.
Status ReadAllOf(int fd, const std::string& path, off_t at, std::span<char> out) {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd, out.data(), out.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, path);
    if (got == 0)
      return DataLoss("{}: byte {}: the file ends here; it was cut meanwhile", path, at);
    out = out.subspan(static_cast<size_t>(got));
    at += got;
  }
  return OkStatus();
}

// Where the last line that ends within the first `size` bytes ends. Reads from there backwards.
Result<off_t> EndOfWholeLines(int fd, const std::string& path, off_t size) {
  char block[4096];
  while (size > 0) {
    const std::span<char> part(block, static_cast<size_t>(std::min<off_t>(size, sizeof block)));
    size -= static_cast<off_t>(part.size());
    STOKER_RETURN_IF_ERROR(ReadAllOf(fd, path, size, part));
    const size_t newline = std::string_view(part.data(), part.size()).rfind('\n');
    if (newline != std::string_view::npos) return size + static_cast<off_t>(newline) + 1;
  }
  return 0;
}

// Appends what `from` holds to the empty file `to`.
Status CopyAll(int from, uint64_t size, int to, const std::string& path) {
  char block[65536];
  for (uint64_t at = 0; at < size;) {
    const std::span<char> part(block, std::min<uint64_t>(size - at, sizeof block));
    STOKER_RETURN_IF_ERROR(ReadAllOf(from, path, static_cast<off_t>(at), part));
    STOKER_RETURN_IF_ERROR(internal::WriteAll(to, std::as_bytes(part), path, at));
    at += part.size();
  }
  return OkStatus();
}

Status LinesMissing(const std::string& path, uint64_t there, uint64_t written) {
  return DataLoss("{}: has {} bytes, and {} were written: lines are missing", path, there, written);
}

}  // namespace

Result<MetricsFile> MetricsFile::Open(std::string path) {
  STOKER_ASSIGN_OR_RETURN(Descriptor descriptor, OpenForAppending(path));
  return MetricsFile(std::move(path), std::move(descriptor));
}

Status MetricsFile::FollowName() {
  STOKER_ASSIGN_OR_RETURN(const bool is_still,
                          internal::IsStill(path_, descriptor_.get(), AT_SYMLINK_NOFOLLOW,
                                            /*patience_seconds=*/0));
  if (is_still) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(Descriptor named, OpenForAppending(path_));
  struct stat status;
  if (::fstat(named.get(), &status) != 0) return ErrnoStatus(errno, path_);
  if (status.st_size == 0) {
    STOKER_ASSIGN_OR_RETURN(const uint64_t size, Size());
    STOKER_RETURN_IF_ERROR(CopyAll(descriptor_.get(), size, named.get(), path_));
  }
  descriptor_ = std::move(named);
  return OkStatus();
}

Status MetricsFile::Append(const Json& line) {
  if (!descriptor_.valid()) return OkStatus();
  // Where that fails, as when the whole directory was renamed, the line goes to the open file.
  static_cast<void>(FollowName());
  const std::string text = DumpJson(line) + '\n';
  STOKER_ASSIGN_OR_RETURN(const uint64_t size, Size());
  const Status written =
      internal::WriteAll(descriptor_.get(), std::as_bytes(std::span(text)), path_, size);
  // Of a full disk there is a part of the line, behind which others would follow.
  if (!written.ok()) static_cast<void>(::ftruncate(descriptor_.get(), static_cast<off_t>(size)));
  return written;
}

Result<uint64_t> MetricsFile::Size() const {
  if (!descriptor_.valid()) return 0;
  struct stat status;
  if (::fstat(descriptor_.get(), &status) != 0) return ErrnoStatus(errno, path_);
  return static_cast<uint64_t>(status.st_size);
}

Status MetricsFile::Sync() const {
  if (!descriptor_.valid()) return OkStatus();
  return ::fdatasync(descriptor_.get()) == 0 ? OkStatus() : ErrnoStatus(errno, path_);
}

Status MetricsFile::CheckLinesUpTo(uint64_t size) const {
  return descriptor_.valid() ? stoker::CheckLinesUpTo(path_, size) : OkStatus();
}

Status MetricsFile::CutBack(uint64_t size) {
  if (!descriptor_.valid()) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const uint64_t there, Size());
  if (there < size) return LinesMissing(path_, there, size);
  STOKER_ASSIGN_OR_RETURN(const off_t kept,
                          EndOfWholeLines(descriptor_.get(), path_, static_cast<off_t>(size)));
  if (::ftruncate(descriptor_.get(), kept) != 0) return ErrnoStatus(errno, path_);
  return OkStatus();
}

Status CheckLinesUpTo(const std::string& path, uint64_t size) {
  STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path));
  if (file.size() < size) return LinesMissing(path, file.size(), size);
  if (size == 0) return OkStatus();
  std::byte last{};
  STOKER_ASSIGN_OR_RETURN(const size_t got, file.ReadUpTo(size - 1, {&last, 1}));
  if (got == 1 && last == std::byte{'\n'}) return OkStatus();
  return DataLoss(
      "{}: byte {}, up to which whole lines were written, is inside a line: lines were changed",
      path, size);
}

}  // namespace stoker

#include "stoker/train/metrics_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "stoker/io/file.h"

namespace stoker {
namespace {

Result<Descriptor> OpenForAppending(const std::string& path) {
  Descriptor descriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!descriptor.valid()) return ErrnoStatus(errno, path);
  return descriptor;
}

// How much of `text` remains when it is cut back to `size` bytes of whole lines.
size_t WholeLines(std::string_view text, uint64_t size) {
  const std::string_view kept = text.substr(0, std::min<uint64_t>(size, text.size()));
  return kept.rfind('\n') + 1;  // npos + 1 is 0
}

}  // namespace

Result<MetricsFile> MetricsFile::Open(std::string path) {
  STOKER_ASSIGN_OR_RETURN(Descriptor descriptor, OpenForAppending(path));
  return MetricsFile(std::move(path), std::move(descriptor));
}

Status MetricsFile::Append(const Json& line) {
  const std::string text = line.dump() + '\n';
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

Status MetricsFile::CutBack(uint64_t size) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path_, uint64_t{4} << 30));
  const auto kept = static_cast<off_t>(WholeLines(text, size));
  if (::ftruncate(descriptor_.get(), kept) != 0) return ErrnoStatus(errno, path_);
  return OkStatus();
}

}  // namespace stoker

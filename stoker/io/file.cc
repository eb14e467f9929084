#include "stoker/io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "stoker/base/path_check.h"
#include "stoker/base/remote_path.h"
#include "stoker/base/stop_scope.h"
#include "stoker/base/trace.h"
#include "stoker/io/local_retry.h"
#include "stoker/io/mapped_ranges.h"
#include "stoker/io/remote/remote_file.h"
#include "stoker/io/remote/shard_cache.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// Read at once: a slow disk delivers this in less than a second, so a pass that is asked to stop
// does not wait for a file of gigabytes.
constexpr size_t kPieceBytes = 16 << 20;

// Which part of a path that does not exist is the wrong one.
Status MissingFile(const std::string& path) {
  std::error_code error, ignored;
  const fs::path absolute = fs::absolute(path, error);
  if (error) {
    return NotFound(
        "{}: no such file: the working directory it is relative to is gone; change to another one, "
        "or name an absolute path",
        path);
  }
  fs::path missing = absolute;
  while (missing.has_relative_path() && !fs::exists(missing.parent_path(), ignored))
    missing = missing.parent_path();
  if (missing.has_relative_path() && !fs::is_directory(missing.parent_path(), ignored)) {
    return NotFound("{}: no such file: {} is a file, not a directory; check the path", path,
                    missing.parent_path().string());
  }
  if (missing != absolute) {
    return NotFound("{}: no such file: there is no directory {}; check the path", path,
                    missing.string());
  }
  // Data sets come with and without .gz, and the wrong one is easily named.
  const fs::path sibling = path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path + ".gz";
  if (fs::exists(sibling, ignored)) {
    return NotFound("{}: no such file, but there is {} beside it; is that meant?", path,
                    sibling.filename().string());
  }
  return NotFound("{}: no such file in its directory; check the name", path);
}

std::string_view AdviceFor(int error_number) {
  switch (error_number) {
    case EACCES:
    case EPERM: return "check the permissions of the file and its directories";
    case EMFILE:
    case ENFILE: return "close some files, or raise the limit (ulimit -n)";
    case ENOMEM: return "free memory, or raise the limits on it (ulimit -v, vm.max_map_count)";
    case ELOOP:
    case ENAMETOOLONG: return "check the path";
    default: return "check the disk, or the connection to it, and try again";
  }
}

Status AdvisedStatus(int error_number, const std::string& what) {
  const Status status = ErrnoStatus(error_number, what);
  return {status.code(), fmt::format("{}; {}", status.message(), AdviceFor(error_number))};
}

Status OpenError(int error_number, const std::string& path) {
  if (path.empty()) return InvalidArgument("the path of a file to read is empty; give one");
  if (error_number == ENOENT || error_number == ENOTDIR) return MissingFile(path);
  return AdvisedStatus(error_number, fmt::format("{}: cannot open for reading", path));
}

struct Opened {
  Descriptor descriptor;
  struct stat stat;
};

Result<Opened> OpenForReading(const std::string& path, int extra_flags) {
  STOKER_RETURN_IF_ERROR(CheckNoZeroByte(path));
  const int flags = O_RDONLY | O_CLOEXEC | extra_flags;
  Opened opened{Descriptor(RetryPassingTrouble(path, [&] { return ::open(path.c_str(), flags); })),
                {}};
  if (!opened.descriptor.valid()) return OpenError(errno, path);
  const int fd = opened.descriptor.get();
  if (RetryPassingTrouble(path, [&] { return ::fstat(fd, &opened.stat); }) != 0)
    return ErrnoStatus(errno, fmt::format("{}: cannot look at", path));
  if (S_ISDIR(opened.stat.st_mode))
    return InvalidArgument("{}: is a directory; name a file in it", path);
  return opened;
}

Status ReadError(int error_number, const std::string& path, uint64_t offset) {
  return AdvisedStatus(error_number, fmt::format("{}: byte {}: cannot read", path, offset));
}

int KernelAdvice(MapAdvice advice) {
  switch (advice) {
    case MapAdvice::kNormal: return MADV_NORMAL;
    case MapAdvice::kSequential: return MADV_SEQUENTIAL;
    case MapAdvice::kRandom: return MADV_RANDOM;
    case MapAdvice::kWillNeed: return MADV_WILLNEED;
  }
  return MADV_NORMAL;
}

}  // namespace

Result<File> File::Open(std::string path) {
  if (IsRemotePath(path)) return OpenRemotely(path, /*locally=*/false);
  if (path == "-") path = "/dev/stdin";
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  STOKER_ASSIGN_OR_RETURN(Opened opened, OpenForReading(path, O_NONBLOCK));
  if (!S_ISREG(opened.stat.st_mode)) {
    return Unimplemented("{}: is a pipe, socket or device; copy its content to a file first", path);
  }
  return File(std::move(path), std::move(opened.descriptor),
              static_cast<uint64_t>(opened.stat.st_size));
}

Result<File> File::OpenLocally(std::string path) {
  if (IsRemotePath(path)) return OpenRemotely(path, /*locally=*/true);
  return Open(std::move(path));
}

Result<File> File::OpenRemotely(const std::string& path, bool locally) {
  STOKER_ASSIGN_OR_RETURN(std::shared_ptr<const RemoteFile> remote, RemoteFile::Open(path));
  const bool must = locally || !remote->positional();
  std::optional<Descriptor> copy;
  if (must || ShardCache::KeepsEverything(remote->options())) {
    STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<ShardCache> cache,
                            ShardCache::Of(remote->options()));
    if (must) {
      STOKER_ASSIGN_OR_RETURN(copy, cache->Fetch(remote));
    } else {
      STOKER_ASSIGN_OR_RETURN(copy, cache->Find(*remote));
    }
  }
  if (!copy) {
    File file(remote->name(), Descriptor(), remote->size());
    file.remote_ = std::move(remote);
    return file;
  }
  struct stat found {};
  if (::fstat(copy->get(), &found) != 0)
    return ErrnoStatus(errno, fmt::format("{}: cannot look at its copy", remote->name()));
  File file(remote->name(), *std::move(copy), static_cast<uint64_t>(found.st_size));
  file.is_copy_ = true;
  return file;
}

Result<size_t> File::ReadUpTo(uint64_t offset, std::span<std::byte> out) const {
  if (remote_) return remote_->ReadUpTo(offset, out);
  const TraceSpan span("read a file");
  size_t done = 0;
  while (done < out.size()) {
    if (done > 0 && StopScope::Asked())
      return Cancelled("{}: byte {}: the pass was asked to stop", path_, offset + done);
    const size_t piece = std::min(out.size() - done, kPieceBytes);
    const ssize_t got = RetryPassingTrouble(path_, [&] {
      return ::pread(descriptor_.get(), out.data() + done, piece,
                     static_cast<off_t>(offset + done));
    });
    if (got < 0) return ReadError(errno, path_, offset + done);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Status File::ReadAt(uint64_t offset, std::span<std::byte> out) const {
  STOKER_ASSIGN_OR_RETURN(const size_t got, ReadUpTo(offset, out));
  if (got == out.size()) return OkStatus();
  return DataLoss(
      "{}: byte {}: {} bytes wanted, the file has {}; it was cut short: copy or download it again",
      path_, offset, out.size(), got);
}

Result<Buffer> ReadWholeFile(const std::string& path, uint64_t limit,
                             std::shared_ptr<MemoryAccount> account) {
  STOKER_ASSIGN_OR_RETURN(const File file, File::Open(path));
  if (file.size() > limit) {
    return ResourceExhausted(
        "{}: the file has {} bytes, at most {} are read at once; is it the right file?", path,
        file.size(), limit);
  }
  Buffer buffer = Buffer::Allocate(file.size(), std::move(account));
  STOKER_RETURN_IF_ERROR(file.ReadAt(0, {buffer.data(), buffer.size()}));
  return buffer;
}

Result<std::string> ReadTextFile(const std::string& path, uint64_t limit) {
  if (IsRemotePath(path)) {
    STOKER_ASSIGN_OR_RETURN(const Buffer bytes, ReadWholeFile(path, limit));
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  // With O_NONBLOCK the wait for the writer of a pipe is one that can be ended.
  STOKER_ASSIGN_OR_RETURN(const Opened opened, OpenForReading(path, O_NONBLOCK));
  const bool may_wait = !S_ISREG(opened.stat.st_mode);
  constexpr size_t kChunk = 64 << 10;
  std::string text;
  while (true) {
    const size_t before = text.size();
    const int problem = may_wait ? PollUnlessStopped(opened.descriptor.get()) : 0;
    if (problem == ECANCELED)
      return Cancelled("{}: byte {}: asked to stop while it waited for bytes that nothing wrote",
                       path, before);
    if (problem != 0) return ReadError(problem, path, before);
    text.resize(before + kChunk);
    const ssize_t got = RetryPassingTrouble(
        path, [&] { return ::read(opened.descriptor.get(), text.data() + before, kChunk); });
    const int error = errno;
    text.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && may_wait && error == EAGAIN) continue;
    if (got < 0) return ReadError(error, path, before);
    if (got == 0) return text;
    if (text.size() > limit) {
      return ResourceExhausted("{}: the text is longer than {} bytes; is it the right file?", path,
                               limit);
    }
  }
}

Result<MappedFile> MappedFile::Open(std::string path, MapAdvice advice) {
  STOKER_ASSIGN_OR_RETURN(File file, File::OpenLocally(path));
  const size_t size = file.size();
  if (size == 0) return MappedFile(std::move(path), Buffer());  // mmap refuses a length of 0
  // Private and writable: arrays that share the mapping may be written to without touching the
  // file.
  void* start = nullptr;
  const int mapped = RetryPassingTrouble(path, [&] {
    start = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                   file.descriptor_.get(), 0);
    return start == MAP_FAILED ? -1 : 0;
  });
  if (mapped != 0) {
    const int error = errno;
    return AdvisedStatus(error, fmt::format("{}: cannot map {} bytes", path, size));
  }
  ::madvise(start, size, KernelAdvice(advice));  // advice: a refusal costs speed only
  std::shared_ptr<const Descriptor> in_use;
  if (file.is_copy_) in_use = std::make_shared<const Descriptor>(std::move(file.descriptor_));
  auto range = std::make_shared<const MappedRange>(start, size, path);
  Buffer buffer = Buffer::Wrap(static_cast<std::byte*>(start), size,
                               [start, size, in_use, range = std::move(range)]() mutable {
                                 range.reset();  // before another mapping can lie there
                                 ::munmap(start, size);
                               });
  return MappedFile(std::move(path), std::move(buffer));
}

}  // namespace stoker

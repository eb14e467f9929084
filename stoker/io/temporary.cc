#include "stoker/io/temporary.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>

namespace stoker::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".tmp-";
constexpr size_t kRandomDigits = 8;
constexpr int kCreateAttempts = 100;

std::string DirectoryOf(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// Creates `path` and opens it; an invalid descriptor, with errno, where that fails.
Descriptor CreateAndOpen(Temporary::Type type, const std::string& path) {
  if (type != Temporary::Type::kDirectory) {
    return OpenUninterrupted(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
  }
  if (::mkdir(path.c_str(), 0777) != 0) return Descriptor();
  return OpenUninterrupted(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool IsLowerHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

struct NameParts {
  std::string_view final_name;
  pid_t process = 0;
};

// The parts of a temporary's name; nothing for any other name.
std::optional<NameParts> ParseName(std::string_view name) {
  const size_t mark = name.rfind(kMark);
  if (!name.starts_with('.') || mark == std::string_view::npos || mark < 2) return std::nullopt;
  const std::string_view tail = name.substr(mark + kMark.size());
  const size_t dash = tail.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view random = tail.substr(dash + 1);
  if (random.size() != kRandomDigits || !std::all_of(random.begin(), random.end(), IsLowerHex))
    return std::nullopt;
  NameParts parts{.final_name = name.substr(1, mark - 1)};
  const auto [end, error] = std::from_chars(tail.data(), tail.data() + dash, parts.process);
  if (error != std::errc() || end != tail.data() + dash || parts.process <= 0) return std::nullopt;
  return parts;
}

// Locks what has just been made at `path`. False if another process was faster, took it for stale
// and removes it (RemoveIfStale, which holds the lock until it is gone).
Result<bool> LockNew(const std::string& path, int fd) {
  // A file system without locks leaves the process number as the sign.
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  return IsStill(path, fd, AT_SYMLINK_NOFOLLOW, /*patience_seconds=*/0);  // Create tries again
}

std::string_view AdviceFor(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT: return "; free space on that file system or write elsewhere";
    case EFBIG:
      return "; raise the file size limit (ulimit -f) or write to a file system that takes larger "
             "files";
    case EROFS: return "; write to a directory on another file system";
    case EACCES:
    case EPERM: return "; allow writing to its directory or choose another";
    case ENOENT: return "; make its directory first or check the path";
    case ENOTDIR: return "; a part of the path is a file: check the path";
    case EEXIST:
    case ENOTEMPTY: return "; remove what is there or choose another name";
    default: return "";
  }
}

}  // namespace

Result<bool> IsStill(const std::string& path, int fd, int flags, double patience_seconds) {
  struct stat named {
  }, open{};
  LocalRetry retry(path, patience_seconds);
  while (::fstatat(AT_FDCWD, path.c_str(), &named, flags) != 0 || ::fstat(fd, &open) != 0) {
    if (errno == ENOENT) return false;
    if (!retry.Again(errno)) return WriteError(errno, path, "cannot look at it");
  }
  return named.st_ino == open.st_ino && named.st_dev == open.st_dev;
}

std::string TemporaryName(const std::string& final_path) {
  // From the system's entropy, not from a run's seed: two processes must not agree on a name.
  const uint32_t random = std::random_device{}();
  const std::string name = fs::path(final_path).filename().string();
  return fmt::format("{}/.{}{}{}-{:08x}", DirectoryOf(final_path), name, kMark, ::getpid(), random);
}

Status WriteError(int error_number, std::string_view path, std::string_view action) {
  const Status status = ErrnoStatus(error_number, fmt::format("{}: {}", path, action));
  // A limit on file sizes is a resource that ran out; a path through a file is a path that does not
  // exist.
  const StatusCode code = error_number == EFBIG     ? StatusCode::kResourceExhausted
                          : error_number == ENOTDIR ? StatusCode::kNotFound
                                                    : status.code();
  return {code, fmt::format("{}{}", status.message(), AdviceFor(error_number))};
}

Status WithFinalName(const Status& status, const std::string& temporary,
                     const std::string& final_path) {
  if (status.ok()) return status;
  std::string message = status.message();
  for (size_t at = 0; (at = message.find(temporary, at)) != std::string::npos;
       at += final_path.size())
    message.replace(at, temporary.size(), final_path);
  return {status.code(), std::move(message)};
}

Status WriteAll(int fd, std::span<const std::byte> bytes, std::string_view path, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return WriteError(errno, path, fmt::format("byte {}: cannot write", offset));
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return OkStatus();
}

Status SyncToDisk(int fd, std::string_view path) {
  // Some file systems cannot flush a directory on its own (EINVAL): there is nothing to wait for,
  // then.
  if (::fsync(fd) != 0 && errno != EINVAL)
    return WriteError(errno, path, "cannot flush to the disk");
  return OkStatus();
}

Result<Temporary> Temporary::Create(Type type, std::string final_path) {
  while (final_path.size() > 1 && final_path.ends_with('/')) final_path.pop_back();
  if (fs::path(final_path).filename().empty()) {
    return InvalidArgument(
        "'{}' cannot be written: it names no file; give a path that ends in a name", final_path);
  }
  Status problem =
      Unavailable("{}: cannot create a temporary beside it: {} names were all taken; try again",
                  final_path, kCreateAttempts);
  for (int attempt = 0; attempt < kCreateAttempts; ++attempt) {
    std::string path = TemporaryName(final_path);
    // Before it is there: a signal may come at any moment.
    auto unfinished = type == Type::kUnfinishedFile ? std::make_unique<UnfinishedFile>(path)
                                                    : std::unique_ptr<UnfinishedFile>();
    Descriptor descriptor = CreateAndOpen(type, path);
    if (!descriptor.valid()) {
      if (errno == EEXIST) continue;
      return WriteError(errno, final_path, "cannot create a temporary beside it");
    }
    // Held until this process ends or publishes.
    const Result<bool> locked = LockNew(path, descriptor.get());
    if (locked.ok() && !*locked) continue;
    Temporary made(final_path, std::move(path), std::move(descriptor), std::move(unfinished));
    if (locked.ok()) return made;
    problem = WithFinalName(locked.status(), made.path(), final_path);
  }
  return problem;
}

Temporary::~Temporary() {
  if (!descriptor_.valid()) return;
  // A leftover is harmless: it is stale, and RemoveStaleTemporaries knows it.
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Status Temporary::Publish() {
  STOKER_ASSIGN_OR_RETURN(const ParentDirectory parent, ParentDirectory::Open(final_path_));
  if (std::rename(path_.c_str(), final_path_.c_str()) != 0) {
    return WriteError(errno, final_path_, "cannot give the finished file its name");
  }
  const Descriptor published = std::move(descriptor_);
  return parent.Flush();
}

Status Temporary::PublishInPlaceOfAnother() {
  STOKER_ASSIGN_OR_RETURN(const ParentDirectory parent, ParentDirectory::Open(final_path_));
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, final_path_.c_str(), RENAME_EXCHANGE) == 0) {
    const Descriptor published = std::move(descriptor_);
    const Status flushed = parent.Flush();
    std::error_code error;
    fs::remove_all(path_, error);  // what had the name
    return error && flushed.ok()
               ? WriteError(error.value(), final_path_, "cannot remove what it takes the place of")
               : flushed;
  }
  if (errno == ENOENT) return Publish();
  return errno == EINVAL || errno == ENOSYS
             ? TakeTheNameOfAnother()
             : WriteError(errno, final_path_, "cannot give the finished directory its name");
}

Status Temporary::TakeTheNameOfAnother() {
  const std::string aside = TemporaryName(final_path_);
  if (std::rename(final_path_.c_str(), aside.c_str()) != 0)
    return WriteError(errno, final_path_, "cannot rename what it takes the place of");
  const Status published = Publish();
  if (descriptor_.valid()) {  // has no name yet
    std::rename(aside.c_str(), final_path_.c_str());
    return published;
  }
  std::error_code error;
  fs::remove_all(aside, error);
  return error && published.ok() ? WriteError(error.value(), aside, "cannot remove all of it")
                                 : published;
}

Result<ParentDirectory> ParentDirectory::Open(const std::string& path) {
  std::string parent = DirectoryOf(path);
  Descriptor descriptor = OpenUninterrupted(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!descriptor.valid()) return WriteError(errno, parent, "cannot open to flush it to the disk");
  return ParentDirectory(std::move(parent), std::move(descriptor));
}

Status ParentDirectory::Flush() const { return SyncToDisk(descriptor_.get(), path_); }

std::string_view FinalNameIn(std::string_view name) {
  const std::optional<NameParts> parts = ParseName(name);
  return parts ? parts->final_name : std::string_view();
}

Result<bool> RemoveIfStale(const std::string& directory, std::string_view name) {
  const std::optional<NameParts> parts = ParseName(name);
  if (!parts) return false;
  const pid_t process = parts->process;
  // The number may be that of an unrelated process elsewhere (another container on a shared disk),
  // so the lock decides; a living process counts too, for the moment between creating and locking.
  // Our own number on an unlocked file is that of an earlier process: containers start counting
  // anew.
  const bool living = process != ::getpid() && (::kill(process, 0) == 0 || errno == EPERM);
  if (living) return false;
  const std::string path = fmt::format("{}/{}", directory, name);
  const Descriptor file =
      OpenUninterrupted(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  // What cannot be opened cannot be judged either: call it in use.
  if (!file.valid() || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return false;
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return WriteError(error.value(), path, "cannot remove an unfinished file");
  return true;
}

}  // namespace stoker::internal

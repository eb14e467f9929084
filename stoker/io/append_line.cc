#include "stoker/io/append_line.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "stoker/base/stop_scope.h"
#include "stoker/io/descriptor.h"
#include "stoker/io/local_retry.h"
#include "stoker/io/temporary.h"

namespace stoker {
namespace {

Result<Descriptor> OpenToAppend(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC;
  Descriptor file(RetryPassingTrouble(path, [&] { return ::open(path.c_str(), kFlags, 0666); }));
  if (!file.valid()) return internal::WriteError(errno, path, "cannot open to append lines to it");
  return file;
}

// A lock of the whole file, among all that opened it. A file system without locks leaves O_APPEND,
// which keeps lines apart but does not take half a line back; other trouble is an error, since
// another process may hold the lock.
class FileLock {
 public:
  explicit FileLock(int fd) : fd_(fd) { problem_ = FlockUnlessStopped(fd_, LOCK_EX); }
  ~FileLock() { ::flock(fd_, LOCK_UN); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  Status status(const std::string& path) const {
    switch (problem_) {
      case 0:
      case ENOLCK:
      case ENOSYS:
      case EOPNOTSUPP: return OkStatus();
      case ECANCELED:
        return Cancelled("{}: the wait for its lock was asked to stop while another process has it",
                         path);
      default: return internal::WriteError(problem_, path, "cannot lock it to append lines");
    }
  }

 private:
  const int fd_;
  int problem_ = 0;
};

// An open file, locked.
struct LockedFile {
  Descriptor file;
  std::unique_ptr<FileLock> lock;  // let go of first
};

// What `open` opens, once `path` names it and no other process has the lock: one that takes lines
// back may put another file there meanwhile. Nothing if `open` gives none.
template <typename Open>
Result<std::optional<LockedFile>> OpenLocked(const std::string& path, const Open& open) {
  while (true) {
    STOKER_ASSIGN_OR_RETURN(std::optional<Descriptor> file, open());
    if (!file) return std::nullopt;
    auto lock = std::make_unique<FileLock>(file->get());
    STOKER_RETURN_IF_ERROR(lock->status(path));
    STOKER_ASSIGN_OR_RETURN(const bool is_still, internal::IsStill(path, file->get()));
    if (is_still) return LockedFile{*std::move(file), std::move(lock)};
  }
}

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

// One after the other the lines of an open file from some offset on, in memory of kMostLineBytes
// and a little more.
class LinesOf {
 public:
  LinesOf(int fd, std::string path, uint64_t offset, uint64_t end)
      : fd_(fd), path_(std::move(path)), next_(offset), read_(offset), end_(end) {}

  struct Line {
    uint64_t begin = 0, end = 0;           // in the file, the line's end included
    std::optional<std::string_view> text;  // without its end; none if it is too long
  };
  // The next one, which is valid until the next call; nothing if no other one has an end.
  Result<std::optional<Line>> Next() {
    held_.erase(0, taken_);
    taken_ = 0;
    Line line{.begin = next_};
    for (bool too_long = false;;) {
      const size_t end = held_.find('\n');
      if (end != held_.npos) {
        if (!too_long && end <= kMostLineBytes) line.text = std::string_view(held_).substr(0, end);
        taken_ = end + 1;
        next_ += taken_;
        line.end = next_;
        return line;
      }
      if (held_.size() > kMostLineBytes) {
        too_long = true;
        next_ += held_.size();
        held_.clear();
      }
      STOKER_ASSIGN_OR_RETURN(const bool more, ReadMore());
      if (!more) return std::nullopt;
    }
  }

 private:
  // False at the end.
  Result<bool> ReadMore() {
    constexpr uint64_t kBytesAtOnce = 64 << 10;
    const size_t before = held_.size();
    held_.resize(before + static_cast<size_t>(std::min(kBytesAtOnce, end_ - read_)));
    const ssize_t got = RetryPassingTrouble(path_, [&] {
      return ::pread(fd_, held_.data() + before, held_.size() - before, static_cast<off_t>(read_));
    });
    if (got < 0) return internal::WriteError(errno, path_, "cannot read its lines");
    held_.resize(before + static_cast<size_t>(got));
    read_ += static_cast<uint64_t>(got);
    return got > 0;
  }

  const int fd_;
  const std::string path_;
  uint64_t next_;  // in the file, of what is held and not taken
  uint64_t read_;  // so far
  const uint64_t end_;
  std::string held_;
  size_t taken_ = 0;  // of held_, by the last call
};

// What processes that were killed meanwhile have left of the work of Remainder. A directory that
// cannot be listed is left as it is.
Status RemoveStaleCopies(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string directory = file.has_parent_path() ? file.parent_path().string() : ".";
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename().string();
    if (internal::FinalNameIn(name) == file.filename().native()) names.push_back(std::move(name));
  }
  for (const std::string& name : names)
    STOKER_RETURN_IF_ERROR(internal::RemoveIfStale(directory, name).status());
  return OkStatus();
}

// What a file will be once lines have been taken out of it.
class Remainder {
 public:
  // The rest of the open file `fd`, with all before `offset`.
  Remainder(int fd, const std::string& path, uint64_t offset)
      : fd_(fd), path_(path), kept_(offset) {}

  // Also what lies in [begin, end), begin not before the last call's end.
  Status Keep(uint64_t begin, uint64_t end) {
    if (!moved_ && begin == kept_) {
      kept_ = end;
      return OkStatus();
    }
    if (!moved_) {
      STOKER_ASSIGN_OR_RETURN(moved_,
                              internal::Temporary::Create(internal::Temporary::Type::kFile, path_));
      STOKER_RETURN_IF_ERROR(Copy(0, std::exchange(kept_, 0)));
    }
    return Copy(begin, end);
  }

  // Makes the file what has been kept, in one step, and gives its size.
  Result<uint64_t> Take() {
    if (!moved_) {
      if (::ftruncate(fd_, static_cast<off_t>(kept_)) == 0) return kept_;
      return internal::WriteError(errno, path_, "cannot take lines back");
    }
    struct stat rights {};
    if (::fstat(fd_, &rights) != 0 || ::fchmod(moved_->fd(), rights.st_mode & 07777) != 0)
      return internal::WriteError(errno, path_, "cannot give its copy the same access rights");
    STOKER_RETURN_IF_ERROR(internal::SyncToDisk(moved_->fd(), path_));
    STOKER_RETURN_IF_ERROR(moved_->Publish());
    return kept_;
  }

 private:
  Status Copy(uint64_t begin, uint64_t end) {
    std::vector<std::byte> bytes(64 << 10);
    while (begin < end) {
      const size_t wanted = std::min<uint64_t>(bytes.size(), end - begin);
      const ssize_t got = RetryPassingTrouble(
          path_, [&] { return ::pread(fd_, bytes.data(), wanted, static_cast<off_t>(begin)); });
      if (got < 0) return internal::WriteError(errno, path_, "cannot read its lines");
      if (got == 0) break;  // another one has cut it short meanwhile
      const auto copied = static_cast<size_t>(got);
      STOKER_RETURN_IF_ERROR(
          internal::WriteAll(moved_->fd(), std::span(bytes).first(copied), path_, kept_));
      begin += copied;
      kept_ += copied;
    }
    return OkStatus();
  }

  const int fd_;
  const std::string& path_;
  uint64_t kept_;                             // bytes
  std::optional<internal::Temporary> moved_;  // where lines have to move
};

}  // namespace

Result<uint64_t> AppendLine(const std::string& path, std::string_view line) {
  STOKER_ASSIGN_OR_RETURN(const std::optional<LockedFile> locked,
                          OpenLocked(path, [&]() -> Result<std::optional<Descriptor>> {
                            STOKER_ASSIGN_OR_RETURN(Descriptor file, OpenToAppend(path));
                            return std::optional(std::move(file));
                          }));
  const int fd = locked->file.get();
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

Status VisitLines(const std::string& path, const std::function<void(std::string_view)>& visit) {
  const Descriptor file(
      RetryPassingTrouble(path, [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file.valid() && errno == ENOENT) return OkStatus();
  if (!file.valid()) return internal::WriteError(errno, path, "cannot open to read its lines");
  STOKER_ASSIGN_OR_RETURN(const uint64_t size, SizeOf(file.get(), path));
  LinesOf lines(file.get(), path, 0, size);
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<LinesOf::Line> line, lines.Next());
    if (!line) return OkStatus();
    if (line->text) visit(*line->text);
  }
}

Result<uint64_t> TakeBackLines(const std::string& path, uint64_t offset,
                               const std::function<bool(std::string_view line)>& take_back) {
  STOKER_ASSIGN_OR_RETURN(const std::optional<LockedFile> locked,
                          OpenLocked(path, [&]() -> Result<std::optional<Descriptor>> {
                            Descriptor file =
                                OpenUninterrupted(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
                            if (file.valid()) return std::optional(std::move(file));
                            if (errno == ENOENT || errno == ELOOP)
                              return std::optional<Descriptor>();
                            return internal::WriteError(errno, path, "cannot take lines back");
                          }));
  if (!locked) return offset;
  STOKER_RETURN_IF_ERROR(RemoveStaleCopies(path));
  const int fd = locked->file.get();
  STOKER_ASSIGN_OR_RETURN(const uint64_t size, SizeOf(fd, path));
  if (size <= offset) return size;
  if (offset > 0 && !EndsWithALine(fd, static_cast<off_t>(offset))) return size;
  LinesOf lines(fd, path, offset, size);
  Remainder remainder(fd, path, offset);
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const std::optional<LinesOf::Line> line, lines.Next());
    if (!line) return remainder.Take();
    if (line->text && take_back(*line->text)) continue;
    STOKER_RETURN_IF_ERROR(remainder.Keep(line->begin, line->end));
  }
}

}  // namespace stoker

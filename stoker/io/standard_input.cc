#include "stoker/io/standard_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/base/remote_path.h"
#include "stoker/base/stop_scope.h"
#include "stoker/io/temporary.h"

namespace stoker {
namespace {

constexpr size_t kKeep = 16 << 20, kPart = 1 << 20;

}  // namespace

// What of a pipe has been read, and its start.
class PipeStart {
 public:
  PipeStart(int fd, size_t keep) : fd_(fd), keep_(keep) {}

  Status CheckStart() {
    if (!LockUnlessStopped(mutex_)) return AskedToStop(0);
    const MutexLock lock(mutex_, std::adopt_lock);
    if (read_ == kept_.size()) return OkStatus();
    return FailedPrecondition(
        "standard input: it has been read up to byte {}, and a pipe cannot be read again from its "
        "start; for more than one pass copy it to a file, or keep its elements (`cache`)",
        read_);
  }

  // The contents at byte `at` of the pipe.
  Result<size_t> Read(uint64_t at, std::span<std::byte> out) {
    if (!LockUnlessStopped(mutex_)) return AskedToStop(at);
    const MutexLock lock(mutex_, std::adopt_lock);
    if (at < kept_.size()) {
      const size_t count = std::min<size_t>(kept_.size() - at, out.size());
      std::memcpy(out.data(), kept_.data() + at, count);
      return count;
    }
    if (at != read_) {
      return FailedPrecondition(
          "standard input: byte {}: another reader has taken it; name it in one place only", at);
    }
    ssize_t got = -1;
    do {
      const int problem = PollUnlessStopped(fd_);
      if (problem == ECANCELED) return AskedToStop(at);
      if (problem != 0) return ErrnoStatus(problem, fmt::format("standard input: byte {}", at));
      got = ::read(fd_, out.data(), out.size());
    } while (got < 0 && (errno == EINTR || errno == EAGAIN));
    if (got < 0) return ErrnoStatus(errno, fmt::format("standard input: byte {}", at));
    Keep(out.first(static_cast<size_t>(got)));
    return static_cast<size_t>(got);
  }

 private:
  static Status AskedToStop(uint64_t at) {
    return Cancelled("standard input: byte {}: asked to stop while nothing was piped in", at);
  }

  void Keep(std::span<const std::byte> bytes) STOKER_REQUIRES(mutex_) {
    const bool all_kept = read_ == kept_.size();
    read_ += bytes.size();
    if (all_kept && read_ <= keep_) {
      kept_.insert(kept_.end(), bytes.begin(), bytes.end());
    } else {
      kept_ = {};
    }
  }

  const int fd_;
  const size_t keep_;
  Mutex mutex_;
  uint64_t read_ STOKER_GUARDED_BY(mutex_) = 0;  // of the pipe, in all
  std::vector<std::byte> kept_ STOKER_GUARDED_BY(mutex_);
};

namespace {

class PipeSource final : public ByteSource {
 public:
  explicit PipeSource(std::shared_ptr<PipeStart> pipe)
      : ByteSource("standard input"), pipe_(std::move(pipe)) {}
  SizeBound size_bound() const override { return {std::numeric_limits<uint64_t>::max(), false}; }

 private:
  Result<size_t> DoRead(std::span<std::byte> out) override { return pipe_->Read(position(), out); }

  const std::shared_ptr<PipeStart> pipe_;
};

constexpr const char* kAdvice =
    "set TMPDIR to a directory with room for all that is piped in, or redirect a file (< FILE), of "
    "which no copy is made";

Result<std::filesystem::path> FolderOfCopies() {
  const char* const set = std::getenv("TMPDIR");
  const bool is_set = set != nullptr && *set != '\0';
  const std::filesystem::path folder = is_set ? set : "/tmp";
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return folder;
  return NotFound(
      "standard input: what is piped in is copied to a file in {}{} for this command, and there is "
      "no such directory; {}",
      is_set ? "TMPDIR, " : "", folder.string(), kAdvice);
}

// Adds to a failure to write the copy: its size so far, the disk space left, what to do.
Status WithAdvice(const Status& failure, const Descriptor& copy,
                  const std::filesystem::path& folder) {
  struct stat found {};
  const bool known = copy.valid() && ::fstat(copy.get(), &found) == 0;
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  return {failure.code(),
          fmt::format("{}; {} bytes of what is piped in were copied{}: {}", failure.message(),
                      known ? found.st_size : 0,
                      error ? "" : fmt::format(", {} are free there", space.available), kAdvice)};
}

}  // namespace

bool IsPipedIn(std::string_view path) {
  struct stat found {};
  return IsStandardInput(path) && ::fstat(STDIN_FILENO, &found) == 0 &&
         (S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode) || S_ISCHR(found.st_mode));
}

std::shared_ptr<PipeStart> MakePipeStart(int fd, size_t keep) {
  return std::make_shared<PipeStart>(fd, keep);
}

Result<std::unique_ptr<ByteSource>> OpenPipe(std::shared_ptr<PipeStart> pipe) {
  STOKER_RETURN_IF_ERROR(pipe->CheckStart());
  return std::make_unique<PipeSource>(std::move(pipe));
}

Result<std::unique_ptr<ByteSource>> OpenStandardInput() {
  static const std::shared_ptr<PipeStart> pipe = MakePipeStart(STDIN_FILENO, kKeep);
  return OpenPipe(pipe);
}

Result<Descriptor> CopyIntoFolder(ByteSource& pipe, const std::filesystem::path& folder) {
  const std::string name = fmt::format("standard input: its copy in {}", folder.string());
  std::string path = (folder / "stoker-stdin-XXXXXX").string();
  Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid())
    return WithAdvice(internal::WriteError(errno, name, "cannot create it"), file, folder);
  ::unlink(path.c_str());  // it is gone with the process, however that ends
  std::vector<std::byte> part(kPart);
  while (true) {
    const uint64_t at = pipe.position();
    STOKER_ASSIGN_OR_RETURN(const size_t got, pipe.Read(part));
    if (got == 0) return file;
    const Status written = internal::WriteAll(file.get(), std::span(part).first(got), name, at);
    if (!written.ok()) return WithAdvice(written, file, folder);
  }
}

Status MakeStandardInputAFile() {
  if (!IsPipedIn("-")) return OkStatus();
  STOKER_ASSIGN_OR_RETURN(const std::filesystem::path folder, FolderOfCopies());
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> pipe, OpenStandardInput());
  STOKER_ASSIGN_OR_RETURN(const Descriptor file, CopyIntoFolder(*pipe, folder));
  if (::dup2(file.get(), STDIN_FILENO) < 0) return ErrnoStatus(errno, "standard input: dup2");
  return OkStatus();
}

}  // namespace stoker

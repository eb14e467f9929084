#include "stoker/io/remote/shard_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "stoker/base/byte_size.h"
#include "stoker/base/clock.h"
#include "stoker/base/log.h"
#include "stoker/base/per_process.h"
#include "stoker/base/stop_scope.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/checksum.h"
#include "stoker/io/file.h"
#include "stoker/io/local_retry.h"
#include "stoker/io/remote/cache_entries_internal.h"
#include "stoker/io/remote/environment_internal.h"
#include "stoker/io/remote/remote_source.h"
#include "stoker/io/sha256.h"

namespace stoker {
namespace {

constexpr int64_t kDefaultLimit = 50'000'000'000;
constexpr size_t kPieceBytes = 1 << 20;
constexpr std::string_view kDirectoryLock = ".lock";

using internal::Variable;

std::string DirectoryOf(const RemoteOptions& options) {
  if (!options.cache.empty()) return options.cache;
  if (const std::string named = Variable("STOKER_CACHE"); !named.empty()) return named;
  const std::string base = Variable("XDG_CACHE_HOME");
  return base.empty() ? fmt::format("{}/.cache/stoker", Variable("HOME"))
                      : fmt::format("{}/stoker", base);
}

Result<int64_t> LimitOf(const RemoteOptions& options) {
  if (options.cache_size > 0) return options.cache_size;
  const std::string text = Variable("STOKER_CACHE_SIZE");
  if (text.empty()) return kDefaultLimit;
  Result<int64_t> limit = ParseByteSize(text);
  if (!limit.ok()) return InvalidArgument("STOKER_CACHE_SIZE: {}", limit.status().message());
  return limit;
}

// Another one in every process.
const std::string& NameOfThisProcess() {
  static const std::string name = fmt::format("{}.{}", ::getpid(), NowNs());
  return name;
}

// "train-003.tar-0123456789abcdef": one can see what it is, and it names one version.
std::string NameOf(const RemoteFile& file) {
  const RemoteVersion& version = file.version();
  // A list of files has their tags, but their times in another form or not at all.
  const std::string& time = version.etag.empty() ? version.last_modified : version.etag;
  const std::string identity =
      fmt::format("{}\n{}\n{}\n{}", file.path(), file.options().endpoint, version.size.value_or(0),
                  version.has_mark() ? time : NameOfThisProcess());
  std::string base = file.name().substr(file.name().rfind('/') + 1);
  for (char& c : base) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && c != '.' && c != '-' && c != '_') c = '_';
  }
  if (base.empty() || base.front() == '.') base = fmt::format("_{}", base);
  if (base.size() > kLongestBase) base.resize(kLongestBase);
  return fmt::format("{}-{}", base, HexOf(Sha256(identity)).substr(0, kHashDigits));
}

std::string CheckNameOf(const std::string& name) { return fmt::format("{}{}", name, kCheckSuffix); }
// The lock of the process that fetches the copy.
std::string LockNameOf(const std::string& name) { return fmt::format(".{}{}", name, kLockSuffix); }
// The lock of the reader that makes the copy while reading in order.
std::string OrderLockNameOf(const std::string& name) {
  return fmt::format(".{}.order{}", name, kLockSuffix);
}

// Nothing if it ends before. Errors: those of reading; kCancelled if this thread was asked to
// stop.
Result<std::optional<uint32_t>> ChecksumOf(int fd, uint64_t size, const std::string& path) {
  std::vector<std::byte> piece(kPieceBytes);
  uint32_t checksum = 0;
  for (uint64_t at = 0; at < size;) {
    if (StopScope::Asked()) return Cancelled("{}: byte {}: asked to stop checking it", path, at);
    const ssize_t got = RetryPassingTrouble(
        path, [&] { return ::pread(fd, piece.data(), piece.size(), static_cast<off_t>(at)); });
    if (got < 0) return ErrnoStatus(errno, fmt::format("{}: byte {}: cannot check it", path, at));
    if (got == 0) return std::nullopt;
    checksum = Crc32c(std::span(piece).first(static_cast<size_t>(got)), checksum);
    at += static_cast<uint64_t>(got);
  }
  return std::optional(checksum);
}

}  // namespace

Result<std::shared_ptr<ShardCache>> ShardCache::Of(const RemoteOptions& options) {
  struct Caches {
    Mutex mutex;
    std::map<std::pair<std::string, int64_t>, std::shared_ptr<ShardCache>> made;
  };
  static PerProcess<Caches> of_process;
  Caches& caches = of_process.Get();
  const std::string directory = DirectoryOf(options);
  STOKER_ASSIGN_OR_RETURN(const int64_t limit, LimitOf(options));
  const MutexLock lock(caches.mutex);
  std::shared_ptr<ShardCache>& cache = caches.made[{directory, limit}];
  if (!cache) {
    STOKER_RETURN_IF_ERROR(CreateDirectories(directory).While("making the cache of remote files"));
    cache.reset(new ShardCache(directory, static_cast<uint64_t>(limit)));
  }
  return cache;
}

bool ShardCache::KeepsEverything(const RemoteOptions& options) {
  return !options.cache.empty() || !Variable("STOKER_CACHE").empty();
}

// Whether the copy `name`, open as `fd`, is whole. A failed read is an error, and says nothing
// about the copy.
Result<bool> ShardCache::IsWhole(const std::string& name, int fd) {
  struct stat found {};
  if (::fstat(fd, &found) != 0)
    return ErrnoStatus(errno, fmt::format("{}: cannot look at the copy", PathOf(name)));
  const std::string id = fmt::format("{} {}", name, found.st_ino);
  STOKER_ASSIGN_OR_RETURN(const std::optional<CopyCheck> check, ReadCopyCheck(PathOf(name)));
  if (!check || check->bytes != static_cast<uint64_t>(found.st_size)) return false;
  {
    const MutexLock lock(mutex_);
    if (checked_.contains(id)) return true;
  }
  STOKER_ASSIGN_OR_RETURN(const std::optional<uint32_t> checksum,
                          ChecksumOf(fd, static_cast<uint64_t>(found.st_size), PathOf(name)));
  if (!checksum || check->crc32c != *checksum) return false;
  const MutexLock lock(mutex_);
  checked_.insert(id);
  return true;
}

// As far as that can be seen without reading it.
bool ShardCache::IsThere(const std::string& name) const {
  struct stat found {};
  const Result<std::optional<CopyCheck>> read = ReadCopyCheck(PathOf(name));
  const std::optional<CopyCheck> check = read.ok() ? *read : std::nullopt;
  return check && ::stat(PathOf(name).c_str(), &found) == 0 &&
         check->bytes == static_cast<uint64_t>(found.st_size);
}

void ShardCache::Remove(const std::string& name) const {
  ::unlink(PathOf(name).c_str());
  ::unlink(PathOf(CheckNameOf(name)).c_str());
}

Result<std::optional<Descriptor>> ShardCache::Find(const RemoteFile& file) {
  const std::string name = NameOf(file);
  const std::string path = PathOf(name);
  Descriptor copy(
      RetryPassingTrouble(path, [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!copy.valid() && errno == ENOENT) return std::nullopt;
  if (!copy.valid())
    return ErrnoStatus(errno, fmt::format("{}: cannot open the copy of a remote file", path));
  // Held while the copy is open: it says that it is in use.
  if (FlockUnlessStopped(copy.get(), LOCK_SH) == ECANCELED)
    return Cancelled("{}: asked to stop while another one held the lock", path);
  STOKER_ASSIGN_OR_RETURN(const bool is_still, internal::IsStill(path, copy.get()));
  if (!is_still) return std::nullopt;  // it has just been taken away
  STOKER_ASSIGN_OR_RETURN(const bool is_whole, IsWhole(name, copy.get()));
  if (!is_whole) {
    Remove(name);
    return std::nullopt;
  }
  // Marks it as used now, by the exact clock, since the kernel's own advances only every few
  // milliseconds.
  timespec times[2];
  ::clock_gettime(CLOCK_REALTIME, &times[0]);
  times[1] = times[0];
  ::utimensat(AT_FDCWD, PathOf(CheckNameOf(name)).c_str(), times, 0);
  return copy;
}

Result<CacheLock> ShardCache::LockDirectory() const {
  return CacheLock::Take(PathOf(std::string(kDirectoryLock)), CacheLock::Afterwards::kStay);
}

// Changes with every piece of the copy `name` that any process writes. The copy's file has its full
// size from the beginning.
uint64_t ShardCache::ProgressOf(const std::string& name) const {
  uint64_t progress = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, ignored)) {
    struct stat found {};
    if (internal::FinalNameIn(entry.path().filename().native()) != name) continue;
    if (::stat(entry.path().c_str(), &found) != 0) continue;
    progress += static_cast<uint64_t>(found.st_mtim.tv_sec) * 1'000'000'000 +
                static_cast<uint64_t>(found.st_mtim.tv_nsec) +
                static_cast<uint64_t>(found.st_blocks);
  }
  return progress;
}

// The right to fetch the copy; none if its holder makes no progress.
Result<std::optional<CacheLock>> ShardCache::TakeTurn(const RemoteFile& file,
                                                      const std::string& name) const {
  constexpr double kSayAfter = 5;
  constexpr auto kBetween = std::chrono::milliseconds(50);
  const double stalled_after = 2 * file.options().timeout;
  const std::string lock = PathOf(LockNameOf(name));
  LockWait wait(kSayAfter, stalled_after);
  const Stopwatch watch;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(std::optional<CacheLock> turn,
                            CacheLock::TryTake(lock, CacheLock::Afterwards::kRemove));
    if (turn) return turn;
    if (StopScope::Asked())
      return Cancelled("{}: stopped while another one copies it", file.name());
    switch (wait.Next(watch.ElapsedSeconds(), ProgressOf(name))) {
      case LockWait::Then::kWait: break;
      case LockWait::Then::kSay:
        LogInfo(
            "{}: waiting for another process or thread, which copies it into the cache (lock {})",
            file.name(), lock);
        break;
      case LockWait::Then::kGoOn:
        LogWarning(
            "{}: the process or thread that copies it into the cache has made no progress for {} s "
            "(lock {}); it is fetched here too",
            file.name(), stalled_after, lock);
        return std::nullopt;
    }
    std::this_thread::sleep_for(kBetween);
  }
}

Result<Descriptor> ShardCache::Fetch(const std::shared_ptr<const RemoteFile>& file) {
  const std::string name = NameOf(*file);
  // What other processes take away at once is fetched again, but a disk that gives back other bytes
  // than it was given would never be done.
  constexpr int kMostFetches = 5;
  for (int fetched = 0; fetched < kMostFetches; ++fetched) {
    STOKER_ASSIGN_OR_RETURN(std::optional<Descriptor> copy, Find(*file));
    if (copy) return *std::move(copy);
    STOKER_ASSIGN_OR_RETURN(std::optional<CacheLock> turn, TakeTurn(*file, name));
    STOKER_ASSIGN_OR_RETURN(copy, Find(*file));  // may have been made meanwhile
    if (copy) return *std::move(copy);
    STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Writer> writer, Begin(*file, std::move(turn)));
    if (!file->positional()) {
      STOKER_RETURN_IF_ERROR(
          file->ReadWhole([&](std::span<const std::byte> bytes) { return writer->Append(bytes); }));
    } else {
      const auto source = MakeRemoteSource(file, 0, nullptr);
      std::vector<std::byte> piece(kPieceBytes);
      while (true) {
        STOKER_ASSIGN_OR_RETURN(const size_t got, source->Read(piece));
        if (got == 0) break;
        STOKER_RETURN_IF_ERROR(writer->Append(std::span(piece).first(got)));
      }
    }
    STOKER_RETURN_IF_ERROR(writer->Commit());
  }
  STOKER_ASSIGN_OR_RETURN(std::optional<Descriptor> copy, Find(*file));
  if (copy) return *std::move(copy);
  return FailedPrecondition(
      "{}: {} copies of it in the cache {} were damaged or gone as soon as they were written; look "
      "whether its disk is sound and large enough, or give another folder (`remote.cache`)",
      file->name(), kMostFetches, directory_);
}

std::unique_ptr<ShardCache::Writer> ShardCache::TryWrite(const RemoteFile& file) {
  if (!file.version().has_mark()) return nullptr;  // the next process could not use it
  const std::string name = NameOf(file);
  const auto try_lock = [this](const std::string& lock_name) {
    Result<std::optional<CacheLock>> lock =
        CacheLock::TryTake(PathOf(lock_name), CacheLock::Afterwards::kRemove);
    return lock.ok() ? *std::move(lock) : std::nullopt;
  };
  std::optional<CacheLock> turn = try_lock(OrderLockNameOf(name));
  // Not while another process fetches it. That lock is not held: the reader may pause for ever, and
  // must not be waited for.
  if (!turn || !try_lock(LockNameOf(name))) return nullptr;
  Result<std::unique_ptr<Writer>> writer = Begin(file, std::move(turn));
  return writer.ok() ? *std::move(writer) : nullptr;
}

Result<std::unique_ptr<ShardCache::Writer>> ShardCache::Begin(const RemoteFile& file,
                                                              std::optional<CacheLock> turn) {
  // What is asked for counts from the moment on at which it is known to fit.
  STOKER_ASSIGN_OR_RETURN(const CacheLock directory_lock, LockDirectory());
  const uint64_t bytes = file.version().size.value_or(0);
  STOKER_RETURN_IF_ERROR(MakeRoom(file.name(), bytes));
  const std::string name = NameOf(file);
  STOKER_ASSIGN_OR_RETURN(
      internal::Temporary temporary,
      internal::Temporary::Create(internal::Temporary::Type::kUnfinishedFile, PathOf(name)));
  if (bytes > 0 && ::ftruncate(temporary.fd(), static_cast<off_t>(bytes)) != 0)
    return internal::WriteError(errno, PathOf(name), "cannot make a copy of that size");
  return std::unique_ptr<Writer>(
      new Writer(shared_from_this(), file, std::move(turn), std::move(temporary)));
}

// A copy that was to go may have been opened meanwhile, or belong to somebody whose files this
// process may not remove.
Status ShardCache::MakeRoom(const std::string& source, uint64_t bytes) const {
  std::set<std::string> staying;
  while (true) {
    STOKER_ASSIGN_OR_RETURN(const bool made, TryToMakeRoom(source, bytes, staying));
    if (made) return OkStatus();
  }
}

// Returns false where some copy did not go; `staying` has its name then, and is not tried again.
Result<bool> ShardCache::TryToMakeRoom(const std::string& source, uint64_t bytes,
                                       std::set<std::string>& staying) const {
  STOKER_RETURN_IF_ERROR(RemoveUnfinishedCopies(directory_));
  STOKER_ASSIGN_OR_RETURN(const CacheEntries entries, ListCacheEntries(directory_));
  uint64_t total = entries.bytes_under_way;
  for (const CacheEntry& entry : entries.copies) total += entry.bytes;
  uint64_t free = entries.bytes_free;
  const auto is_within_limit = [&] { return bytes <= limit_ && total <= limit_ - bytes; };
  // First what may go, and only then it goes: nothing does for a copy that has no room even so.
  std::vector<const CacheEntry*> going;
  for (const CacheEntry& entry : entries.copies) {
    if (is_within_limit() && bytes <= free) break;
    if (staying.contains(entry.name) || !MayGo(directory_, entry)) continue;
    going.push_back(&entry);
    total -= entry.bytes;
    free += entry.bytes;
  }
  if (!is_within_limit()) {
    return ResourceExhausted(
        "{}: a copy takes {} bytes, but the cache {} may hold {} and has {} in use; raise "
        "cache_size (data.remote, STOKER_CACHE_SIZE), or read fewer files at a time",
        source, bytes, directory_, ByteSizeText(static_cast<int64_t>(limit_)), total);
  }
  if (bytes > free) {
    return ResourceExhausted(
        "{}: a copy takes {} bytes, and the disk of the cache {} has {} left; free space on it, or "
        "name another directory (data.remote.cache, STOKER_CACHE)",
        source, bytes, directory_, free);
  }
  bool all_went = true;
  for (const CacheEntry* entry : going) {
    if (RemoveIfItMayGo(directory_, *entry)) continue;
    staying.insert(entry->name);
    all_went = false;
  }
  return all_went;
}

ShardCache::Writer::Writer(std::shared_ptr<ShardCache> cache, const RemoteFile& file,
                           std::optional<CacheLock> turn, internal::Temporary temporary)
    : cache_(std::move(cache)),
      name_(NameOf(file)),
      source_(file.name()),
      etag_(file.version().etag),
      size_(file.version().size),
      turn_(std::move(turn)),
      temporary_(std::move(temporary)) {}

// What is under way counts by the size of its file, so that is made as long as there is room.
Status ShardCache::Writer::Reserve(uint64_t bytes) {
  constexpr uint64_t kMost = 64 << 20;
  STOKER_ASSIGN_OR_RETURN(const CacheLock directory_lock, cache_->LockDirectory());
  // Twice as much each time, as far as it goes, so that few of the pieces look for room.
  uint64_t more = std::max(bytes, std::min(reserved_, kMost));
  if (more > bytes && !cache_->MakeRoom(source_, more).ok()) more = bytes;
  STOKER_RETURN_IF_ERROR(cache_->MakeRoom(source_, more));
  if (::ftruncate(temporary_.fd(), static_cast<off_t>(reserved_ + more)) != 0)
    return internal::WriteError(errno, cache_->PathOf(name_), "cannot make a copy longer");
  reserved_ += more;
  return OkStatus();
}

Status ShardCache::Writer::Append(std::span<const std::byte> bytes) {
  if (!size_ && written_ + bytes.size() > reserved_)
    STOKER_RETURN_IF_ERROR(Reserve(written_ + bytes.size() - reserved_));
  STOKER_RETURN_IF_ERROR(
      internal::WriteAll(temporary_.fd(), bytes, cache_->PathOf(name_), written_));
  checksum_ = Crc32c(bytes, checksum_);
  written_ += bytes.size();
  return OkStatus();
}

Status ShardCache::Writer::Commit() {
  if (size_ && written_ != *size_) {
    return Unavailable("{}: {} bytes came of {}; fetch the file by other means", source_, written_,
                       *size_);
  }
  if (!size_ && ::ftruncate(temporary_.fd(), static_cast<off_t>(written_)) != 0)
    return internal::WriteError(errno, cache_->PathOf(name_), "cannot end a copy");
  // A process that did not wait for a reader has made the same copy.
  if (cache_->IsThere(name_)) return OkStatus();
  // First the check, so that a copy is never there without it.
  STOKER_RETURN_IF_ERROR(
      WriteFileAtomically(cache_->PathOf(CheckNameOf(name_)),
                          ToJson({.bytes = written_, .crc32c = checksum_}, source_, etag_)));
  return temporary_.Publish();
}

}  // namespace stoker

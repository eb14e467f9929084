// Copies of files on servers, in a directory that several processes may share.
//
// A copy is two files: NAME-HASH, the bytes, and NAME-HASH.check, a line of JSON with their number
// and CRC-32C and what was copied. HASH covers the address and the version that the server reports
// (size and tag, or time if there is no tag), so a file that has changed has another copy. If the
// server reports neither tag nor time, only the process that made a copy uses it. A copy appears in
// one step when it is whole; before that it is a temporary (io/atomic_file.h). Another reader of
// the same file waits for the fetching one (flock) while that one makes progress, and reports the
// wait after some seconds; it does not wait for one that reads the file in order and may take any
// time. At its first use in a process a copy is compared with its checksum; a damaged copy is
// fetched again.
//
// All copies together, unfinished ones included, take at most the limit: the least recently used
// are removed first, and none if that would not free enough. A copy that any process has open
// stays, and so do other files in the directory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "stoker/base/mutex.h"
#include "stoker/base/status.h"
#include "stoker/io/descriptor.h"
#include "stoker/io/remote/cache_lock_internal.h"
#include "stoker/io/remote/remote_file.h"
#include "stoker/io/temporary.h"

namespace stoker {

// Thread-safe.
class ShardCache : public std::enable_shared_from_this<ShardCache> {
 public:
  // Returns the cache in the directory that `options` name, which it creates if missing. Errors:
  // those of CreateDirectories; kInvalidArgument (STOKER_CACHE_SIZE).
  static Result<std::shared_ptr<ShardCache>> Of(const RemoteOptions& options);

  // Returns whether files that are read in order are kept too, not only those that must be local.
  static bool KeepsEverything(const RemoteOptions& options);

  // Returns a copy of `file`, open for reading; nothing if there is no whole copy. Reads the copy
  // once a process.
  Result<std::optional<Descriptor>> Find(const RemoteFile& file);

  // Returns the same, and fetches it if there is none. Waits for a copy that another thread or
  // process is fetching; if that has not grown for twice `timeout`, fetches another. Errors: those
  // of reading `file`; kCancelled (StopScope); kResourceExhausted if it does not fit, with what to
  // do; those of CacheLock and of writing.
  Result<Descriptor> Fetch(const std::shared_ptr<const RemoteFile>& file);

  // An unfinished copy. Destroyed before Commit it leaves nothing, nor where a signal ends the
  // process.
  class Writer {
   public:
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    Status Append(std::span<const std::byte> bytes);  // in order
    // Finishes the copy. Errors: also kUnavailable if there are not as many bytes as announced.
    Status Commit();

   private:
    friend class ShardCache;
    Status Reserve(uint64_t bytes);
    Writer(std::shared_ptr<ShardCache> cache, const RemoteFile& file, std::optional<CacheLock> turn,
           internal::Temporary temporary);
    const std::shared_ptr<ShardCache> cache_;
    const std::string name_, source_, etag_;
    const std::optional<uint64_t> size_;
    // Keeps others from making the same copy in this way; none once it has stopped.
    const std::optional<CacheLock> turn_;
    internal::Temporary temporary_;
    uint64_t reserved_ = 0;  // bytes reserved for a file of unknown size
    uint64_t written_ = 0;
    uint32_t checksum_ = 0;
  };
  // For a reader of the whole file in order. Null if another makes the copy, or if it does not fit.
  std::unique_ptr<Writer> TryWrite(const RemoteFile& file);

 private:
  ShardCache(std::string directory, uint64_t limit)
      : directory_(std::move(directory)), limit_(limit) {}

  std::string PathOf(const std::string& name) const {
    return fmt::format("{}/{}", directory_, name);
  }
  Result<bool> IsWhole(const std::string& name, int fd);
  void Remove(const std::string& name) const;
  bool IsThere(const std::string& name) const;
  Result<CacheLock> LockDirectory() const;
  uint64_t ProgressOf(const std::string& name) const;
  Result<std::optional<CacheLock>> TakeTurn(const RemoteFile& file, const std::string& name) const;
  Result<std::unique_ptr<Writer>> Begin(const RemoteFile& file, std::optional<CacheLock> turn);
  Status MakeRoom(const std::string& source, uint64_t bytes) const;
  Result<bool> TryToMakeRoom(const std::string& source, uint64_t bytes,
                             std::set<std::string>& staying) const;

  const std::string directory_;
  const uint64_t limit_;
  Mutex mutex_;
  // Copies compared with their checksums, by name and inode.
  std::set<std::string> checked_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker

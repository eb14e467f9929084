// Copies of files on servers, in a directory that several processes may share.
//
// A copy is two files: NAME-HASH, the bytes, and NAME-HASH.check, a line of JSON with their number
// and CRC-32C and what was copied. HASH stands for the address and the version that the server
// tells of (size and tag, or time where there is no tag), so a file that has changed there has
// another copy. Of a file that has neither tag nor time no version is known: its copy is of use to
// the process alone that made it, and goes as others do, when it was used longest ago. A copy
// appears when it is whole, in one step; before that it is a temporary (io/atomic_file.h), and
// whoever wants the same waits for the one who fetches it (flock) as long as that one gets on, and
// says so after some seconds, but not for one who reads the file in order and may take any time. At
// its first use in a process its bytes are compared with the checksum; a copy that is damaged is
// fetched again.
//
// All copies together, those under way included, take at most the limit: the ones that were used
// longest ago go first, and none where that would not make enough room. One that is open, in any
// process, stays, and so does whatever else lies in the directory.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "stoker/base/status.h"
#include "stoker/io/descriptor.h"
#include "stoker/io/remote/cache_lock_internal.h"
#include "stoker/io/remote/remote_file.h"
#include "stoker/io/temporary_internal.h"

namespace stoker {

// Thread-safe.
class ShardCache : public std::enable_shared_from_this<ShardCache> {
 public:
  // Of the directory that `options` name, which is made where it is not there. Errors: those of
  // CreateDirectories; kInvalidArgument (STOKER_CACHE_SIZE).
  static Result<std::shared_ptr<ShardCache>> Of(const RemoteOptions& options);

  // Whether files that are read in order are to be kept too, not only those that must be local.
  static bool KeepsEverything(const RemoteOptions& options);

  // A copy of `file`, open for reading; nothing where there is none that is whole. Costs reading it
  // once a process.
  Result<std::optional<Descriptor>> Find(const RemoteFile& file);

  // The same, fetched where there is none. One that somebody else is fetching is waited for; where
  // it has not grown for twice `timeout`, another is fetched beside it. Errors: those of reading
  // `file`; kCancelled (StopScope); kResourceExhausted where it does not fit, with what to do;
  // those of CacheLock and of writing.
  Result<Descriptor> Fetch(const std::shared_ptr<const RemoteFile>& file);

  // A copy in the making. Destroyed before Commit it leaves nothing.
  class Writer {
   public:
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    Status Append(std::span<const std::byte> bytes);  // in order
    // All are there. Errors: also kUnavailable where they are not as many as announced.
    Status Commit();

   private:
    friend class ShardCache;
    Status Reserve(uint64_t bytes);
    Writer(std::shared_ptr<ShardCache> cache, const RemoteFile& file, std::optional<CacheLock> turn,
           internal::Temporary temporary);
    const std::shared_ptr<ShardCache> cache_;
    const std::string name_, source_, etag_;
    const std::optional<uint64_t> size_;
    // Nobody else makes the copy in this way; none where that one has stopped.
    const std::optional<CacheLock> turn_;
    internal::Temporary temporary_;
    uint64_t reserved_ = 0;  // bytes that have room, of a file whose size is not known
    uint64_t written_ = 0;
    uint32_t checksum_ = 0;
  };
  // For who reads the file in order anyway; null where another makes the copy, or where it does not
  // fit.
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

  const std::string directory_;
  const uint64_t limit_;
  std::mutex mutex_;
  std::set<std::string> checked_;  // copies whose bytes were compared, by name and inode
};

}  // namespace stoker

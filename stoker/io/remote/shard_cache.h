// Copies of files on servers, in a directory that several processes may share.
//
// A copy is two files: NAME-HASH, the bytes, and NAME-HASH.check, a line of JSON with their number
// and CRC-32C and what was copied. HASH stands for the address and the version that the server
// tells of (size, tag, time), so a file that has changed there has another copy. Of a file that has
// neither tag nor time no version is known: its copy is of use to the process alone that made it,
// and goes as others do, when it was used longest ago. A copy appears when it is whole, in one
// step; before that it is a temporary (io/atomic_file.h), and whoever wants the same waits for it
// (flock). At its first use in a process its bytes are compared with the checksum; a copy that is
// damaged is fetched again.
//
// All copies together, those under way included, take at most the limit: the ones that were used
// longest ago go first. One that is open, in any process, stays.
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
#include "stoker/io/remote/remote_file.h"
#include "stoker/io/temporary_internal.h"

namespace stoker {

// Thread-safe.
class ShardCache : public std::enable_shared_from_this<ShardCache> {
 public:
  // Of the directory that `options` name, which is made where it is not there. Errors: those of
  // CreateDirectories; kInvalidArgument (STOKER_CACHE_SIZE).
  static Result<std::shared_ptr<ShardCache>> Of(const RemoteOptions& options);

  // Whether every file that is read is to be kept, not only those that must be local.
  static bool KeepsEverything(const RemoteOptions& options);

  // A copy of `file`, open for reading; nothing where there is none that is whole. Costs reading it
  // once a process.
  Result<std::optional<Descriptor>> Find(const RemoteFile& file);

  // The same, fetched where there is none. Errors: those of reading `file`; kResourceExhausted
  // where it does not fit, with what to do; those of writing.
  Result<Descriptor> Fetch(const std::shared_ptr<const RemoteFile>& file);

  // A copy in the making. Destroyed before Commit it leaves nothing.
  class Writer {
   public:
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    Status Append(std::span<const std::byte> bytes);  // in order
    // All are there. Errors: also kDataLoss where they are not as many as announced.
    Status Commit();

   private:
    friend class ShardCache;
    Status Reserve(uint64_t bytes);
    Writer(std::shared_ptr<ShardCache> cache, const RemoteFile& file, Descriptor lock,
           internal::Temporary temporary);
    const std::shared_ptr<ShardCache> cache_;
    const std::string name_, source_, etag_;
    const std::optional<uint64_t> size_;
    const Descriptor lock_;  // of the copy
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
  bool IsWhole(const std::string& name, int fd);
  void Remove(const std::string& name) const;
  Result<Descriptor> Lock(const std::string& lock_name, bool wait) const;
  Result<std::unique_ptr<Writer>> Begin(const RemoteFile& file, Descriptor lock);
  Status MakeRoom(const std::string& source, uint64_t bytes) const;

  const std::string directory_;
  const uint64_t limit_;
  std::mutex mutex_;
  std::set<std::string> checked_;  // copies whose bytes were compared, by name and inode
};

}  // namespace stoker

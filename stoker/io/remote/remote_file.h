// A file on a server, read by position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/remote/cancellation.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/remote_options.h"
#include "stoker/io/remote/remote_store.h"

namespace stoker {

// Thread-safe.
class RemoteFile {
 public:
  // Requests and keeps the first bytes (64 KiB), unless this process has done so recently or knows
  // the version. Errors: kInvalidArgument (not an address), those of RemoteStore.
  static Result<std::shared_ptr<const RemoteFile>> Open(const std::string& path);
  // Returns only the version of the file, with a request without data. `cancel` may be null.
  static Result<RemoteVersion> Find(const std::string& path, Cancellation* cancel = nullptr);
  // Stores the version that a list of files gives, so that Open needs no request.
  static void Know(const std::string& path, RemoteVersion version);

  const std::string& path() const { return path_; }
  const std::string& name() const { return location_.name; }  // without secrets: for messages
  const RemoteVersion& version() const { return version_; }
  // REQUIRES: a file with ranges, or one whose bytes are all here.
  uint64_t size() const { return *version_.size; }
  // Returns whether the file can be read by position: the server sends ranges, or all of it is
  // here.
  bool positional() const { return version_.ranges || HasAll(); }
  const RemoteOptions& options() const { return *options_; }

  // Fills `out` from `offset` on, or up to the end of the file; returns how many bytes. Makes a
  // request unless the kept first bytes suffice. `cancel` may be null; `progress`, which may be
  // empty, is called on this thread with the number of bytes of `out` that are there. Errors: those
  // of RemoteStore; kFailedPrecondition if the file has changed.
  Result<size_t> ReadUpTo(uint64_t offset, std::span<std::byte> out, Cancellation* cancel = nullptr,
                          const std::function<void(size_t)>& progress = {}) const;

  // Reads the whole file in order and hands each byte to `take` once. A request that breaks off is
  // followed by another, which begins anew if the server has no ranges.
  Status ReadWhole(const std::function<Status(std::span<const std::byte>)>& take,
                   Cancellation* cancel = nullptr) const;

  // Returns the first bytes, if they are already here.
  std::span<const std::byte> head() const;

 private:
  struct Head;
  RemoteFile(std::string path, RemoteLocation location, RemoteVersion version,
             std::shared_ptr<const RemoteOptions> options);
  static Result<std::shared_ptr<const RemoteFile>> Ask(const std::string& path,
                                                       RemoteLocation location);
  bool HasAll() const;
  Status FetchHead(Cancellation* cancel) const;
  Status FetchRange(uint64_t offset, std::span<std::byte> out, Cancellation* cancel,
                    const std::function<void(size_t)>& progress) const;

  const std::string path_;
  const RemoteLocation location_;
  const RemoteVersion version_;
  const std::shared_ptr<const RemoteOptions> options_;
  const std::shared_ptr<Head> head_;
};

}  // namespace stoker

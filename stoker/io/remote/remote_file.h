// A file on a server, read by position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/remote/http_client.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/remote_options.h"
#include "stoker/io/remote/remote_store.h"

namespace stoker {

// Thread-safe.
class RemoteFile {
 public:
  // Asks for the first bytes, which are kept (64 KiB), unless this process has done so lately or
  // knows the version. Errors: kInvalidArgument (no address), those of RemoteStore.
  static Result<std::shared_ptr<const RemoteFile>> Open(const std::string& path);
  // The version of the file alone: what Open finds, for a request without data.
  // `cancel` may be null.
  static Result<RemoteVersion> Find(const std::string& path, Cancellation* cancel = nullptr);
  // The version that a list of files gives: none is asked for at Open.
  static void Know(const std::string& path, RemoteVersion version);

  const std::string& path() const { return path_; }
  const std::string& name() const { return location_.name; }  // without secrets: for messages
  const RemoteVersion& version() const { return version_; }
  // Only of a file with ranges, or one that is known whole.
  uint64_t size() const { return *version_.size; }
  // Whether it can be read by position: the server sends parts, or all of it is here.
  bool positional() const { return version_.ranges || HasAll(); }
  const RemoteOptions& options() const { return *options_; }

  // Fills `out` from `offset` on, or up to the end of the file; returns how many bytes. Asks the
  // server but for the first bytes. `cancel` may be null; `progress(n)`, which may be empty, hears
  // on this thread how many bytes of `out` are there.
  // Errors: those of RemoteStore; kFailedPrecondition where the file has changed.
  Result<size_t> ReadUpTo(uint64_t offset, std::span<std::byte> out, Cancellation* cancel = nullptr,
                          const std::function<void(size_t)>& progress = {}) const;

  // The whole file, in order, by one request after the other where it breaks off; of a server
  // without parts each begins anew, and what has come before is not handed out again.
  Status ReadWhole(const std::function<Status(std::span<const std::byte>)>& take,
                   Cancellation* cancel = nullptr) const;

  // The first bytes, where they are here already.
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

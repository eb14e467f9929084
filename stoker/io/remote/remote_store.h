// A kind of server that files are read from. There is a class for each, and a row for each scheme
// in remote_stores_internal.h; what uses files on servers (RemoteFile, remote_names.h, the cache)
// does not know which store it reads.
//
// Contract of every store:
// - Errors: kNotFound (there is no such file), kPermissionDenied (access is refused, or there are
//   no credentials), kUnavailable (what did not get better, or an answer that no such server
//   gives), kFailedPrecondition (the file is no longer the version that was asked for), kCancelled.
//   Messages have the location's name, the byte where one is known, what the server said and what
//   to do, and no secret.
// - Retries: a store tries again by RemoteOptions (remote_request.h); an error is final.
// - Stop: every wait ends within a second after RemoteAccess::cancel, or without one the StopScope
//   of the calling thread, asks for it.
// - Threads: stores have no state that callers see. All functions may be called by several threads
//   at once; each works on the calling thread, and starts none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/remote/http_client.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/remote_options.h"

namespace stoker {

// Which content a file has, as far as its server says. What was found first holds for the process:
// a file that changes while it is read is an error, not a mixture.
struct RemoteVersion {
  std::optional<uint64_t> size;     // none: the server does not know it beforehand
  std::string etag, last_modified;  // as the server writes them; may be empty
  bool ranges = true;               // whether the server sends parts

  // Whether the server says more of it than its size, so that a change can be seen.
  bool has_mark() const { return !etag.empty() || !last_modified.empty(); }
  // Whether `other`, found later, is the same: by size and tag; by the time where one of them has
  // no tag. One that has no mark any more is another.
  bool Matches(const RemoteVersion& other) const;
  std::string ToString() const;  // "1234 bytes, tag "abc""
};

// What is asked for, how, and until when. The referenced objects outlive the call.
struct RemoteAccess {
  const RemoteLocation& location;
  const RemoteOptions& options;
  Cancellation* cancel = nullptr;  // may be null
};

// A file that a list has. One whose key ends with a slash stands for a folder.
struct RemoteObject {
  std::string key;
  uint64_t size = 0;
  std::string etag;  // as RemoteVersion has it
};

struct RemotePage {
  std::vector<RemoteObject> objects;
  int64_t folders = 0;  // names that were left out, since they are deeper than was asked for
};

// A list that is under way. Of one thread at a time.
class RemoteList {
 public:
  virtual ~RemoteList() = default;
  // Nothing after the last page. Costs a request or more. Errors: also kUnavailable where the
  // server's list is damaged or does not end.
  virtual Result<std::optional<RemotePage>> Next() = 0;
};

class RemoteStore {
 public:
  using Progress = std::function<void(size_t)>;
  using TakeBytes = std::function<Status(std::span<const std::byte>)>;
  struct Found {
    RemoteVersion version;
    std::optional<std::vector<std::byte>> head;  // the first bytes, where they came along
  };

  virtual ~RemoteStore() = default;

  // What `path`, which begins with one of the store's schemes, says. Asks no server. Errors:
  // kInvalidArgument, with the form that a path has.
  virtual Result<RemoteLocation> Locate(const std::string& path) const = 0;

  // The version that the file has now, and where that costs nothing more, its first bytes: at most
  // `head_bytes`, which is 1 or more, and all of them unless the file is shorter.
  virtual Result<Found> Find(const RemoteAccess& access, size_t head_bytes) const = 0;

  // Fills `out` from byte `offset` on, which the file of this version has. `progress(n)`, which may
  // be empty, hears on this thread that the first n bytes of `out` are there and are of this
  // version.
  virtual Status ReadRange(const RemoteAccess& access, const RemoteVersion& version,
                           uint64_t offset, std::span<std::byte> out,
                           const Progress& progress) const = 0;

  // Hands the whole file to `take`, in order and each byte once; for versions without ranges.
  virtual Status ReadWhole(const RemoteAccess& access, const RemoteVersion& version,
                           const TakeBytes& take) const = 0;

  // Whether it has lists of files. If not, List must not be called.
  virtual bool lists() const { return false; }
  // What messages call that which a path names first: "bucket".
  virtual std::string_view container() const { return "server"; }

  // The files of the location's container whose keys begin with `prefix`, in any order; with
  // `slashes`, only those that have at most so many slashes after it. The location's own key does
  // not count. What `access` refers to outlives the list.
  virtual std::unique_ptr<RemoteList> List(const RemoteAccess& access, std::string prefix,
                                           std::optional<int> slashes) const = 0;
};

// The store of the scheme of `path`; null where it has none of a store.
const RemoteStore* FindRemoteStore(std::string_view path);

}  // namespace stoker

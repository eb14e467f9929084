// A kind of server that files are read from. Each kind is a class, and each scheme a row in
// remote_stores_internal.h; the users of files on servers (RemoteFile, remote_names.h, the cache)
// do not depend on the kind.
//
// Contract of every store:
// - Errors: kNotFound (there is no such file), kPermissionDenied (access is refused, or there are
//   no credentials), kUnavailable (retries did not help, or an answer is malformed),
//   kFailedPrecondition (the file is no longer the version asked for, or settings or credentials
//   are missing or malformed), kInvalidArgument (the path is a folder or a link), kCancelled.
//   Messages have the location's name, the byte if known, the server's message and what to do, and
//   no secret. kNotFound and kInvalidArgument come only of what the server says about the file.
// - Retries: a store tries again by RemoteOptions (remote_request.h); an error is final.
// - Stop: every wait ends within a second after RemoteAccess::cancel, or without one the StopScope
//   of the calling thread, asks for it.
// - Threads: stores have no state that callers see. Several threads may call all functions at once;
//   each works on the calling thread and starts none.
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
#include "stoker/io/remote/cancellation.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/remote_options.h"

namespace stoker {

// The version of a file's content, as its server reports it. The version found first holds for the
// process: a file that changes while it is read is an error.
struct RemoteVersion {
  std::optional<uint64_t> size;     // none: the server does not know it beforehand
  std::string etag, last_modified;  // as the server writes them; may be empty
  bool ranges = true;               // whether the server sends ranges

  // Returns whether the server reports more than the size, so that a change can be seen.
  bool has_mark() const { return !etag.empty() || !last_modified.empty(); }
  // Returns whether `other`, found later, is the same version: by size and tag, or by size and time
  // if one has no tag. A version that has lost its mark is another one.
  bool Matches(const RemoteVersion& other) const;
  std::string ToString() const;  // "1234 bytes, tag "abc""
};

// The location, settings and cancellation of a call. The referenced objects must outlive it.
struct RemoteAccess {
  const RemoteLocation& location;
  const RemoteOptions& options;
  Cancellation* cancel = nullptr;  // may be null
};

// A file in a list. A key that ends with a slash is a folder.
struct RemoteObject {
  std::string key;
  uint64_t size = 0;
  std::string etag;  // as in RemoteVersion
};

struct RemotePage {
  std::vector<RemoteObject> objects;
  int64_t folders = 0;  // names that were left out because they are deeper than asked for
};

// Which files of a container a list is to have.
struct RemoteListRequest {
  std::string prefix;  // their keys begin with it
  // The most slashes that follow the prefix; none: any number. A store may leave out files that
  // have more, or give some of them.
  std::optional<int> slashes;
  // Returns whether files below this folder ("PREFIX.../") are wanted; empty: all are. A store that
  // is asked folder by folder does not ask for others.
  std::function<bool(const std::string& folder)> enters;
};

// A list that is read page by page. One thread at a time.
class RemoteList {
 public:
  virtual ~RemoteList() = default;
  // Returns the next page; nothing after the last. Costs a request or more. Errors: also
  // kUnavailable if the server's list is damaged or does not end.
  virtual Result<std::optional<RemotePage>> Next() = 0;
};

class RemoteStore {
 public:
  using Progress = std::function<void(size_t)>;
  using TakeBytes = std::function<Status(std::span<const std::byte>)>;
  struct Found {
    RemoteVersion version;
    std::optional<std::vector<std::byte>> head;  // the first bytes, if they were sent
  };

  virtual ~RemoteStore() = default;

  // Parses `path`, which begins with one of the store's schemes. Makes no request. Errors:
  // kInvalidArgument, with the form of a valid path.
  virtual Result<RemoteLocation> Locate(const std::string& path) const = 0;

  // Returns the file's current version and, if that costs nothing more, its first `head_bytes` (at
  // least 1), or all bytes of a shorter file.
  virtual Result<Found> Find(const RemoteAccess& access, size_t head_bytes) const = 0;

  // Fills `out` from byte `offset` on; the file of this version has these bytes. `progress(n)`,
  // which may be empty, is called on this thread when the first n bytes of `out` are there and are
  // of this version.
  virtual Status ReadRange(const RemoteAccess& access, const RemoteVersion& version,
                           uint64_t offset, std::span<std::byte> out,
                           const Progress& progress) const = 0;

  // Hands the whole file to `take`, in order and each byte once; for versions without ranges.
  virtual Status ReadWhole(const RemoteAccess& access, const RemoteVersion& version,
                           const TakeBytes& take) const = 0;

  // Returns whether the store can list files. If not, List must not be called.
  virtual bool lists() const { return false; }
  // Returns what messages call the first part of a path: "bucket".
  virtual std::string_view container() const { return "server"; }

  // Returns the files of the location's container that `request` describes, in any order, and maybe
  // others that begin with its prefix. The location's own key is ignored. What `access` refers to
  // must outlive the list.
  virtual std::unique_ptr<RemoteList> List(const RemoteAccess& access,
                                           RemoteListRequest request) const = 0;
};

// Returns the store for the scheme of `path`; null if there is none.
const RemoteStore* FindRemoteStore(std::string_view path);

}  // namespace stoker

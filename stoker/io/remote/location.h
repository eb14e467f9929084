// The location of a file on a server, parsed from a path such as "https://host/a.tar" or
// "s3://bucket/a.tar".
#pragma once

#include <string>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

class RemoteStore;  // remote_store.h

struct RemoteLocation {
  const RemoteStore* store = nullptr;  // lives as long as the process
  std::string name;  // for messages: without a password, and without the query, which may hold one
  std::string url;   // of the web: percent-encoded, without a fragment
  std::string bucket, key;  // of a store that lists its objects: not encoded
  std::string root;         // likewise: what precedes the key in the path, "s3://BUCKET/"
};

// Parses `path` with the store of its scheme (RemoteStore::Locate). Errors: kInvalidArgument for a
// missing host or bucket, and for control characters.
Result<RemoteLocation> ParseRemotePath(const std::string& path);

// Parses "SCHEME://BUCKET/KEY". Errors: kInvalidArgument if the bucket has a character other than
// letters, digits, dots, dashes and underscores; if it looks like credentials, the message has what
// follows them.
Result<RemoteLocation> ParseBucketPath(const RemoteStore& store, const std::string& path);

// Returns a path as messages may quote it: `name` for a file on a server, any other path unchanged.
std::string NameForMessages(const std::string& path);

// Returns whether an address "http://..." or "https://..." names this machine: localhost, [::1] or
// 127.0.0.0/8, so that what is sent there does not leave it.
bool IsOnThisMachine(std::string_view url);

// Encodes every byte except letters, digits and "-._~" as %XX (RFC 3986, section 2.3, as SigV4
// requires); with `keep_slashes` also except "/".
std::string PercentEncode(std::string_view text, bool keep_slashes);

}  // namespace stoker

// Where a file on a server is: what a path such as "https://host/a.tar" or "s3://bucket/a.tar"
// says.
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
  std::string bucket, key;  // of a store that lists its objects: as they are
  std::string root;         // likewise: what precedes the key in the path, "s3://BUCKET/"
};

// Where the store of its scheme has it (RemoteStore::Locate). Errors: kInvalidArgument, for what
// has no host or bucket, and for control characters.
Result<RemoteLocation> ParseRemotePath(const std::string& path);

// Of "SCHEME://BUCKET/KEY". Errors: kInvalidArgument where the bucket has another character than
// letters, digits, dots, dashes and underscores.
Result<RemoteLocation> ParseBucketPath(const RemoteStore& store, const std::string& path);

// A path as it may stand in a message: of a file on a server `name`, of any other as it is.
std::string NameForMessages(const std::string& path);

// Every byte but letters, digits and "-._~" as %XX (RFC 3986, section 2.3; what SigV4 asks for);
// `keep_slashes`: nor "/".
std::string PercentEncode(std::string_view text, bool keep_slashes);

}  // namespace stoker

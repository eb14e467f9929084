// The answers of WebHDFS that are JSON, as Hadoop's "WebHDFS REST API" describes them. All of them
// come from outside; what is not as described is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/remote/remote_request.h"

namespace stoker {

// RemoteException: its class and the first line of its message. Empty where the text is none.
StoreError ParseWebHdfsError(std::string_view text);

struct WebHdfsStatus {
  enum class Kind { kFile, kFolder, kOther };
  Kind kind = Kind::kOther;
  std::string name;  // within the folder that was listed; empty of what was asked for itself
  uint64_t size = 0;
  // Another one for each content: the file's number in the file system, where the server tells it,
  // and the time of its last change in milliseconds; in quotes, as tags of HTTP are.
  std::string tag;
};

// An answer to GETFILESTATUS. Errors: kUnavailable, without the file's name.
Result<WebHdfsStatus> ParseWebHdfsStatus(std::string_view text);

struct WebHdfsPage {
  std::vector<WebHdfsStatus> entries;
  bool more = false;  // of LISTSTATUS_BATCH: whether others follow the last of them
};
// An answer to LISTSTATUS or LISTSTATUS_BATCH. Errors: kUnavailable, without the folder's name;
// also where an entry's name is "." or "..", or has a slash.
Result<WebHdfsPage> ParseWebHdfsPage(std::string_view text);

}  // namespace stoker

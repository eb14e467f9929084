// The answers of WebHDFS that are JSON, as Hadoop's "WebHDFS REST API" describes them. All of them
// are untrusted; anything not as described is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/remote/remote_request.h"

namespace stoker {

// Parses a RemoteException: its class and the first line of its message. Empty if the text is not
// one.
StoreError ParseWebHdfsError(std::string_view text);

struct WebHdfsStatus {
  enum class Kind { kFile, kFolder, kLink, kOther };
  Kind kind = Kind::kOther;
  std::string name;  // within the listed folder; empty for the folder itself
  uint64_t size = 0;
  // Identifies the content: the file's number in the file system, if the server reports it, and the
  // time of its last change in milliseconds; in quotes, like entity tags of HTTP.
  std::string tag;
};

// Parses an answer to GETFILESTATUS. Errors: kUnavailable, without the file's name.
Result<WebHdfsStatus> ParseWebHdfsStatus(std::string_view text);

struct WebHdfsPage {
  std::vector<WebHdfsStatus> entries;
  bool more = false;  // of LISTSTATUS_BATCH: whether more pages follow
};
// Parses an answer to LISTSTATUS or LISTSTATUS_BATCH. Errors: kUnavailable, without the folder's
// name; also if an entry's name is "." or "..", or has a slash.
Result<WebHdfsPage> ParseWebHdfsPage(std::string_view text);

}  // namespace stoker

// Parsers for S3's XML: errors and lists of objects. They understand what Amazon's reference
// allows: elements, text, the five named entities and numbered ones; they skip attributes, comments
// and declarations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/remote/remote_store.h"

namespace stoker {

// All empty if the text is not an S3 error.
struct S3Error {
  std::string code;     // "NoSuchKey"
  std::string message;  // for people
  std::string region;   // the bucket's region, in some errors
};
S3Error ParseS3Error(std::string_view text);

struct S3List {
  std::vector<RemoteObject> objects;  // tags with quotes
  int64_t folders = 0;  // names that were left out because they have a delimiter after the prefix
  std::string continuation;  // for the next page; empty: this was the last
};

// Parses an answer to ListObjectsV2 with encoding-type=url. Errors: kUnavailable, because a
// malformed list is the store's failure.
Result<S3List> ParseS3List(std::string_view text);

}  // namespace stoker

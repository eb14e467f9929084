// The two kinds of XML that reading from S3 takes: errors and lists of objects. Only what Amazon's
// reference says may be in them is understood: elements, text, the five named entities and
// numbered ones; attributes, comments and declarations are passed over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/remote/remote_store.h"

namespace stoker {

// All empty where `text` is no such thing.
struct S3Error {
  std::string code;     // "NoSuchKey"
  std::string message;  // for people
  std::string region;   // where the bucket is, of some errors
};
S3Error ParseS3Error(std::string_view text);

struct S3List {
  std::vector<RemoteObject> objects;  // tags with quotes
  int64_t folders = 0;                // names that were left out, since a delimiter follows in them
  std::string continuation;           // for the next page; empty: this was the last
};

// An answer to ListObjectsV2 with encoding-type=url. Errors: kUnavailable, as
// of a store that is out of order.
Result<S3List> ParseS3List(std::string_view text);

}  // namespace stoker

// What a server says before the body of an answer: the status and the few fields that matter for
// reading files (RFC 9110). Everything is taken from outside, so nothing is believed further than
// it can be checked: a number that does not parse, or that overflows, counts as not given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stoker {

// "Content-Range: bytes 0-99/1234" (RFC 9110, section 14.4); with "*" for what is not known.
struct ContentRange {
  std::optional<uint64_t> first, last;  // both or none; first <= last
  std::optional<uint64_t> total;        // more than last
};

struct HttpHead {
  int status = 0;  // 0: no answer came
  std::optional<uint64_t> content_length;
  bool broken_length = false;  // one was given that is none
  std::optional<ContentRange> content_range;
  std::string etag;                    // as written, with quotes and W/
  std::string last_modified;           // likewise
  std::string bucket_region;           // x-amz-bucket-region, of S3
  std::optional<uint64_t> generation;  // x-goog-generation, of Google Cloud Storage
  std::optional<int64_t> retry_after_s;
  std::optional<int64_t> date;  // of the server's clock, seconds since 1970
};

// Takes one line of an answer into `head`. A status line begins it anew, so after redirects and
// interim answers it is the last one's. Unknown fields are passed over.
void TakeHeadLine(std::string_view line, HttpHead& head);

std::optional<ContentRange> ParseContentRange(std::string_view text);

// The form that RFC 9110 (section 5.6.7) has servers write: "Sun, 06 Nov 1994 08:49:37 GMT".
// Seconds since 1970.
std::optional<int64_t> ParseHttpDate(std::string_view text);

// Whether an entity tag stands for the very same bytes, so that it may be asked for (If-Match).
bool IsStrongTag(std::string_view etag);

}  // namespace stoker

// The head of an answer: the status and the fields that matter for reading files (RFC 9110). All of
// it is untrusted: a number that does not parse, or that overflows, counts as missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stoker {

// "Content-Range: bytes 0-99/1234" (RFC 9110, section 14.4); with "*" for an unknown value.
struct ContentRange {
  std::optional<uint64_t> first, last;  // both or none; first <= last
  std::optional<uint64_t> total;        // more than last
};

struct HttpHead {
  int status = 0;  // 0: no answer came
  std::optional<uint64_t> content_length;
  bool broken_length = false;  // Content-Length was malformed
  std::optional<ContentRange> content_range;
  std::string etag;                    // as written, with quotes and W/
  std::string last_modified;           // likewise
  std::string bucket_region;           // x-amz-bucket-region, of S3
  std::optional<uint64_t> generation;  // x-goog-generation, of Google Cloud Storage
  std::optional<int64_t> retry_after_s;
  std::optional<int64_t> date;  // of the server's clock, seconds since 1970
};

// Parses one line of an answer into `head`. A status line resets it, so after redirects and interim
// answers it describes the last answer. Ignores unknown fields.
void TakeHeadLine(std::string_view line, HttpHead& head);

std::optional<ContentRange> ParseContentRange(std::string_view text);

// Parses the form that RFC 9110 (section 5.6.7) prescribes, "Sun, 06 Nov 1994 08:49:37 GMT", to
// seconds since 1970.
std::optional<int64_t> ParseHttpDate(std::string_view text);

// Returns whether an entity tag is strong: it identifies exact bytes, so it may be sent as
// If-Match.
bool IsStrongTag(std::string_view etag);

}  // namespace stoker

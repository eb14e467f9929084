// AWS Signature Version 4, as a header of the request, which authenticates it to an S3-compatible
// store. See Amazon's documentation, "Create a signed AWS API request" and, for S3, "Authenticating
// Requests: Using the Authorization Header". libcurl can sign too, but the one of Debian 12 (7.88)
// neither encodes paths nor sorts queries, so its signatures of some keys are wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker {

struct AwsCredentials {
  std::string access_key_id, secret_access_key;
  std::string session_token;  // of temporary credentials; else empty
};

// The request to sign. `path` and `query` are percent-encoded as sent; parameters may be in any
// order, repeated, and without a value. `headers`: at least host, in any order; a name may be
// repeated, in upper or lower case.
struct SigV4Request {
  std::string_view method = "GET";
  std::string path, query;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view payload_sha256;  // in hexadecimal
};

struct SigV4Scope {
  std::string region;
  std::string_view service = "s3";
  int64_t time = 0;  // seconds since 1970
};

// SHA-256 of the empty text.
inline constexpr std::string_view kEmptySha256 =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// Returns "20130524T000000Z", the form of the header x-amz-date.
std::string AwsTime(int64_t time);

// Returns the value of the header Authorization. Signs every header given. The result and
// `credentials` are secrets.
std::string SigV4Authorization(const SigV4Request& request, const SigV4Scope& scope,
                               const AwsCredentials& credentials);

}  // namespace stoker

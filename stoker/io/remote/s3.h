// Requests to S3-compatible stores: where a bucket is, and who asks.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "stoker/base/status.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/remote_options.h"
#include "stoker/io/remote/remote_request.h"
#include "stoker/io/remote/sigv4.h"

namespace stoker {

// With status 400 too.
inline constexpr std::string_view kExpiredToken = "ExpiredToken";

// Where a bucket is.
struct S3Target {
  std::string region;
  std::string endpoint;  // "https://HOST:PORT"
  bool in_path = true;   // ENDPOINT/BUCKET/KEY, else BUCKET.ENDPOINT/KEY
  int64_t time = 0;      // of the store's clock, seconds since 1970
};

// A GET of `location`, a bucket and a key, with `query`, percent-encoded and sorted; without a key,
// of the bucket. Signed where `credentials` are not null. Errors: kInvalidArgument for an endpoint
// that is none.
Result<StoreRequest> MakeS3Request(const RemoteLocation& location, const std::string& query,
                                   const S3Target& target, const AwsCredentials* credentials,
                                   double timeout);

// What all requests of a process share: credentials are found once, and what stores answer about
// their regions and clocks is remembered. Thread-safe.
//
// The bucket is in the path, ENDPOINT/BUCKET/KEY, where an endpoint is given or the bucket's name
// has a dot, which certificates do not match; else in the host's name. options.path_style says
// otherwise.
class S3Stores {
 public:
  static S3Stores& Shared();

  // MakeS3Request, with what is known of the store and of who asks. Errors: those of
  // FindAwsCredentials; kInvalidArgument for an endpoint that is none.
  Result<StoreRequest> MakeRequest(const RemoteLocation& location, const std::string& query,
                                   const RemoteOptions& options);

  // Whether `answer`, an error, to a request that was made with `terms` says something that makes
  // another try worth while at once: another region of the bucket, the time, or that credentials
  // have expired and there are other ones by now.
  bool LearnFrom(const RemoteLocation& location, const RequestTerms& terms,
                 const HttpAnswer& answer, const RemoteOptions& options);

 private:
  struct State;
  S3Stores();
  const std::shared_ptr<State> state_;
};

}  // namespace stoker

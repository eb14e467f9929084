// Requests to S3-compatible stores.
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

// Where a bucket is.
struct S3Target {
  std::string region;
  std::string endpoint;  // "https://HOST:PORT"
  bool in_path = true;   // ENDPOINT/BUCKET/KEY, else BUCKET.ENDPOINT/KEY
  int64_t time = 0;      // of the store's clock, seconds since 1970
};

// Returns a GET of `location`, a bucket and a key (without a key, of the bucket), with `query`,
// percent-encoded and sorted. Signed unless `credentials` are null. Errors: kInvalidArgument for a
// malformed endpoint.
Result<StoreRequest> MakeS3Request(const RemoteLocation& location, const std::string& query,
                                   const S3Target& target, const AwsCredentials* credentials,
                                   double timeout);

// The state that all requests of a process share: credentials, found once, and the regions that
// stores report. Thread-safe.
//
// The bucket is in the path, ENDPOINT/BUCKET/KEY, if an endpoint is given or the bucket's name has
// a dot, which certificates do not match; else in the host's name. options.path_style overrides
// this.
class S3Stores {
 public:
  static S3Stores& Shared();

  // MakeS3Request with the known region, clock and credentials. Errors: those of
  // FindAwsCredentials; kInvalidArgument for a malformed endpoint.
  Result<StoreRequest> MakeRequest(const RemoteLocation& location, const std::string& query,
                                   const RemoteOptions& options);

  // Returns whether the error `answer` to a request with `terms` makes an immediate retry useful:
  // it names another region of the bucket or the time, or the credentials have expired and there
  // are new ones.
  bool LearnFrom(const RemoteLocation& location, const RequestTerms& terms,
                 const HttpAnswer& answer, const RemoteOptions& options);

 private:
  struct State;
  S3Stores();
  const std::shared_ptr<State> state_;
};

}  // namespace stoker

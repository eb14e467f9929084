// Requests to S3-compatible stores: where a bucket is, and who asks.
#pragma once

#include <memory>
#include <string>

#include "stoker/base/status.h"
#include "stoker/io/remote/http_client.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/remote_options.h"
#include "stoker/io/remote/sigv4.h"

namespace stoker {

// What a request was made with: the answer to it speaks of that, and no more of what has been
// learnt since from the answers to others.
struct S3Terms {
  std::string region;
  std::string session_token;  // empty without credentials, or where they have none
};

struct S3Request {
  HttpRequest http;
  S3Terms terms;
};

// What all requests of a process share: credentials are found once, and what stores answer about
// their regions and clocks is remembered. Thread-safe.
//
// The bucket is in the path, ENDPOINT/BUCKET/KEY, where an endpoint is given or the bucket's name
// has a dot, which certificates do not match; else in the host's name. options.path_style says
// otherwise.
class S3Stores {
 public:
  static S3Stores& Shared();

  // A signed GET of `location` (kS3) with `query`, percent-encoded and sorted; without a key, of
  // the bucket. Errors: those of FindAwsCredentials; kInvalidArgument for an endpoint that is none.
  Result<S3Request> MakeRequest(const RemoteLocation& location, const std::string& query,
                                const RemoteOptions& options);

  // Whether `answer`, an error, to a request that was made with `terms` says something that makes
  // another try worth while at once: another region of the bucket, the time, or that credentials
  // have expired and there are other ones by now.
  bool LearnFrom(const RemoteLocation& location, const S3Terms& terms, const HttpAnswer& answer,
                 const RemoteOptions& options);

 private:
  struct State;
  S3Stores();
  const std::shared_ptr<State> state_;
};

}  // namespace stoker

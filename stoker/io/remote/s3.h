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
  Result<HttpRequest> MakeRequest(const RemoteLocation& location, const std::string& query,
                                  const RemoteOptions& options);

  // Whether `answer`, an error, says something that makes another try worth while at once: the
  // bucket's region, the time, or that credentials have expired and there are newer ones.
  bool LearnFrom(const RemoteLocation& location, const HttpAnswer& answer,
                 const RemoteOptions& options);

 private:
  struct State;
  S3Stores();
  const std::shared_ptr<State> state_;
};

}  // namespace stoker

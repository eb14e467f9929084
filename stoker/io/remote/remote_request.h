// Asking a server, again where that may help.
//
// Tried again, after waits that double and vary (so that many readers do not come back at once),
// are connections that fail, break or stay silent, and the answers 408, 429 and 5xx; a wait that
// the server asks for (Retry-After, up to two minutes) is kept. What cannot get better is an error
// at once. A try that brought bytes which no try before it had brought starts the count anew, so a
// long file over a bad line arrives, and a server that sends the same again and again is given up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "stoker/base/status.h"
#include "stoker/io/remote/http_client.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/remote_options.h"

namespace stoker {

// One GET of a location.
struct RemoteRequest {
  std::string query;                                   // of S3; percent-encoded and sorted
  std::optional<std::pair<uint64_t, uint64_t>> range;  // first and last byte
  std::string if_match;             // the entity tag that the file must still have; empty: any
  std::string if_unmodified_since;  // likewise the time, as the server wrote it
};

// Takes what is asked for, over all tries.
class RemoteSink : public HttpSink {
 public:
  // What to ask for next: after a try that broke off, what is missing.
  virtual RemoteRequest Next() = 0;
  // Bytes that have come, of all tries.
  virtual uint64_t received() const = 0;
  // Whether all that is asked for has come: what a server has announced beyond it, or does not end,
  // is then no error.
  virtual bool complete() const { return false; }
  // Why Begin or Take refused what the server sent; ok where they just had enough.
  virtual Status refusal() const { return OkStatus(); }
};

// The answer: 2xx, whole or as much as the sink wanted, or 412 or 416, which the caller
// understands. `cancel` may be null.
// Errors: kNotFound (404, 410), kPermissionDenied (401, 403, no credentials), kUnavailable (what
// did not get better; the message has the tries), kCancelled, those of the sink, others for what a
// server should not answer. The message has the name, the first byte asked for, the status and
// what S3 says.
Result<HttpAnswer> AskServer(const RemoteLocation& location, RemoteSink& sink,
                             const RemoteOptions& options, Cancellation* cancel);

}  // namespace stoker

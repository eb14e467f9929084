// One request over HTTP or HTTPS and its answer, by libcurl, on the calling thread.
// remote_request.h adds retries.
//
// Connections are kept open and shared by all threads. Proxies come from the environment
// (https_proxy, no_proxy), a user's name and password for a host from ~/.netrc, certificates of
// private authorities from CURL_CA_BUNDLE, SSL_CERT_FILE or AWS_CA_BUNDLE.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "stoker/io/remote/cancellation.h"
#include "stoker/io/remote/http_head.h"

namespace stoker {

struct ClientRequest {
  std::string url;                   // percent-encoded
  std::vector<std::string> headers;  // "Name: value"; never printed: some are secrets
  std::string body;                  // not empty: sent by POST, as a form; may be a secret
  bool follow_redirects = true;
  bool netrc = true;    // whether ~/.netrc may name a user for the host
  double timeout = 30;  // seconds to connect, and without a byte
};

// Receives the body of a 2xx answer.
class HttpSink {
 public:
  virtual ~HttpSink() = default;
  // Called once for each answer, before its bytes. Returns false to refuse them all.
  virtual bool Begin(const HttpHead& head) = 0;
  // Returns false if no more is wanted.
  virtual bool Take(std::span<const std::byte> bytes) = 0;
};

struct HttpAnswer {
  HttpHead head;
  // Why the answer is incomplete ("Connection reset by peer"); empty if it is complete, or if the
  // sink wanted no more. Has no secret.
  std::string problem;
  bool lasting = false;      // a retry cannot help: no certificate, no such protocol
  bool unreachable = false;  // no connection was made, maybe because the host's name is wrong
  std::string text;          // the first 16 KiB of the body of an answer that is not 2xx
  std::string server;        // "HOST:PORT" that answered last or was to, after redirects
};

// Initialises what all requests share. PerformHttp does so too.
void PrepareHttp();

// Performs the request. `cancel` may be null. Thread-safe.
HttpAnswer PerformHttp(const ClientRequest& request, HttpSink& sink, Cancellation* cancel);

}  // namespace stoker

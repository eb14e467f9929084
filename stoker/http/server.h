// HttpServer: serves handlers on an address, on one thread of its own.
//
//   STOKER_ASSIGN_OR_RETURN(const HttpAddress address, ParseHttpAddress(":9090"));
//   STOKER_ASSIGN_OR_RETURN(auto server, HttpServer::Start({.address = address}, {{
//       .path = "/metrics",
//       .handler = [](const HttpRequest&, HttpReply reply) { reply.Send({.body = Metrics()});
//       }}}));
//
// Whatever clients do, the memory is bounded by connections x (header + body + stream), nobody
// waits for another one's slowness, and the process opens at most a quarter of the files that it
// may open.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/http/address.h"
#include "stoker/http/message.h"

namespace stoker {

struct HttpLimits {
  size_t header_bytes = 8 << 10;
  // Connections at a time, and at most a quarter of the files that the process may open. One more
  // takes the place of the one that has been the longest in its request or in reading its answer,
  // once that is older than `grace`; so clients that send half a request lock nobody out.
  int connections = 256;
  std::chrono::milliseconds grace{250};
  int streams = 64;                       // of these, answers that are sent piece by piece
  size_t stream_bytes = size_t{1} << 20;  // of a stream that wait to be sent
  // How long a client may take: for a header, counted from its connection; for the next one on the
  // same connection; for a body; for an answer, or for a piece of a stream.
  std::chrono::milliseconds header_time{10'000}, idle_time{15'000}, body_time{30'000},
      write_time{30'000};
};

struct HttpOptions {
  HttpAddress address;
  // What requests must show in the header Authorization (token.h); empty: nothing, which is only
  // allowed on loopback.
  std::string token = {};
  HttpLimits limits = {};
  // Called on the server's thread about once a second; may be empty. It must not block.
  std::function<void()> each_second = {};
};

class HttpServer {
 public:
  // Listens, and answers from now on. Errors: kInvalidArgument for an address beyond loopback
  // without a token; kUnavailable if the address is in use; kNotFound for a name without an
  // address; those of the system. Messages begin with the address, and never hold the token.
  static Result<std::unique_ptr<HttpServer>> Start(HttpOptions options,
                                                   std::vector<HttpRoute> routes);
  // Stop.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Ends it within a second: sends what streams hold and answers that have begun, for a third of
  // one. No handler runs afterwards; replies and streams that are left do nothing. Any thread but
  // the server's.
  void Stop();

  uint16_t port() const;
  // Returns "http://127.0.0.1:8080/", for a browser on this machine if it listens on all addresses.
  std::string url() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace stoker

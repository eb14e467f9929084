// Decides whether a request is answered, by its head alone. No socket and no clock, so tests can
// hand it any head.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stoker/http/address.h"
#include "stoker/http/message.h"
#include "stoker/http/token.h"

namespace stoker {

// A request without its body, as it was parsed.
struct RequestHead {
  int version = 11;  // 10 for HTTP/1.0
  std::string method;
  std::string target;
  std::vector<std::pair<std::string, std::string>> headers;  // in order, as they were sent
  bool chunked = false;                                      // the body is, by the parser
  std::optional<uint64_t> content_length = {};
};

struct AdmissionResult {
  const HttpRoute* route = nullptr;  // of the Admission; null: refused
  HttpRequest request;               // for the route, still without a body
  HttpResponse refusal = {};
};

// Immutable, so every thread may use it.
class Admission {
 public:
  //   token  nothing: none is asked for
  Admission(std::vector<HttpRoute> routes, HttpNames names, std::optional<TokenCheck> token);

  // Checks, in this order: version, target, Host, token, path, method, origin, size. What comes
  // later is not told to who fails before: without the token no path can be found out.
  AdmissionResult Decide(RequestHead head) const;

 private:
  std::optional<HttpResponse> RefusedName(const RequestHead& head,
                                          const std::string& authority) const;
  std::optional<HttpResponse> RefusedToken(const RequestHead& head, const std::string& path) const;
  std::optional<HttpResponse> RefusedOrigin(const RequestHead& head) const;
  HttpResponse NoSuchMethod(const std::string& path) const;
  const HttpRoute* Find(const std::string& method, const std::string& path) const;

  const std::vector<HttpRoute> routes_;
  const HttpNames names_;
  const std::optional<TokenCheck> token_;
};

}  // namespace stoker

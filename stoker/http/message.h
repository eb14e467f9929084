// What a handler of the server gets, and what it gives.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stoker {

class HttpReply;

struct HttpRequest {
  std::string method;  // "GET"; also of HEAD, whose answer is that of GET without its body
  std::string path;    // begins with '/'; percent-encoding is undone
  std::string query;   // what follows '?', as it was sent
  // By name in lower case; the values of a repeated header are joined by ", ".
  std::map<std::string, std::string, std::less<>> headers;
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};  // further ones
};

// Called on the server's thread, which serves nobody else meanwhile: what takes longer than a
// millisecond keeps `reply` and answers later, from any thread. An exception becomes status 500.
using HttpHandler = std::function<void(const HttpRequest& request, HttpReply reply)>;

struct HttpRoute {
  std::string method = "GET";  // "GET", "POST", ...
  std::string path;            // the whole path: "/metrics"
  HttpHandler handler;
  uint64_t most_body_bytes = 0;  // of a request; a longer one is refused, chunked or not
  // Answers requests without the token, with status 401 whatever it says: a page that asks for the
  // token. Nothing: a line of text.
  std::optional<HttpResponse> without_token = {};
};

// Returns the phrase for a status: "Not Found"; "Unknown" for one that the server never sends.
std::string_view HttpReason(int status);

}  // namespace stoker

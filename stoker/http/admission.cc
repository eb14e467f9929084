#include <algorithm>
#include <string_view>

#include "stoker/http/admission_internal.h"
#include "stoker/http/request_target.h"

namespace stoker {
namespace {

HttpResponse Refusal(int status, std::string text) {
  return {.status = status, .body = std::move(text) + "\n"};
}

bool Same(std::string_view a, std::string_view lower) {
  return std::ranges::equal(a, lower, [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
}

std::vector<std::string_view> ValuesOf(const RequestHead& head, std::string_view lower) {
  std::vector<std::string_view> values;
  for (const auto& [name, value] : head.headers) {
    if (Same(name, lower)) values.push_back(value);
  }
  return values;
}

std::string LowerName(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::optional<HttpResponse> RefusedSize(const RequestHead& head, const HttpRoute& route) {
  // A length that the parser does not know how to find would make the body the next request.
  if (!head.chunked && !ValuesOf(head, "transfer-encoding").empty())
    return Refusal(501, "this transfer encoding is not known; send the body as it is, or chunked");
  if (head.content_length.value_or(0) > route.most_body_bytes) {
    return Refusal(413,
                   fmt::format("a body of at most {} bytes is taken here", route.most_body_bytes));
  }
  return std::nullopt;
}

}  // namespace

std::string_view HttpReason(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Unknown";
  }
}

Admission::Admission(std::vector<HttpRoute> routes, HttpNames names,
                     std::optional<TokenCheck> token)
    : routes_(std::move(routes)), names_(std::move(names)), token_(std::move(token)) {}

const HttpRoute* Admission::Find(const std::string& method, const std::string& path) const {
  const std::string& wanted = method == "HEAD" ? "GET" : method;
  for (const HttpRoute& route : routes_) {
    if (route.path == path && route.method == wanted) return &route;
  }
  return nullptr;
}

std::optional<HttpResponse> Admission::RefusedName(const RequestHead& head,
                                                   const std::string& authority) const {
  const std::vector<std::string_view> hosts = ValuesOf(head, "host");
  if (hosts.size() > 1 || (hosts.empty() && head.version >= 11))
    return Refusal(400, "a request has one header Host");
  for (const std::string_view host : hosts) {
    if (!names_.Allows(host))
      return Refusal(421, "this server has another name; ask for it by its IP address");
  }
  if (!authority.empty() && !names_.Allows(authority))
    return Refusal(421, "this server has another name; ask for it by its IP address");
  return std::nullopt;
}

std::optional<HttpResponse> Admission::RefusedToken(const RequestHead& head,
                                                    const std::string& path) const {
  if (!token_) return std::nullopt;
  const std::vector<std::string_view> given = ValuesOf(head, "authorization");
  if (given.size() == 1 && token_->Passes(given.front())) return std::nullopt;
  HttpResponse refusal = Refusal(401, "send the header `Authorization: Bearer TOKEN`");
  const HttpRoute* const route = Find(head.method, path);
  if (route != nullptr && route->without_token) refusal = *route->without_token;
  refusal.status = 401;
  refusal.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"stoker\"");
  return refusal;
}

// What changes something must not be asked for by a page of another site.
std::optional<HttpResponse> Admission::RefusedOrigin(const RequestHead& head) const {
  if (head.method == "GET" || head.method == "HEAD") return std::nullopt;
  for (const std::string_view origin : ValuesOf(head, "origin")) {
    const size_t slashes = origin.find("://");
    if (slashes == origin.npos || !names_.Allows(origin.substr(slashes + 3)))
      return Refusal(403, "pages of other sites may not send this");
  }
  return std::nullopt;
}

HttpResponse Admission::NoSuchMethod(const std::string& path) const {
  std::string allowed;
  for (const HttpRoute& route : routes_) {
    if (route.path != path) continue;
    allowed += (allowed.empty() ? "" : ", ") + route.method;
    if (route.method == "GET") allowed += ", HEAD";
  }
  if (allowed.empty()) return Refusal(404, "there is nothing of this name");
  HttpResponse refusal = Refusal(405, "this can be asked for with " + allowed);
  refusal.headers.emplace_back("Allow", allowed);
  return refusal;
}

AdmissionResult Admission::Decide(RequestHead head) const {
  AdmissionResult decision;
  const auto refuse = [&](HttpResponse refusal) {
    decision.refusal = std::move(refusal);
    return std::move(decision);
  };
  if (head.version != 10 && head.version != 11)
    return refuse(Refusal(505, "this server speaks HTTP/1.1 and HTTP/1.0"));
  Result<RequestTarget> target = ParseRequestTarget(head.target);
  if (!target.ok()) return refuse(Refusal(400, target.status().message()));
  if (auto refused = RefusedName(head, target->authority)) return refuse(*std::move(refused));
  if (auto refused = RefusedToken(head, target->path)) return refuse(*std::move(refused));
  const HttpRoute* const route = Find(head.method, target->path);
  if (route == nullptr) return refuse(NoSuchMethod(target->path));
  if (auto refused = RefusedOrigin(head)) return refuse(*std::move(refused));
  if (auto refused = RefusedSize(head, *route)) return refuse(*std::move(refused));
  decision.route = route;
  decision.request.method = std::move(head.method);
  decision.request.path = std::move(target->path);
  decision.request.query = std::move(target->query);
  for (auto& [name, value] : head.headers) {
    std::string& all = decision.request.headers[LowerName(std::move(name))];
    all += all.empty() ? value : ", " + value;
  }
  return decision;
}

}  // namespace stoker

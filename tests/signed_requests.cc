// Signs requests, for interop_signatures_test.py: of each line of standard input, a JSON object,
// it prints one with the path and query as they are sent and the header Authorization.
//
// {"method", "key": text, "query": [[name, value or null], ...], "headers": [[name, value], ...],
// "payload_sha256", "region", "service", "time": seconds since 1970, "access_key_id",
// "secret_access_key"}; nothing in it is encoded yet.
#include <iostream>
#include <string>

#include "stoker/base/json.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/sigv4.h"

using namespace stoker;

namespace {

std::string QueryOf(const Json& parameters) {
  std::string query;
  for (const Json& parameter : parameters) {
    if (&parameter != &parameters.front()) query += '&';
    query += PercentEncode(parameter[0].get<std::string>(), /*keep_slashes=*/false);
    if (!parameter[1].is_null())
      query += "=" + PercentEncode(parameter[1].get<std::string>(), /*keep_slashes=*/false);
  }
  return query;
}

Json Signed(const Json& asked) {
  const auto text = [&](const char* name) { return asked[name].get<std::string>(); };
  const std::string method = text("method"), payload = text("payload_sha256");
  const std::string service = text("service");
  const SigV4Request request{
      .method = method,
      .path = "/" + PercentEncode(text("key"), /*keep_slashes=*/true),
      .query = QueryOf(asked["query"]),
      .headers = asked["headers"].get<std::vector<std::pair<std::string, std::string>>>(),
      .payload_sha256 = payload};
  const SigV4Scope scope{
      .region = text("region"), .service = service, .time = asked["time"].get<int64_t>()};
  const AwsCredentials credentials{text("access_key_id"), text("secret_access_key"), ""};
  return {{"path", request.path},
          {"query", request.query},
          {"authorization", SigV4Authorization(request, scope, credentials)}};
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << Signed(Json::parse(line)) << '\n';
  return std::cout.flush() ? 0 : 1;
}

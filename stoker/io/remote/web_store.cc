// Files on web servers, http:// and https://: read by GET, never listed.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "stoker/io/remote/http_store.h"
#include "stoker/io/remote/remote_stores_internal.h"
#include "stoker/io/remote/s3_xml.h"

namespace stoker {
namespace {

// What may not stand in a URL (RFC 3986, section 2) is encoded; what is encoded already stays.
std::string EncodeUrl(std::string_view text) {
  constexpr std::string_view kAllowed = "-._~:/?[]@!$&'()*+,;=%";
  std::string out;
  for (const char c : text) {
    if (kAllowed.find(c) != kAllowed.npos) {
      out += c;
    } else {
      out += PercentEncode(std::string_view(&c, 1), /*keep_slashes=*/false);
    }
  }
  return out;
}

Result<RemoteLocation> ParseHttp(const RemoteStore& store, const std::string& path) {
  RemoteLocation location{.store = &store};
  const size_t host = path.find("://") + 3;
  const std::string_view whole = std::string_view(path).substr(0, path.find('#'));
  const size_t end_of_host = std::min(whole.find_first_of("/?", host), whole.size());
  const size_t at = whole.substr(0, end_of_host).rfind('@');
  const size_t name = at == whole.npos || at < host ? host : at + 1;
  const size_t query = std::min(whole.find('?', host), whole.size());
  location.name = std::string(whole.substr(0, host)) +
                  std::string(whole.substr(name, query - name)) +
                  (query < whole.size() ? "?..." : "");
  if (name == end_of_host)
    return InvalidArgument("{}: the address has no host; write http://HOST/PATH", location.name);
  if (whole.substr(query) == "?...") {
    return InvalidArgument(
        "{}: what follows the ? was left out when this address was stored, since it may be secret; "
        "give the recipe with the whole address again (stoker train RECIPE --resume --run RUN)",
        location.name);
  }
  location.url = EncodeUrl(whole);
  return location;
}

class Web final : public HttpStore {
  Result<RemoteLocation> Locate(const std::string& path) const override {
    return ParseHttp(*this, path);
  }

  Result<StoreRequest> MakeRequest(const RemoteAccess& access,
                                   const RemoteRequest& asked) const override {
    StoreRequest request{.http = {.url = access.location.url, .timeout = access.options.timeout}};
    AddReadHeaders(asked, request.http.headers);
    return request;
  }
  // Addresses of S3 that are signed are read like others, and answer in its XML.
  StoreError ReadError(const HttpAnswer& answer) const override {
    S3Error error = ParseS3Error(answer.text);
    return {std::move(error.code), std::move(error.message)};
  }
};

}  // namespace

const RemoteStore& internal::WebStore() {
  static const Web& store = *new Web;
  return store;
}

}  // namespace stoker

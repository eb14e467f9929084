#include "stoker/io/remote/s3.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "stoker/base/mutex.h"
#include "stoker/base/per_process.h"
#include "stoker/io/remote/aws_settings.h"
#include "stoker/io/remote/s3_like_store.h"
#include "stoker/io/remote/s3_xml.h"
#include "stoker/io/remote/server_clock.h"

namespace stoker {
namespace {

constexpr std::string_view kDefaultRegion = "us-east-1";

struct Endpoint {
  std::string scheme, host, base;  // "https", "host:9000", "/path" or empty
};

Result<Endpoint> ParseEndpoint(std::string_view text) {
  Endpoint endpoint;
  const size_t scheme = text.find("://");
  endpoint.scheme = text.substr(0, scheme == text.npos ? 0 : scheme);
  if (endpoint.scheme != "http" && endpoint.scheme != "https") {
    return InvalidArgument(
        "the endpoint of S3 '{}' is no address; write https://HOST or http://HOST:PORT", text);
  }
  std::string_view rest = text.substr(scheme + 3);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view host = rest.substr(0, slash);
  endpoint.base = rest.substr(slash);
  // The port that goes without saying is not sent, so it must not be signed.
  const std::string_view port = endpoint.scheme == "http" ? ":80" : ":443";
  if (host.ends_with(port)) host.remove_suffix(port.size());
  if (const size_t at = host.rfind('@'); at != host.npos) {
    return InvalidArgument(
        "the endpoint of S3 '{}://...{}' has a user before the @; leave it out, and give the "
        "credentials as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or in ~/.aws/credentials",
        endpoint.scheme, host.substr(at));
  }
  if (host.empty() || host.find_first_of("?# ") != host.npos) {
    return InvalidArgument("the endpoint of S3 '{}' has no host; write https://HOST", text);
  }
  endpoint.host = host;
  return endpoint;
}

std::string AmazonEndpoint(const std::string& region) {
  return fmt::format("https://s3.{}.amazonaws.com{}", region,
                     region.starts_with("cn-") ? ".cn" : "");
}

std::string EndpointOf(const AwsPlace& place, const std::string& region) {
  return place.endpoint.empty() ? AmazonEndpoint(region) : place.endpoint;
}

bool InPath(const RemoteOptions& options, const std::string& bucket, bool own_endpoint) {
  if (options.path_style != "auto") return options.path_style == "true";
  return own_endpoint || bucket.find('.') != bucket.npos;
}

}  // namespace

struct S3Stores::State {
  Mutex mutex;
  std::map<std::string, std::string> regions
      STOKER_GUARDED_BY(mutex);  // of buckets, as answers have said
  // Found for these options; they are few, and stay the same but in tests.
  std::optional<std::pair<RemoteOptions, AwsPlace>> place STOKER_GUARDED_BY(mutex);
  std::optional<std::pair<RemoteOptions, AwsCredentials>> credentials STOKER_GUARDED_BY(mutex);

  static bool Same(const RemoteOptions& a, const RemoteOptions& b) {
    return a.endpoint == b.endpoint && a.region == b.region && a.profile == b.profile;
  }
  AwsPlace PlaceFor(const RemoteOptions& options) {
    {
      const MutexLock lock(mutex);
      if (place && Same(place->first, options)) return place->second;
    }
    AwsPlace found = FindAwsPlace(options);
    const MutexLock lock(mutex);
    place = {options, found};
    return found;
  }
  // Files are read without the lock, which every request takes.
  Result<AwsCredentials> CredentialsFor(const RemoteOptions& options) {
    {
      const MutexLock lock(mutex);
      if (credentials && Same(credentials->first, options)) return credentials->second;
    }
    return FindAgain(options);
  }
  Result<AwsCredentials> FindAgain(const RemoteOptions& options) {
    STOKER_ASSIGN_OR_RETURN(AwsCredentials found, FindAwsCredentials(options));
    const MutexLock lock(mutex);
    credentials = {options, found};
    return found;
  }
  std::string RegionOf(const std::string& bucket, const AwsPlace& known) {
    const MutexLock lock(mutex);
    const auto learnt = regions.find(bucket);
    if (learnt != regions.end()) return learnt->second;
    return known.region.empty() ? std::string(kDefaultRegion) : known.region;
  }
};

S3Stores::S3Stores() : state_(std::make_shared<State>()) {}

S3Stores& S3Stores::Shared() {
  static PerProcess<S3Stores> stores;
  return stores.Get([] { return S3Stores(); });
}

Result<StoreRequest> MakeS3Request(const RemoteLocation& location, const std::string& query,
                                   const S3Target& target, const AwsCredentials* credentials,
                                   double timeout) {
  STOKER_ASSIGN_OR_RETURN(Endpoint endpoint, ParseEndpoint(target.endpoint));
  if (!target.in_path) endpoint.host = fmt::format("{}.{}", location.bucket, endpoint.host);
  SigV4Request request{.path = endpoint.base, .query = query, .payload_sha256 = kEmptySha256};
  if (target.in_path) request.path += fmt::format("/{}", location.bucket);
  if (!location.key.empty() || !target.in_path)
    request.path += fmt::format("/{}", PercentEncode(location.key, /*keep_slashes=*/true));
  StoreRequest out{
      .http = {.url = fmt::format("{}://{}{}{}{}", endpoint.scheme, endpoint.host, request.path,
                                  query.empty() ? "" : "?", query),
               .headers = {fmt::format("Host: {}", endpoint.host)},
               .follow_redirects = false,  // what is signed for one host is not for another
               .netrc = false,
               .timeout = timeout},
      .terms = {.region = target.region, .token = ""}};
  if (credentials == nullptr) return out;
  const SigV4Scope scope{.region = target.region, .time = target.time};
  request.headers = {{"host", endpoint.host},
                     {"x-amz-content-sha256", std::string(request.payload_sha256)},
                     {"x-amz-date", AwsTime(scope.time)}};
  if (!credentials->session_token.empty())
    request.headers.emplace_back("x-amz-security-token", credentials->session_token);
  for (size_t i = 1; i < request.headers.size(); ++i)
    out.http.headers.push_back(
        fmt::format("{}: {}", request.headers[i].first, request.headers[i].second));
  out.http.headers.push_back(
      fmt::format("Authorization: {}", SigV4Authorization(request, scope, *credentials)));
  out.terms.token = credentials->session_token;
  return out;
}

Result<StoreRequest> S3Stores::MakeRequest(const RemoteLocation& location, const std::string& query,
                                           const RemoteOptions& options) {
  const AwsPlace place = state_->PlaceFor(options);
  S3Target target{.region = state_->RegionOf(location.bucket, place)};
  target.endpoint = EndpointOf(place, target.region);
  target.in_path = InPath(options, location.bucket, !place.endpoint.empty());
  target.time = ServerTime(target.endpoint);
  if (options.anonymous)
    return MakeS3Request(location, query, target, /*credentials=*/nullptr, options.timeout);
  STOKER_ASSIGN_OR_RETURN(const AwsCredentials credentials, state_->CredentialsFor(options));
  return MakeS3Request(location, query, target, &credentials, options.timeout);
}

bool S3Stores::LearnFrom(const RemoteLocation& location, const RequestTerms& terms,
                         const HttpAnswer& answer, const RemoteOptions& options) {
  const S3Error error = ParseS3Error(answer.text);
  const std::string& region =
      answer.head.bucket_region.empty() ? error.region : answer.head.bucket_region;
  if (!region.empty() && region != terms.region) {
    const MutexLock lock(state_->mutex);
    state_->regions[location.bucket] = region;
    return true;
  }
  if (error.code == "RequestTimeTooSkewed" && answer.head.date) {
    LearnServerTime(EndpointOf(state_->PlaceFor(options), terms.region), *answer.head.date);
    return true;
  }
  if (error.code == kExpiredToken) {
    const Result<AwsCredentials> found = state_->FindAgain(options);
    return found.ok() && found->session_token != terms.token;
  }
  return false;
}

}  // namespace stoker

// Google Cloud Storage, gs://: by its JSON API with tokens or without credentials, and with HMAC
// keys by its XML API, which speaks as S3 does.
#include <string>
#include <string_view>
#include <utility>

#include "stoker/io/remote/gcs_credentials.h"
#include "stoker/io/remote/gcs_json.h"
#include "stoker/io/remote/http_store.h"
#include "stoker/io/remote/remote_stores_internal.h"
#include "stoker/io/remote/s3.h"
#include "stoker/io/remote/s3_like_store.h"
#include "stoker/io/remote/server_clock.h"

namespace stoker {
namespace {

constexpr std::string_view kRedirect =
    "the server sends to another address, where credentials are not sent; check "
    "STORAGE_EMULATOR_HOST and the proxy";

// What is stored in gzip's form is sent as it is stored: offsets count its bytes.
constexpr std::string_view kAsStored = "gzip";

// The generation that a tag of JsonApi stands for; empty if the tag is one of HTTP, which a server
// without generations sends.
std::string_view GenerationOf(std::string_view tag) {
  if (!IsStrongTag(tag)) return {};
  tag = tag.substr(1, tag.size() - 2);
  return tag.find_first_not_of("0123456789") == tag.npos ? tag : std::string_view();
}

// Its tags are generations, in quotes as tags of HTTP are.
class JsonApi final : public HttpStore {
 public:
  Result<RemoteLocation> Locate(const std::string& path) const override {
    return ParseBucketPath(*this, path);
  }

  Result<StoreRequest> MakeRequest(const RemoteAccess& access,
                                   const RemoteRequest& asked) const override {
    const GcsSettings settings = FindGcsSettings();
    STOKER_RETURN_IF_ERROR(CheckGcsEndpoint(settings));
    const RemoteLocation& location = access.location;
    StoreRequest request{.http = {.follow_redirects = false,  // a token is for this host alone
                                  .netrc = false,
                                  .timeout = access.options.timeout}};
    ClientRequest& http = request.http;
    const std::string bucket = PercentEncode(location.bucket, /*keep_slashes=*/false);
    if (asked.query.empty()) {
      http.url = fmt::format("{}/download/storage/v1/b/{}/o/{}?alt=media", settings.endpoint,
                             bucket, PercentEncode(location.key, /*keep_slashes=*/false));
      if (const std::string_view generation = GenerationOf(asked.if_match); !generation.empty())
        http.url += fmt::format("&ifGenerationMatch={}", generation);
    } else {
      http.url = fmt::format("{}/storage/v1/b/{}/o?{}", settings.endpoint, bucket, asked.query);
    }
    http.headers.push_back(fmt::format("Accept-Encoding: {}", kAsStored));
    if (asked.range) {
      http.headers.push_back(
          fmt::format("Range: bytes={}-{}", asked.range->first, asked.range->second));
    }
    if (access.options.anonymous) return request;
    STOKER_ASSIGN_OR_RETURN(request.terms.token, GcsTokens::Shared().Get(access));
    if (!request.terms.token.empty())
      http.headers.push_back(fmt::format("Authorization: Bearer {}", request.terms.token));
    return request;
  }

  HttpHead HeadOf(const HttpHead& head) const override {
    HttpHead marked = head;
    if (head.generation) marked.etag = fmt::format("\"{}\"", *head.generation);
    return marked;
  }
  StoreError ReadError(const HttpAnswer& answer) const override {
    return ParseGcsError(answer.text);
  }
  bool LearnFrom(const RemoteAccess& access, const RequestTerms& terms,
                 const HttpAnswer& answer) const override {
    constexpr int kWrongToken = 401;
    return answer.head.status == kWrongToken && !access.options.anonymous &&
           GcsTokens::Shared().Renew(terms.token);
  }
  Status Refusal(const RemoteAccess& access, const std::string& place, const std::string& text,
                 const StoreError&) const override {
    if (!SendsTokens(FindGcsSettings())) {
      return RefusedObject(access, place, text,
                           "no token is sent there, over plain HTTP; write https:// in "
                           "STORAGE_EMULATOR_HOST");
    }
    return RefusedObject(access, place, text,
                         "these credentials may not read it, or it is not there; check the name "
                         "and the rights (storage.objects.get and .list), or renew the "
                         "credentials");
  }
  std::string_view RedirectAdvice() const override { return kRedirect; }

  std::string ListQuery(const std::string& prefix, bool one_level,
                        const std::string& continuation) const override {
    std::string query;
    if (one_level) query += "delimiter=%2F&";
    query += "fields=items(name%2Csize%2Cgeneration)%2Cprefixes%2CnextPageToken";
    if (!continuation.empty())
      query += fmt::format("&pageToken={}", PercentEncode(continuation, false));
    return query + fmt::format("&prefix={}", PercentEncode(prefix, false));
  }
  Result<Page> ReadPage(std::string_view text) const override { return ParseGcsPage(text); }
};

// Signed as for S3, in the region "auto"; its tags are those of HTTP.
class XmlApi final : public S3LikeStore {
 public:
  Result<StoreRequest> MakeRequest(const RemoteAccess& access,
                                   const RemoteRequest& asked) const override {
    const GcsSettings settings = FindGcsSettings();
    STOKER_RETURN_IF_ERROR(CheckGcsEndpoint(settings));
    const AwsCredentials keys{settings.key_id, settings.key_secret, ""};
    const S3Target target{
        .region = "auto", .endpoint = settings.endpoint, .time = ServerTime(settings.endpoint)};
    STOKER_ASSIGN_OR_RETURN(
        StoreRequest request,
        MakeS3Request(access.location, asked.query, target, &keys, access.options.timeout));
    AddReadHeaders(asked, request.http.headers, kAsStored);
    return request;
  }
  bool LearnFrom(const RemoteAccess&, const RequestTerms&,
                 const HttpAnswer& answer) const override {
    if (ReadError(answer).code != "RequestTimeTooSkewed" || !answer.head.date) return false;
    LearnServerTime(FindGcsSettings().endpoint, *answer.head.date);
    return true;
  }
  StoreError ReadError(const HttpAnswer& answer) const override {
    return ParseGcsError(answer.text);
  }
  Status Refusal(const RemoteAccess& access, const std::string& place, const std::string& text,
                 const StoreError&) const override {
    return RefusedObject(
        access, place, text,
        "check GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY, their rights and the name");
  }
  std::string_view RedirectAdvice() const override { return kRedirect; }
};

// Takes the API that the credentials are for.
class Gcs final : public RemoteStore {
  Result<RemoteLocation> Locate(const std::string& path) const override {
    return ParseBucketPath(*this, path);
  }
  bool lists() const override { return true; }
  std::string_view container() const override { return "bucket"; }

  Result<Found> Find(const RemoteAccess& access, size_t head_bytes) const override {
    return ApiFor(access).Find(access, head_bytes);
  }
  Status ReadRange(const RemoteAccess& access, const RemoteVersion& version, uint64_t offset,
                   std::span<std::byte> out, const Progress& progress) const override {
    return ApiFor(access).ReadRange(access, version, offset, out, progress);
  }
  Status ReadWhole(const RemoteAccess& access, const RemoteVersion& version,
                   const TakeBytes& take) const override {
    return ApiFor(access).ReadWhole(access, version, take);
  }
  std::unique_ptr<RemoteList> List(const RemoteAccess& access,
                                   RemoteListRequest request) const override {
    return ApiFor(access).List(access, std::move(request));
  }

  const HttpStore& ApiFor(const RemoteAccess& access) const {
    if (!access.options.anonymous && FindGcsSettings().uses_keys()) return xml_;
    return json_;
  }

  const JsonApi json_ = {};
  const XmlApi xml_ = {};
};

}  // namespace

const RemoteStore& internal::GcsStore() {
  static const Gcs& store = *new Gcs;
  return store;
}

}  // namespace stoker

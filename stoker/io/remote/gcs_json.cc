#include "stoker/io/remote/gcs_json.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "stoker/base/short_text.h"
#include "stoker/io/remote/json_members_internal.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/s3_xml.h"

namespace stoker {
namespace {

constexpr std::string_view kScope = "https://www.googleapis.com/auth/devstorage.read_only";
constexpr std::string_view kTokenUri = "https://oauth2.googleapis.com/token";

using internal::Member;
using internal::ParseAnswer;
using internal::TextOf;

bool IsPrintable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

// Google's APIs write numbers of 64 bits as texts.
std::optional<uint64_t> NumberOf(const Json& object, const char* key) {
  const std::string text = TextOf(object, key);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string UrlBase64(std::string_view bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  out.resize(static_cast<size_t>(size));
  std::ranges::replace(out, '+', '-');
  std::ranges::replace(out, '/', '_');
  while (out.ends_with('=')) out.pop_back();
  return out;
}

struct Freer {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

// RSASSA-PKCS1-v1_5 with SHA-256 ("RS256"); empty if the key is no RSA key.
std::string SignedWith(const std::string& private_key, std::string_view text) {
  const std::unique_ptr<BIO, Freer> pem(
      BIO_new_mem_buf(private_key.data(), static_cast<int>(private_key.size())));
  const std::unique_ptr<EVP_PKEY, Freer> key(
      pem ? PEM_read_bio_PrivateKey(pem.get(), nullptr, nullptr, const_cast<char*>("")) : nullptr);
  if (!key || EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA) return "";
  const std::unique_ptr<EVP_MD_CTX, Freer> context(EVP_MD_CTX_new());
  std::string signature(static_cast<size_t>(EVP_PKEY_size(key.get())), '\0');
  size_t size = signature.size();
  const bool made =
      context &&
      EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 1;
  signature.resize(made ? size : 0);
  return signature;
}

bool IsSafeTokenUri(std::string_view uri) {
  if (!IsPrintable(uri)) return false;
  return uri.starts_with("https://") || (uri.starts_with("http://") && IsOnThisMachine(uri));
}

}  // namespace

StoreError ParseGcsError(std::string_view text) {
  if (text.starts_with('<')) {
    S3Error error = ParseS3Error(text);
    return {std::move(error.code), std::move(error.message)};
  }
  const Json json = ParseAnswer(text);
  if (json.is_object() && json.contains("error")) {
    const Json& error = json["error"];
    if (error.is_string()) return {error.get<std::string>(), TextOf(json, "error_description")};
    const Json& errors = error.is_object() && error.contains("errors") ? error["errors"] : Json();
    const bool has_reason = errors.is_array() && !errors.empty();
    return {has_reason ? TextOf(errors[0], "reason") : TextOf(error, "status"),
            TextOf(error, "message")};
  }
  // The bytes of an object are refused by a line of text.
  constexpr size_t kLongestLine = 300;
  text = text.substr(0, text.find_last_not_of(" \r\n") + 1);
  if (!json.is_discarded() || text.size() > kLongestLine || !IsPrintable(text)) return {};
  return {"", std::string(text)};
}

Result<HttpStore::Page> ParseGcsPage(std::string_view text) {
  HttpStore::Page page;
  const auto take = [&page](std::string_view list, const Json& item) {
    if (list == "prefixes") {
      ++page.folders;
      return true;
    }
    const std::optional<uint64_t> size = NumberOf(item, "size");
    const std::optional<uint64_t> generation = NumberOf(item, "generation");
    std::string name = TextOf(item, "name");
    if (name.empty() || !size || !generation) return false;
    page.objects.push_back(
        {.key = std::move(name), .size = *size, .etag = fmt::format("\"{}\"", *generation)});
    return true;
  };
  const Json json = ParseAnswer(text, {"items", "prefixes"}, take);
  const auto is_list = [&json](const char* key) {
    return !json.contains(key) || json[key].is_array();
  };
  if (!json.is_object() || json.contains("error") || !is_list("items") || !is_list("prefixes")) {
    return Unavailable(
        "the store's list of objects is not what Google Cloud Storage describes; check the "
        "endpoint (STORAGE_EMULATOR_HOST)");
  }
  page.continuation = TextOf(json, "nextPageToken");
  return page;
}

Result<GcsToken> ParseGcsToken(std::string_view text) {
  constexpr int64_t kLongestLife = 24 * 3600;
  const Json json = ParseAnswer(text);
  GcsToken token{.value = TextOf(json, "access_token")};
  if (token.value.empty() || !IsPrintable(token.value))
    return Unavailable("the answer has no token");
  const Json& lifetime = Member(json, "expires_in");
  if (lifetime.is_number())
    token.lifetime_s =
        static_cast<int64_t>(std::clamp<double>(lifetime.get<double>(), 0, kLongestLife));
  return token;
}

Result<GcsCredentials> ParseGcsCredentials(std::string_view text) {
  const Json json = ParseAnswer(text);
  GcsCredentials found{.type = TextOf(json, "type"),
                       .client_id = TextOf(json, "client_id"),
                       .client_secret = TextOf(json, "client_secret"),
                       .refresh_token = TextOf(json, "refresh_token"),
                       .client_email = TextOf(json, "client_email"),
                       .private_key = TextOf(json, "private_key"),
                       .private_key_id = TextOf(json, "private_key_id"),
                       .token_uri = TextOf(json, "token_uri")};
  if (found.token_uri.empty()) found.token_uri = kTokenUri;
  if (found.type.empty())
    return InvalidArgument("is no file of credentials: it is no JSON with a \"type\"");
  const auto need = [](std::initializer_list<std::pair<const char*, const std::string*>> keys) {
    for (const auto& [name, value] : keys) {
      if (value->empty()) return InvalidArgument("has no \"{}\"", name);
    }
    return OkStatus();
  };
  if (found.type == "authorized_user") {
    STOKER_RETURN_IF_ERROR(need({{"client_id", &found.client_id},
                                 {"client_secret", &found.client_secret},
                                 {"refresh_token", &found.refresh_token}}));
  } else if (found.type == "service_account") {
    STOKER_RETURN_IF_ERROR(
        need({{"client_email", &found.client_email}, {"private_key", &found.private_key}}));
  } else {
    return InvalidArgument(
        "has credentials of the type '{}', which Stoker does not follow; make a token of them: "
        "export GOOGLE_OAUTH_ACCESS_TOKEN=\"$(gcloud auth print-access-token)\"",
        IsPrintable(found.type) ? ShortText(found.type) : "?");
  }
  if (!IsSafeTokenUri(found.token_uri))
    return InvalidArgument("has a token_uri that is not https://; secrets are not sent there");
  return found;
}

Result<std::string> GcsTokenForm(const GcsCredentials& credentials, int64_t now) {
  const auto encoded = [](std::string_view text) { return PercentEncode(text, false); };
  if (credentials.type == "authorized_user") {
    return fmt::format("grant_type=refresh_token&client_id={}&client_secret={}&refresh_token={}",
                       encoded(credentials.client_id), encoded(credentials.client_secret),
                       encoded(credentials.refresh_token));
  }
  constexpr int64_t kLifetime = 3600;
  Json header = {{"alg", "RS256"}, {"typ", "JWT"}};
  if (!credentials.private_key_id.empty()) header["kid"] = credentials.private_key_id;
  const Json claims = {{"iss", credentials.client_email},
                       {"scope", kScope},
                       {"aud", credentials.token_uri},
                       {"iat", now},
                       {"exp", now + kLifetime}};
  const std::string statement =
      fmt::format("{}.{}", UrlBase64(header.dump()), UrlBase64(claims.dump()));
  const std::string signature = SignedWith(credentials.private_key, statement);
  if (signature.empty())
    return InvalidArgument("has a private_key that is no RSA key in PEM; fetch the file again");
  return fmt::format("grant_type={}&assertion={}.{}",
                     encoded("urn:ietf:params:oauth:grant-type:jwt-bearer"), statement,
                     UrlBase64(signature));
}

}  // namespace stoker

#include "stoker/io/remote/gcs_credentials.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/mutex.h"
#include "stoker/base/stop_scope.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/environment_internal.h"
#include "stoker/io/remote/gcs_json.h"
#include "stoker/io/remote/text_answer_internal.h"

namespace stoker {
namespace {

constexpr size_t kMostBytes = 1 << 20;  // of a file, or of an answer with a token
constexpr std::string_view kStorage = "https://storage.googleapis.com";
constexpr std::string_view kMetadata = "metadata.google.internal";
constexpr int64_t kNsInSecond = 1'000'000'000;

using internal::Variable;

std::string EndpointOf(std::string host) {
  if (host.empty() || host == "default") return std::string(kStorage);
  if (!host.starts_with("http://") && !host.starts_with("https://")) host = "http://" + host;
  while (host.ends_with('/')) host.pop_back();
  return host;
}

// A token that stands alone in a text, such as a file's. Empty if it is none.
std::string TokenIn(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return "";
  text = text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
  const bool plain = std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
  return plain ? std::string(text) : "";
}

Status NoCredentials(const GcsSettings& settings) {
  return PermissionDenied(
      "no credentials for Google Cloud Storage: looked for GOOGLE_OAUTH_ACCESS_TOKEN, "
      "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE, GS_ACCESS_KEY_ID with GS_SECRET_ACCESS_KEY, "
      "GOOGLE_APPLICATION_CREDENTIALS, {} and the metadata server; run `gcloud auth "
      "application-default login`, or read what is public with anonymous: true (data.remote)",
      settings.default_file);
}

// A server that gives tokens. What it is asked holds for one call.
class TokenServer final : public HttpDialect {
 public:
  TokenServer(std::string url, std::string form, std::string advice)
      : url_(std::move(url)), form_(std::move(form)), advice_(std::move(advice)) {}

  Result<StoreRequest> MakeRequest(const RemoteAccess& access,
                                   const RemoteRequest&) const override {
    StoreRequest request{.http = {.url = url_,
                                  .headers = {"Accept: application/json"},
                                  .body = form_,
                                  .follow_redirects = false,
                                  .netrc = false,
                                  .timeout = access.options.timeout}};
    if (form_.empty()) request.http.headers.emplace_back("Metadata-Flavor: Google");
    return request;
  }
  StoreError ReadError(const HttpAnswer& answer) const override {
    return ParseGcsError(answer.text);
  }
  bool IsRefusal(const HttpAnswer& answer, const StoreError&) const override {
    return answer.head.status / 100 == 4;
  }
  Status Refusal(const RemoteAccess&, const std::string& place, const std::string& text,
                 const StoreError&) const override {
    return PermissionDenied("{}: {}: it gives no token; {}", place, text, advice_);
  }

  Result<GcsToken> Ask(const RemoteOptions& options, Cancellation* cancel) const {
    const RemoteLocation location{.name = NameForMessages(url_)};
    return internal::AskAndParse(*this, {location, options, cancel}, "", kMostBytes, "a token",
                                 ParseGcsToken);
  }

 private:
  const std::string url_, form_, advice_;
};

Result<GcsToken> TokenOfFile(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kMostBytes));
  GcsToken token{.value = TokenIn(text)};
  if (!token.value.empty()) return token;
  return InvalidArgument("{}: has no token; write one with `gcloud auth print-access-token`", path);
}

Result<GcsToken> TokenOfCredentials(const std::string& path, const RemoteAccess& access) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kMostBytes));
  const Result<GcsCredentials> found = ParseGcsCredentials(text);
  Result<std::string> form = found.ok() ? GcsTokenForm(*found, std::time(nullptr)) : found.status();
  if (!form.ok()) {
    return Status(form.status().code(), fmt::format("{}: {}", path, form.status().message()));
  }
  const TokenServer server(found->token_uri, *std::move(form),
                           fmt::format("renew the credentials in {}, for example by `gcloud auth "
                                       "application-default login`",
                                       path));
  return server.Ask(access.options, access.cancel);
}

Result<GcsToken> TokenOfMetadata(const GcsSettings& settings, const RemoteAccess& access) {
  const TokenServer server(
      fmt::format("http://{}/computeMetadata/v1/instance/service-accounts/default/token",
                  settings.metadata_host),
      "", "give this machine a service account");
  RemoteOptions options = access.options;
  if (!settings.metadata_named) {  // which is there only on Google's machines
    options.retries = 0;
    options.timeout = std::min(options.timeout, 3.0);
  }
  Result<GcsToken> token = server.Ask(options, access.cancel);
  const bool away = !token.ok() && token.status().code() == StatusCode::kUnavailable;
  if (away && !settings.metadata_named) return NoCredentials(settings);
  return token;
}

// Errors: see GcsTokens::Get. The value is empty if none is to be sent.
Result<GcsToken> AskForToken(const GcsSettings& settings, const RemoteAccess& access) {
  if (!settings.token.empty()) {
    const std::string value = TokenIn(settings.token);
    if (value.empty()) return InvalidArgument("GOOGLE_OAUTH_ACCESS_TOKEN has no token in it");
    return GcsToken{value};
  }
  if (!settings.token_file.empty()) return TokenOfFile(settings.token_file);
  if (!settings.credentials_file.empty())
    return TokenOfCredentials(settings.credentials_file, access);
  std::error_code ignored;
  if (!settings.emulator && std::filesystem::exists(settings.default_file, ignored))
    return TokenOfCredentials(settings.default_file, access);
  if (!settings.metadata_host.empty()) return TokenOfMetadata(settings, access);
  if (settings.emulator) return GcsToken{};
  return NoCredentials(settings);
}

}  // namespace

GcsSettings FindGcsSettings() {
  GcsSettings found{.token = Variable("GOOGLE_OAUTH_ACCESS_TOKEN"),
                    .token_file = Variable("CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"),
                    .key_id = Variable("GS_ACCESS_KEY_ID"),
                    .key_secret = Variable("GS_SECRET_ACCESS_KEY"),
                    .credentials_file = Variable("GOOGLE_APPLICATION_CREDENTIALS"),
                    .metadata_host = Variable("GCE_METADATA_HOST"),
                    .endpoint = EndpointOf(Variable("STORAGE_EMULATOR_HOST"))};
  found.emulator = found.endpoint != kStorage;
  std::string folder = Variable("CLOUDSDK_CONFIG");
  if (folder.empty()) folder = fmt::format("{}/.config/gcloud", Variable("HOME"));
  found.default_file = fmt::format("{}/application_default_credentials.json", folder);
  found.metadata_named = !found.metadata_host.empty();
  const bool may_try = !found.emulator && Variable("NO_GCE_CHECK") != "true";
  if (!found.metadata_named && may_try) found.metadata_host = kMetadata;
  return found;
}

Status CheckGcsEndpoint(const GcsSettings& settings) {
  const std::string_view host =
      std::string_view(settings.endpoint).substr(settings.endpoint.find("://") + 3);
  if (const size_t at = host.rfind('@'); at != host.npos) {
    return InvalidArgument("STORAGE_EMULATOR_HOST '...{}' has a user before the @; leave it out",
                           host.substr(at));
  }
  if (host.empty() || host.find_first_of("?# ") != host.npos) {
    return InvalidArgument("STORAGE_EMULATOR_HOST is no address; set it to http://HOST:PORT");
  }
  return OkStatus();
}

struct GcsTokens::State {
  Mutex mutex;
  CondVar changed;
  GcsSettings settings STOKER_GUARDED_BY(mutex);  // those that the rest was found by
  bool known STOKER_GUARDED_BY(mutex) = false;
  GcsToken token STOKER_GUARDED_BY(mutex);
  // Both 0: it does not expire.
  int64_t renew_at_ns STOKER_GUARDED_BY(mutex) = 0;
  int64_t expires_at_ns STOKER_GUARDED_BY(mutex) = 0;
  // It was asked for since another one was refused.
  bool for_refusal STOKER_GUARDED_BY(mutex) = false;
  bool renews_after_refusal STOKER_GUARDED_BY(mutex) = false;  // the next one will be
  bool under_way STOKER_GUARDED_BY(mutex) = false;             // a thread asks for one
  int64_t flights STOKER_GUARDED_BY(mutex) = 0;                // requests that have ended
  Status error STOKER_GUARDED_BY(mutex);                       // of the last of them

  void Take(GcsToken found) STOKER_REQUIRES(mutex) {
    constexpr int64_t kEarly = 240;
    token = std::move(found);
    known = true;
    for_refusal = std::exchange(renews_after_refusal, false);
    const int64_t now = NowNs(), lifetime = token.lifetime_s;
    expires_at_ns = lifetime == 0 ? 0 : now + lifetime * kNsInSecond;
    renew_at_ns = lifetime == 0 ? 0 : expires_at_ns - std::min(kEarly, lifetime / 2) * kNsInSecond;
  }
  bool IsFresh() const STOKER_REQUIRES(mutex) {
    return known && (renew_at_ns == 0 || NowNs() < renew_at_ns);
  }
  bool Holds() const STOKER_REQUIRES(mutex) {
    return known && (expires_at_ns == 0 || NowNs() < expires_at_ns);
  }
};

GcsTokens::GcsTokens() : state_(std::make_shared<State>()) {}

GcsTokens& GcsTokens::Shared() {
  static GcsTokens& tokens = *new GcsTokens;
  return tokens;
}

Result<std::string> GcsTokens::Get(const RemoteAccess& access) {
  State& state = *state_;
  const GcsSettings settings = FindGcsSettings();
  const MutexLock lock(state.mutex);
  if (!(state.settings == settings)) {
    state.settings = settings;
    state.known = false;
  }
  while (!state.IsFresh() && state.under_way) {
    if (state.Holds()) return state.token.value;  // until another thread has the next one
    const int64_t flight = state.flights;
    const auto ended = [&]() STOKER_REQUIRES(state.mutex) { return state.flights != flight; };
    while (!state.changed.WaitFor(state.mutex, kAskStopEvery, ended)) {
      if (access.cancel != nullptr ? access.cancel->cancelled() : StopScope::Asked())
        return Cancelled("the wait for a token was ended");
    }
    if (!state.error.ok() && state.error.code() != StatusCode::kCancelled) return state.error;
  }
  if (state.IsFresh()) return state.token.value;
  state.under_way = true;
  Result<GcsToken> found = [&]() STOKER_REQUIRES(state.mutex) {
    const MutexUnlock meanwhile(state.mutex);
    return AskForToken(settings, access);
  }();
  state.under_way = false;
  ++state.flights;
  state.error = found.status();
  state.changed.NotifyAll();
  if (found.ok()) state.Take(*std::move(found));
  if (state.error.ok() || state.Holds()) return state.token.value;
  return state.error;
}

bool GcsTokens::Renew(const std::string& token) {
  State& state = *state_;
  const MutexLock lock(state.mutex);
  if (!state.known || state.token.value != token) return true;  // another one is known already
  if (token.empty() || !state.settings.token.empty() || state.for_refusal) return false;
  state.known = false;
  state.renews_after_refusal = true;
  return true;
}

}  // namespace stoker

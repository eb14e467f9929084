#include "stoker/io/remote/gcs_credentials.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/base/mutex.h"
#include "stoker/base/per_process.h"
#include "stoker/base/stop_scope.h"
#include "stoker/io/file.h"
#include "stoker/io/remote/environment_internal.h"
#include "stoker/io/remote/gcs_json.h"
#include "stoker/io/remote/server_clock.h"
#include "stoker/io/remote/text_answer_internal.h"

namespace stoker {
namespace {

constexpr size_t kMostCredentialBytes = 1 << 20;  // of a file, or of an answer with a token
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
  // Asks for the token of `credentials`; without any, as a metadata server is asked.
  TokenServer(std::string url, const GcsCredentials* credentials, std::string advice)
      : url_(std::move(url)), credentials_(credentials), advice_(std::move(advice)) {}

  Result<StoreRequest> MakeRequest(const RemoteAccess& access,
                                   const RemoteRequest&) const override {
    std::string form;
    if (credentials_ != nullptr) {
      STOKER_ASSIGN_OR_RETURN(form, GcsTokenForm(*credentials_, ServerTime(url_)));
    }
    StoreRequest request{.http = {.url = url_,
                                  .headers = {"Accept: application/json"},
                                  .body = std::move(form),
                                  .follow_redirects = false,
                                  .netrc = false,
                                  .timeout = access.options.timeout}};
    if (credentials_ == nullptr) request.http.headers.emplace_back("Metadata-Flavor: Google");
    return request;
  }
  StoreError ReadError(const HttpAnswer& answer) const override {
    return ParseGcsError(answer.text);
  }
  // A statement of another time than the server's is refused as all that is wrong with one.
  bool LearnFrom(const RemoteAccess&, const RequestTerms&,
                 const HttpAnswer& answer) const override {
    constexpr int64_t kTolerated = 60;  // seconds
    const bool dated = credentials_ != nullptr && credentials_->type == "service_account";
    if (!dated || answer.head.status / 100 != 4 || !answer.head.date) return false;
    if (std::abs(*answer.head.date - ServerTime(url_)) <= kTolerated) return false;
    LearnServerTime(url_, *answer.head.date);
    return true;
  }
  bool IsRefusal(const HttpAnswer& answer, const StoreError&) const override {
    return answer.head.status / 100 == 4;
  }
  std::string_view RedirectAdvice() const override {
    return "the server sends to another address, where credentials are not sent; check token_uri "
           "in the file of credentials, or GCE_METADATA_HOST";
  }
  Status Refusal(const RemoteAccess&, const std::string& place, const std::string& text,
                 const StoreError&) const override {
    return PermissionDenied("{}: {}: it gives no token; {}", place, text, advice_);
  }

  Result<GcsToken> Ask(const RemoteOptions& options, Cancellation* cancel) const {
    const RemoteLocation location{.name = NameForMessages(url_)};
    return internal::AskAndParse(*this, {location, options, cancel}, "", kMostCredentialBytes,
                                 "a token", ParseGcsToken);
  }

 private:
  const std::string url_;
  const GcsCredentials* const credentials_;
  const std::string advice_;
};

Result<GcsToken> TokenOfFile(const std::string& path) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kMostCredentialBytes));
  GcsToken token{.value = TokenIn(text)};
  if (!token.value.empty()) return token;
  return InvalidArgument("{}: has no token; write one with `gcloud auth print-access-token`", path);
}

Result<GcsToken> TokenOfCredentials(const std::string& path, const RemoteAccess& access) {
  STOKER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kMostCredentialBytes));
  const Result<GcsCredentials> found = ParseGcsCredentials(text);
  // Whether its key is one shows here, before a server is asked.
  const Status usable = found.ok() ? GcsTokenForm(*found, 0).status() : found.status();
  if (!usable.ok()) return Status(usable.code(), fmt::format("{}: {}", path, usable.message()));
  const TokenServer server(found->token_uri, &*found,
                           fmt::format("renew the credentials in {}, for example by `gcloud auth "
                                       "application-default login`",
                                       path));
  return server.Ask(access.options, access.cancel);
}

Result<GcsToken> TokenOfMetadata(const GcsSettings& settings, const RemoteAccess& access) {
  const TokenServer server(
      fmt::format("http://{}/computeMetadata/v1/instance/service-accounts/default/token",
                  settings.metadata_host),
      /*credentials=*/nullptr, "give this machine a service account");
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
  if (!settings.token_file.empty()) {
    Result<GcsToken> token = TokenOfFile(settings.token_file);
    if (token.ok()) return token;
    return token.status().While("reading CLOUDSDK_AUTH_ACCESS_TOKEN_FILE");
  }
  if (!settings.credentials_file.empty()) {
    Result<GcsToken> token = TokenOfCredentials(settings.credentials_file, access);
    if (token.ok()) return token;
    return token.status().While("reading GOOGLE_APPLICATION_CREDENTIALS");
  }
  std::error_code ignored;
  if (!settings.emulator && std::filesystem::exists(settings.default_file, ignored))
    return TokenOfCredentials(settings.default_file, access);
  if (!settings.metadata_host.empty()) return TokenOfMetadata(settings, access);
  if (settings.emulator) return GcsToken{};
  return NoCredentials(settings);
}

// The metadata server that is tried where none is named. Thread-safe.
class UnnamedMetadataHost {
 public:
  static UnnamedMetadataHost& Shared() {
    static PerProcess<UnnamedMetadataHost> hosts;
    return hosts.Get();
  }
  std::string Get() const {
    const MutexLock lock(mutex_);
    return host_;
  }
  std::string Exchange(std::string host) {
    const MutexLock lock(mutex_);
    return std::exchange(host_, std::move(host));
  }

 private:
  mutable Mutex mutex_;
  std::string host_ STOKER_GUARDED_BY(mutex_) = std::string(kMetadata);
};

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
  if (!found.metadata_named && may_try) found.metadata_host = UnnamedMetadataHost::Shared().Get();
  return found;
}

std::string SetUnnamedMetadataHost(std::string host) {
  return UnnamedMetadataHost::Shared().Exchange(std::move(host));
}

bool SendsTokens(const GcsSettings& settings) {
  return settings.endpoint.starts_with("https://") || IsOnThisMachine(settings.endpoint);
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
  std::string refused STOKER_GUARDED_BY(mutex);     // the token refused last
  bool under_way STOKER_GUARDED_BY(mutex) = false;  // a thread asks for one
  int64_t flights STOKER_GUARDED_BY(mutex) = 0;     // requests that have ended
  Status error STOKER_GUARDED_BY(mutex);            // of the last of them

  void Take(GcsToken found) STOKER_REQUIRES(mutex) {
    constexpr int64_t kEarly = 240;
    token = std::move(found);
    known = true;
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

// For as long as this thread asks for a token, the others wait; also ended by an exception, after
// which another thread asks. Made and ended with the state's mutex held.
class GcsTokens::Flight {
 public:
  explicit Flight(State& state) STOKER_NO_THREAD_SAFETY_ANALYSIS : state_(state) {
    state_.under_way = true;
    state_.error = OkStatus();
  }
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;
  ~Flight() STOKER_NO_THREAD_SAFETY_ANALYSIS {
    state_.under_way = false;
    ++state_.flights;
    state_.changed.NotifyAll();
  }

 private:
  State& state_;
};

GcsTokens::GcsTokens() : state_(std::make_shared<State>()) {}

GcsTokens& GcsTokens::Shared() {
  static PerProcess<GcsTokens> tokens;
  return tokens.Get([] { return GcsTokens(); });
}

Result<std::string> GcsTokens::Get(const RemoteAccess& access) {
  State& state = *state_;
  const GcsSettings settings = FindGcsSettings();
  if (!SendsTokens(settings)) return std::string();
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
  const Flight flight(state);
  Result<GcsToken> found = [&]() STOKER_REQUIRES(state.mutex) {
    const MutexUnlock meanwhile(state.mutex);
    return AskForToken(settings, access);
  }();
  state.error = found.status();
  if (found.ok()) state.Take(*std::move(found));
  if (state.error.ok() || state.Holds()) return state.token.value;
  return state.error;
}

bool GcsTokens::Renew(const std::string& token) {
  State& state = *state_;
  const MutexLock lock(state.mutex);
  if (token.empty() || token == TokenIn(state.settings.token)) return false;
  if (!state.known || state.token.value != token) return true;  // another one is known already
  // In any case the next Get asks again: it may be in the file by then.
  state.known = false;
  return std::exchange(state.refused, token) != token;
}

}  // namespace stoker

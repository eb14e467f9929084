#include "stoker/io/remote/remote_request.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <mutex>
#include <random>
#include <set>

#include "stoker/base/clock.h"
#include "stoker/base/log.h"
#include "stoker/base/stop_scope.h"
#include "stoker/io/remote/s3.h"
#include "stoker/io/remote/s3_xml.h"

namespace stoker {
namespace {

constexpr double kLongestWait = 20, kLongestAskedFor = 120;  // seconds
constexpr double kLongToWait = 5;  // seconds that somebody who waits must hear of
constexpr int kMostLessons = 3;    // a store that sends us round in circles

// The servers that have answered this process. One that cannot be reached any more has a right name
// and is away for a while; one that never answered likely has a wrong name. Thread-safe.
class KnownServers {
 public:
  static KnownServers& Shared() {
    static KnownServers& servers = *new KnownServers;
    return servers;
  }
  void Add(const std::string& url) {
    const std::lock_guard lock(mutex_);
    servers_.emplace(ServerOf(url));
  }
  // Whether it has not been said before that this server is waited for.
  bool MustTellOfWait(const std::string& url) {
    const std::lock_guard lock(mutex_);
    return told_of_.emplace(ServerOf(url)).second;
  }
  bool Has(const std::string& url) const {
    const std::lock_guard lock(mutex_);
    return servers_.contains(ServerOf(url));
  }

 private:
  // "https://host:port" of "https://host:port/path".
  static std::string_view ServerOf(std::string_view url) {
    const size_t host = url.find("://");
    return host == url.npos ? url : url.substr(0, url.find('/', host + 3));
  }

  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> servers_;
  std::set<std::string, std::less<>> told_of_;
};

// "HTTP 403 AccessDenied (Access Denied)"
std::string AnswerText(const HttpAnswer& answer) {
  if (!answer.problem.empty()) return answer.problem;
  const S3Error error = ParseS3Error(answer.text);
  std::string text = fmt::format("HTTP {}", answer.head.status);
  if (!error.code.empty()) text += fmt::format(" {}", error.code);
  if (!error.message.empty()) text += fmt::format(" ({})", error.message);
  return text;
}

// The tries of one request so far.
class Tries {
 public:
  explicit Tries(const RemoteOptions& options) : options_(options) {}

  void Restart() { failed_ = 0; }

  // Waits before the next try; false where there is none, or it was cancelled.
  bool WaitForNext(const HttpAnswer& answer, const std::string& place, const std::string& url,
                   Cancellation& cancel) {
    ++failed_;
    const bool may_be_wrong = answer.unreachable && !KnownServers::Shared().Has(url);
    const int64_t most = may_be_wrong ? std::min<int64_t>(options_.retries, 2) : options_.retries;
    if (failed_ > most) return false;
    const auto asked_for = static_cast<double>(answer.head.retry_after_s.value_or(0));
    if (asked_for > kLongestAskedFor) return false;
    const double most_wait =
        std::min(kLongestWait, std::ldexp(options_.retry_wait, static_cast<int>(failed_ - 1)));
    thread_local std::minstd_rand random{std::random_device{}()};
    const double wait = most_wait * std::uniform_real_distribution<double>(0.5, 1)(random);
    if (asked_for >= kLongToWait && KnownServers::Shared().MustTellOfWait(url)) {
      LogWarning(
          "{}: {}: the server asks to come back in {:.0f} s, which is done; later waits for it are "
          "not told",
          place, AnswerText(answer), asked_for);
    }
    return !cancel.WaitFor(std::max(wait, asked_for));
  }

  std::string ToString() const {
    constexpr double kNsInSecond = 1e9;
    return fmt::format("{} {} in {:.1f} s", failed_, failed_ == 1 ? "try" : "tries",
                       static_cast<double>(NowNs() - start_ns_) / kNsInSecond);
  }

 private:
  const RemoteOptions& options_;
  int64_t failed_ = 0;  // since data came last
  const int64_t start_ns_ = NowNs();
};

struct Encoded {
  HttpRequest http;
  std::optional<S3Terms> terms;  // of S3
};

Result<Encoded> Encode(const RemoteLocation& location, const RemoteRequest& asked,
                       const RemoteOptions& options) {
  Encoded encoded{.http = {.url = location.url, .headers = {}, .timeout = options.timeout},
                  .terms = std::nullopt};
  if (location.kind == RemoteLocation::Kind::kS3) {
    Result<S3Request> made = S3Stores::Shared().MakeRequest(location, asked.query, options);
    if (!made.ok()) {
      return Status(made.status().code(),
                    fmt::format("{}: {}", location.name, made.status().message()));
    }
    encoded = {.http = std::move(made->http), .terms = std::move(made->terms)};
  }
  std::vector<std::string>& headers = encoded.http.headers;
  // Offsets count the bytes of the file, not of a form that somebody packs it into on the way.
  headers.emplace_back("Accept-Encoding: identity");
  if (asked.range)
    headers.push_back(fmt::format("Range: bytes={}-{}", asked.range->first, asked.range->second));
  if (!asked.if_match.empty()) headers.push_back(fmt::format("If-Match: {}", asked.if_match));
  if (!asked.if_unmodified_since.empty())
    headers.push_back(fmt::format("If-Unmodified-Since: {}", asked.if_unmodified_since));
  return encoded;
}

bool IsWorthAnotherTry(const HttpAnswer& answer) {
  if (!answer.problem.empty()) return !answer.lasting;
  constexpr std::array kPassing = {408, 425, 429, 500, 502, 503, 504, 509};
  if (std::ranges::find(kPassing, answer.head.status) != kPassing.end()) return true;
  const std::string code = ParseS3Error(answer.text).code;
  return code == "RequestTimeout" || code == "SlowDown" || code == "InternalError";
}

std::string PlaceOf(const RemoteLocation& location, const RemoteRequest& asked) {
  return asked.range ? fmt::format("{}: byte {}", location.name, asked.range->first)
                     : location.name;
}

Status GivenUp(const std::string& place, const HttpAnswer& answer, const Tries& tries) {
  std::string_view advice = "try again later, or raise retries (data.remote)";
  if (answer.unreachable) {
    advice = "check the host's name, the network and the proxy";
  } else if (answer.problem.empty()) {
    advice =
        "the server is overloaded or broken: try again later, or set fewer connections or more "
        "retries (data.remote)";
  }
  if (answer.head.retry_after_s.value_or(0) > kLongestAskedFor) {
    return Unavailable("{}: {}: the server asks to come back in {} s; do so", place,
                       AnswerText(answer), *answer.head.retry_after_s);
  }
  return Unavailable("{}: {}, after {}; {}", place, AnswerText(answer), tries.ToString(), advice);
}

Status Refused(const std::string& place, const RemoteLocation& location, const HttpAnswer& answer,
               const RemoteOptions& options) {
  const std::string text = AnswerText(answer);
  const std::string code = ParseS3Error(answer.text).code;
  if (location.kind == RemoteLocation::Kind::kHttp) {
    return PermissionDenied(
        "{}: {}: the server refuses access; check the address, or give a user and password for "
        "the host in ~/.netrc",
        place, text);
  }
  if (options.anonymous) {
    return PermissionDenied(
        "{}: {}: nobody may read it without credentials; leave anonymous: true out (data.remote)",
        place, text);
  }
  if (code == "ExpiredToken") {
    return PermissionDenied("{}: {}; renew the credentials (AWS_SESSION_TOKEN, ~/.aws)", place,
                            text);
  }
  if (code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch") {
    return PermissionDenied(
        "{}: {}; check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile in ~/.aws, and "
        "that they are of this store",
        place, text);
  }
  return PermissionDenied(
      "{}: {}: these credentials may not read it, or it is not there; check the name and the "
      "rights, or take another profile (data.remote)",
      place, text);
}

Status ErrorOf(const RemoteLocation& location, const RemoteRequest& asked, const HttpAnswer& answer,
               const RemoteOptions& options) {
  const std::string place = PlaceOf(location, asked);
  const std::string text = AnswerText(answer);
  if (!answer.problem.empty()) {
    return Unavailable(
        "{}: {}; another try would not help: check the address, the certificates "
        "(CURL_CA_BUNDLE) and the proxy",
        place, text);
  }
  if (ParseS3Error(answer.text).code == "ExpiredToken")  // with status 400 too
    return Refused(place, location, answer, options);
  switch (answer.head.status) {
    case 401:
    case 403: return Refused(place, location, answer, options);
    case 404:
    case 410: return NotFound("{}: {}: no such file; check the name", location.name, text);
    case 301:
    case 302:
    case 307:
    case 308:
      return FailedPrecondition(
          "{}: {}: the bucket is elsewhere; set region or endpoint (data.remote)", place, text);
    default:
      return FailedPrecondition(
          "{}: {}: an answer that reading cannot go on from; check the "
          "address",
          place, text);
  }
}

bool IsDone(const HttpAnswer& answer) {
  const int status = answer.head.status;
  return answer.problem.empty() && (status / 100 == 2 || status == 412 || status == 416);
}

}  // namespace

Result<HttpAnswer> AskServer(const RemoteLocation& location, RemoteSink& sink,
                             const RemoteOptions& options, Cancellation* cancel) {
  const bool asks = cancel == nullptr && StopScope::Innermost() != nullptr;
  Cancellation of_thread(asks ? &StopScope::Asked : nullptr);
  Cancellation& cancellation = cancel == nullptr ? of_thread : *cancel;
  Tries tries(options);
  int lessons = 0;
  uint64_t furthest = sink.received();
  while (true) {
    const RemoteRequest asked = sink.Next();
    STOKER_ASSIGN_OR_RETURN(const Encoded request, Encode(location, asked, options));
    HttpAnswer answer = PerformHttp(request.http, sink, &cancellation);
    if (cancellation.cancelled())
      return Cancelled("{}: reading was ended", PlaceOf(location, asked));
    STOKER_RETURN_IF_ERROR(sink.refusal());
    if (answer.head.status != 0) KnownServers::Shared().Add(request.http.url);
    if (sink.complete()) answer.problem.clear();
    if (IsDone(answer)) return answer;
    if (request.terms && answer.problem.empty() && lessons < kMostLessons &&
        S3Stores::Shared().LearnFrom(location, *request.terms, answer, options)) {
      ++lessons;
      continue;
    }
    if (!IsWorthAnotherTry(answer)) return ErrorOf(location, asked, answer, options);
    if (sink.received() > furthest) tries.Restart();
    furthest = std::max(furthest, sink.received());
    if (tries.WaitForNext(answer, PlaceOf(location, asked), request.http.url, cancellation))
      continue;
    if (cancellation.cancelled())
      return Cancelled("{}: reading was ended", PlaceOf(location, asked));
    return GivenUp(PlaceOf(location, sink.Next()), answer, tries);
  }
}

}  // namespace stoker

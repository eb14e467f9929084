#include "stoker/io/remote/remote_request.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "stoker/base/clock.h"
#include "stoker/base/log.h"
#include "stoker/base/mutex.h"
#include "stoker/base/per_process.h"
#include "stoker/base/short_text.h"
#include "stoker/base/stop_scope.h"

namespace stoker {
namespace {

constexpr double kLongestWait = 20, kLongestAskedFor = 120;  // seconds
constexpr double kLongToWait = 5;                            // seconds; longer waits are reported
constexpr int kMostLessons = 3;  // a store that sends us round in circles

// The servers that have answered this process. One that cannot be reached any more has a right name
// and is away for a while; one that never answered likely has a wrong name. Thread-safe.
class KnownServers {
 public:
  static KnownServers& Shared() {
    static PerProcess<KnownServers> servers;
    return servers.Get();
  }
  void Add(const std::string& url) {
    const MutexLock lock(mutex_);
    servers_.emplace(ServerOf(url));
  }
  // Whether it has not been said before that this server is waited for.
  bool MustTellOfWait(const std::string& url) {
    const MutexLock lock(mutex_);
    return told_of_.emplace(ServerOf(url)).second;
  }
  bool Has(const std::string& url) const {
    const MutexLock lock(mutex_);
    return servers_.contains(ServerOf(url));
  }

 private:
  // "https://host:port" of "https://host:port/path".
  static std::string_view ServerOf(std::string_view url) {
    const size_t host = url.find("://");
    return host == url.npos ? url : url.substr(0, url.find('/', host + 3));
  }

  mutable Mutex mutex_;
  std::set<std::string, std::less<>> servers_ STOKER_GUARDED_BY(mutex_);
  std::set<std::string, std::less<>> told_of_ STOKER_GUARDED_BY(mutex_);
};

// "HTTP 403 AccessDenied (Access Denied)"
std::string AnswerText(const HttpDialect& dialect, const HttpAnswer& answer) {
  if (!answer.problem.empty()) return answer.problem;
  const StoreError error = dialect.ReadError(answer);
  std::string text = fmt::format("HTTP {}", answer.head.status);
  constexpr size_t kLongestMessage = 300;
  if (!error.code.empty()) text += fmt::format(" {}", ShortText(error.code));
  if (!error.message.empty())
    text += fmt::format(" ({})", ShortText(error.message, kLongestMessage));
  return text;
}

// The tries of one request so far.
class Tries {
 public:
  explicit Tries(const RemoteOptions& options) : options_(options) {}

  void Restart() { failed_ = 0; }

  // Waits before the next try; false if there is none, or it was cancelled.
  bool WaitForNext(const HttpAnswer& answer, const std::string& text, const std::string& place,
                   const std::string& url, Cancellation& cancel) {
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
          "{}: {}: the server asks for a retry after {:.0f} s, and gets it; later waits for this "
          "server are not reported",
          place, text, asked_for);
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

// Hands answers on with the head that the store means.
class DialectSink final : public HttpSink {
 public:
  DialectSink(const HttpDialect& dialect, HttpSink& inner) : dialect_(dialect), inner_(inner) {}
  bool Begin(const HttpHead& head) override { return inner_.Begin(dialect_.HeadOf(head)); }
  bool Take(std::span<const std::byte> bytes) override { return inner_.Take(bytes); }

 private:
  const HttpDialect& dialect_;
  HttpSink& inner_;
};

bool IsWorthAnotherTry(const HttpDialect& dialect, const HttpAnswer& answer) {
  if (!answer.problem.empty()) return !answer.lasting;
  constexpr std::array kPassing = {408, 425, 429, 500, 502, 503, 504, 509};
  if (std::ranges::find(kPassing, answer.head.status) != kPassing.end()) return true;
  return dialect.IsPassing(dialect.ReadError(answer));
}

std::string PlaceOf(const RemoteLocation& location, const RemoteRequest& asked) {
  return asked.range ? fmt::format("{}: byte {}", location.name, asked.range->first)
                     : location.name;
}

Status GivenUp(const std::string& place, const HttpAnswer& answer, const std::string& text,
               const Tries& tries) {
  std::string_view advice = "try again later, or raise retries (data.remote)";
  if (answer.unreachable) {
    advice = "check the host's name, the network and the proxy";
  } else if (answer.problem.empty()) {
    advice =
        "the server is overloaded or broken: try again later, or set fewer connections or more "
        "retries (data.remote)";
  }
  if (answer.head.retry_after_s.value_or(0) > kLongestAskedFor) {
    return Unavailable("{}: {}: the server asks for a retry after {} s; run this again then", place,
                       text, *answer.head.retry_after_s);
  }
  return Unavailable("{}: {}, after {}; {}", place, text, tries.ToString(), advice);
}

// A name with the characters of a pattern was meant as one, most likely.
Status Missing(const RemoteLocation& location, const std::string& text) {
  const bool pattern =
      !location.store->lists() && location.name.find_first_of("*[") != std::string::npos;
  return NotFound("{}: {}: no such file; {}", location.name, text,
                  pattern
                      ? "it is looked for by that very name, since what is on a server cannot be "
                        "listed over HTTP: name the file, or read it from S3"
                      : "check the name");
}

Status ErrorOf(const HttpDialect& dialect, const RemoteAccess& access, const RemoteRequest& asked,
               const HttpAnswer& answer) {
  const std::string place = PlaceOf(access.location, asked);
  const std::string text = AnswerText(dialect, answer);
  if (!answer.problem.empty()) {
    return Unavailable(
        "{}: {}; another try would not help: check the address, the certificates "
        "(CURL_CA_BUNDLE) and the proxy",
        place, text);
  }
  const StoreError error = dialect.ReadError(answer);
  if (dialect.IsRefusal(answer, error)) return dialect.Refusal(access, place, text, error);
  if (error.code == "NoSuchBucket") {
    return FailedPrecondition(
        "{}: {}: the bucket is not there, or not on this server; check its name and `endpoint` "
        "(data.remote)",
        access.location.name, text);
  }
  switch (answer.head.status) {
    case 404:
    case 410: return Missing(access.location, text);
    case 301:
    case 302:
    case 307:
    case 308: return FailedPrecondition("{}: {}: {}", place, text, dialect.RedirectAdvice());
    default:
      return FailedPrecondition(
          "{}: {}: an answer that reading cannot go on from; check the "
          "address",
          place, text);
  }
}

// The error of a request that could not be made. Only a server's answer says that a file is missing
// or wrong, so that it may be left out or read as empty: credentials that are missing or malformed
// say nothing about a file.
Status NotAsked(const RemoteLocation& location, const Status& error) {
  StatusCode code = StatusCode::kFailedPrecondition;
  for (const StatusCode kept : {StatusCode::kPermissionDenied, StatusCode::kResourceExhausted,
                                StatusCode::kCancelled, StatusCode::kUnavailable}) {
    if (error.code() == kept) code = kept;
  }
  return {code, fmt::format("{}: {}", location.name, error.message())};
}

bool IsDone(const HttpAnswer& answer) {
  const int status = answer.head.status;
  return answer.problem.empty() && (status / 100 == 2 || status == 412 || status == 416);
}

}  // namespace

bool HttpDialect::IsRefusal(const HttpAnswer& answer, const StoreError&) const {
  return answer.head.status == 401 || answer.head.status == 403;
}

Status HttpDialect::Refusal(const RemoteAccess&, const std::string& place, const std::string& text,
                            const StoreError&) const {
  return PermissionDenied(
      "{}: {}: the server refuses access; check the address, or give a user and password for the "
      "host in ~/.netrc",
      place, text);
}

void AddReadHeaders(const RemoteRequest& asked, std::vector<std::string>& headers,
                    std::string_view encoding) {
  headers.push_back(fmt::format("Accept-Encoding: {}", encoding));
  if (asked.range)
    headers.push_back(fmt::format("Range: bytes={}-{}", asked.range->first, asked.range->second));
  if (!asked.if_match.empty()) headers.push_back(fmt::format("If-Match: {}", asked.if_match));
  if (!asked.if_unmodified_since.empty())
    headers.push_back(fmt::format("If-Unmodified-Since: {}", asked.if_unmodified_since));
}

Result<HttpAnswer> AskServer(const HttpDialect& dialect, const RemoteAccess& access,
                             RemoteSink& sink) {
  const RemoteLocation& location = access.location;
  const bool asks = access.cancel == nullptr && StopScope::Innermost() != nullptr;
  Cancellation of_thread(asks ? &StopScope::Asked : nullptr);
  Cancellation& cancellation = access.cancel == nullptr ? of_thread : *access.cancel;
  DialectSink translating(dialect, sink);
  Tries tries(access.options);
  int lessons = 0;
  uint64_t furthest = sink.received();
  while (true) {
    const RemoteRequest asked = sink.Next();
    const Result<StoreRequest> request =
        dialect.MakeRequest({location, access.options, &cancellation}, asked);
    if (!request.ok()) return NotAsked(location, request.status());
    HttpAnswer answer = PerformHttp(request->http, translating, &cancellation);
    if (cancellation.cancelled())
      return Cancelled("{}: reading was ended", PlaceOf(location, asked));
    STOKER_RETURN_IF_ERROR(sink.refusal());
    if (answer.head.status != 0) KnownServers::Shared().Add(request->http.url);
    if (sink.complete()) answer.problem.clear();
    if (IsDone(answer)) {
      answer.head = dialect.HeadOf(answer.head);
      return answer;
    }
    if (answer.problem.empty() && lessons < kMostLessons &&
        dialect.LearnFrom(access, request->terms, answer)) {
      ++lessons;
      continue;
    }
    if (!IsWorthAnotherTry(dialect, answer)) return ErrorOf(dialect, access, asked, answer);
    if (sink.received() > furthest) tries.Restart();
    furthest = std::max(furthest, sink.received());
    sink.Failed(answer);
    const std::string text = AnswerText(dialect, answer);
    if (tries.WaitForNext(answer, text, PlaceOf(location, asked), request->http.url, cancellation))
      continue;
    if (cancellation.cancelled())
      return Cancelled("{}: reading was ended", PlaceOf(location, asked));
    return GivenUp(PlaceOf(location, sink.Next()), answer, text, tries);
  }
}

}  // namespace stoker

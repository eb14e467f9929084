// Requests with retries.
//
// Connections that fail, break or stay silent, and the answers 408, 429 and 5xx, are retried after
// waits that double and vary at random (so that many readers do not return at once); a wait that
// the server asks for (Retry-After, up to two minutes) is kept. What a retry cannot change is an
// error at once. An attempt that brought new bytes resets the count, so a long file arrives over an
// unreliable connection, and a server that keeps sending the same bytes is given up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/status.h"
#include "stoker/io/remote/http_client.h"
#include "stoker/io/remote/location.h"
#include "stoker/io/remote/remote_store.h"

namespace stoker {

// One GET of a location.
struct RemoteRequest {
  std::string query;                                   // of a list; percent-encoded and sorted
  std::optional<std::pair<uint64_t, uint64_t>> range;  // first and last byte
  std::string if_match;             // the entity tag that the file must still have; empty: any
  std::string if_unmodified_since;  // likewise the time, as the server wrote it
};

// Receives what is asked for, over all attempts.
class RemoteSink : public HttpSink {
 public:
  // Returns what to ask for next: after an attempt that broke off, what is missing.
  virtual RemoteRequest Next() = 0;
  // Returns the bytes received, over all attempts.
  virtual uint64_t received() const = 0;
  // Returns whether everything asked for has been received; further bytes that the server
  // announced, or an answer that does not end, are then not an error.
  virtual bool complete() const { return false; }
  // Returns why Begin or Take refused the answer; ok if they only had enough.
  virtual Status refusal() const { return OkStatus(); }
  // Called with an answer that failed, before another try, which Next may direct elsewhere.
  virtual void Failed(const HttpAnswer&) {}
};

// The terms a request was made with, which its answer refers to even if other answers have changed
// them since.
struct RequestTerms {
  std::string region;
  std::string token;  // authorises the request; empty without credentials or if they have none
};

struct StoreRequest {
  ClientRequest http;
  RequestTerms terms;
};

// The content of an error answer; empty if it has none.
struct StoreError {
  std::string code;     // "NoSuchKey"
  std::string message;  // for people
};

// What AskServer leaves to a store: how to make its requests and read its answers. The defaults
// suit plain web servers, whose errors have no code. Thread-safe.
class HttpDialect {
 public:
  virtual ~HttpDialect() = default;

  // Returns the request for `asked`. Errors: settings or credentials are wrong or cannot be had.
  // Whatever their code, they say nothing about the file (AskServer), whose name AskServer adds.
  virtual Result<StoreRequest> MakeRequest(const RemoteAccess& access,
                                           const RemoteRequest& asked) const = 0;
  // Returns the head of a 2xx answer, with the store's own version marks instead of HTTP's.
  virtual HttpHead HeadOf(const HttpHead& head) const { return head; }
  // Parses the text of an error answer.
  virtual StoreError ReadError(const HttpAnswer&) const { return {}; }
  // Returns whether an error is transient although its status does not say so.
  virtual bool IsPassing(const StoreError&) const { return false; }
  // Returns whether the error `answer` to a request with `terms` says something that makes an
  // immediate retry useful.
  virtual bool LearnFrom(const RemoteAccess&, const RequestTerms&, const HttpAnswer&) const {
    return false;
  }
  // Returns whether an error means that access is refused: by default 401 and 403.
  virtual bool IsRefusal(const HttpAnswer& answer, const StoreError& error) const;
  // Returns the Status for such an answer. `text` is its message, `place` the location.
  virtual Status Refusal(const RemoteAccess& access, const std::string& place,
                         const std::string& text, const StoreError& error) const;
  // Returns, for messages, what a redirect that is not followed means and what to do.
  virtual std::string_view RedirectAdvice() const {
    return "the server sends to another address, which is not followed; check the address";
  }
};

// Adds the headers of HTTP for the wanted range and version, and for the form that the bytes are to
// be sent in (Accept-Encoding): offsets count the bytes of the file, not of a form that it is
// packed into on the way.
void AddReadHeaders(const RemoteRequest& asked, std::vector<std::string>& headers,
                    std::string_view encoding = "identity");

// Returns the answer: 2xx, whole or as much as the sink wanted, or 412 or 416, which the caller
// interprets. Errors: kNotFound (the server said so: 404, 410), kPermissionDenied (401, 403, no
// credentials), kUnavailable (retries did not help; the message has their number), kCancelled,
// those of the sink, kFailedPrecondition for unexpected answers, and if settings or credentials are
// missing or malformed. The message has the name, the first byte asked for, the status and the
// store's own message, shortened.
Result<HttpAnswer> AskServer(const HttpDialect& dialect, const RemoteAccess& access,
                             RemoteSink& sink);

}  // namespace stoker

// Asking a server, again where that may help.
//
// Tried again, after waits that double and vary (so that many readers do not come back at once),
// are connections that fail, break or stay silent, and the answers 408, 429 and 5xx; a wait that
// the server asks for (Retry-After, up to two minutes) is kept. What cannot get better is an error
// at once. A try that brought bytes which no try before it had brought starts the count anew, so a
// long file over a bad line arrives, and a server that sends the same again and again is given up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
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

// Takes what is asked for, over all tries.
class RemoteSink : public HttpSink {
 public:
  // What to ask for next: after a try that broke off, what is missing.
  virtual RemoteRequest Next() = 0;
  // Bytes that have come, of all tries.
  virtual uint64_t received() const = 0;
  // Whether all that is asked for has come: what a server has announced beyond it, or does not end,
  // is then no error.
  virtual bool complete() const { return false; }
  // Why Begin or Take refused what the server sent; ok where they just had enough.
  virtual Status refusal() const { return OkStatus(); }
};

// What a request was made with: the answer to it speaks of that, and no more of what has been
// learnt since from the answers to others.
struct RequestTerms {
  std::string region;
  std::string token;  // that shows who asks; empty without credentials, or where they have none
};

struct StoreRequest {
  HttpRequest http;
  RequestTerms terms;
};

// What the body of an answer that is an error says; empty where it says nothing.
struct StoreError {
  std::string code;     // "NoSuchKey"
  std::string message;  // for people
};

// How one kind of server is asked, and what its answers mean: what AskServer leaves to a store.
// What is not overridden is done as plain web servers need it. Thread-safe.
class HttpDialect {
 public:
  virtual ~HttpDialect() = default;

  // What is sent to ask for `asked`. Errors: kInvalidArgument and kPermissionDenied where settings
  // or credentials are wrong; those of getting credentials. AskServer adds the location's name.
  virtual Result<StoreRequest> MakeRequest(const RemoteAccess& access,
                                           const RemoteRequest& asked) const = 0;
  // The head of an answer 2xx, with the store's own marks of the version in the place of HTTP's.
  virtual HttpHead HeadOf(const HttpHead& head) const { return head; }
  // What the text of an answer that is an error says, by default in S3's XML.
  virtual StoreError ReadError(const HttpAnswer& answer) const;
  // Whether an error is one that passes, though its status does not say so.
  virtual bool IsPassing(const StoreError& error) const;
  // Whether `answer`, an error, to a request that was made with `terms` says something that makes
  // another try worth while at once.
  virtual bool LearnFrom(const RemoteAccess&, const RequestTerms&, const HttpAnswer&) const {
    return false;
  }
  // Whether an error means that access is refused: by default 401, 403 and S3's ExpiredToken.
  virtual bool IsRefusal(const HttpAnswer& answer, const StoreError& error) const;
  // The error for such an answer. `text` is what it says, `place` the location.
  virtual Status Refusal(const RemoteAccess& access, const std::string& place,
                         const std::string& text, const StoreError& error) const;
};

// The headers that HTTP has for a range and the version that is wanted.
void AddReadHeaders(const RemoteRequest& asked, std::vector<std::string>& headers);

// The answer: 2xx, whole or as much as the sink wanted, or 412 or 416, which the caller
// understands.
// Errors: kNotFound (404, 410), kPermissionDenied (401, 403, no credentials), kUnavailable (what
// did not get better; the message has the tries), kCancelled, those of the sink, others for what a
// server should not answer. The message has the name, the first byte asked for, the status and
// what the store says.
Result<HttpAnswer> AskServer(const HttpDialect& dialect, const RemoteAccess& access,
                             RemoteSink& sink);

}  // namespace stoker
